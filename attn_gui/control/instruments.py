"""The instruments of tours: what they measure is worked out in the worker."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from attn_gui.control.worker import Priority, Steps, Worker, at_once
from attn_gui.model.experiment import Experiment
from attn_gui.model.instruments import Saturation

SATURATION, INFLUENCE = "saturation", "influence"


class Instruments(QObject):
    """``saturation(Saturation)`` and ``influence(Experiment, Influence or why there is none)`` bring the latest."""

    saturation = Signal(object)
    influence = Signal(object, object)
    failed = Signal(object)

    def __init__(self, worker: Worker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker

    def measure_saturation(self, d_k: int, scale: float | None) -> None:
        """For heads of size ``d_k``; None for a scale of 1/sqrt(d_k)."""
        make = at_once(lambda: _saturation(d_k, scale))
        self._worker.submit(SATURATION, make, Priority.ASK, self.saturation.emit, self.failed.emit)

    def measure_influence(self, experiment: Experiment) -> None:
        def done(result: object) -> None:
            self.influence.emit(experiment, result)

        self._worker.submit(INFLUENCE, lambda: _influence(experiment), Priority.REFINE, done, self.failed.emit)

    def stop(self) -> None:
        """Measure nothing more."""
        self._worker.cancel(SATURATION)
        self._worker.cancel(INFLUENCE)


def _saturation(d_k: int, scale: float | None) -> Saturation:
    # imported here, in the worker: the first paint does not wait for torch
    from attn_gui.compute.tours.saturation import saturation

    return saturation(d_k, scale)


def _influence(experiment: Experiment) -> Steps:
    from attn_gui.compute.tours.influence import influence, refusal

    reason = refusal(experiment)
    return reason if reason is not None else (yield from influence(experiment))
