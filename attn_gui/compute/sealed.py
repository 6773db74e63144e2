"""The one door of hidden stages: a trace of an experiment that hides some refuses them, whoever asks."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from numpy.typing import NDArray

from attn_gui.model.experiment import Experiment
from attn_gui.model.stage_shape import check_stage
from attn_gui.model.trace import ALL, Head, Matrix, Trace


class SealedTrace:
    """``trace`` behind the door of ``experiment``: raises HiddenStage for what that hides.

    The sums of the weights are part of the weights.
    """

    def __init__(self, trace: Trace, experiment: Experiment) -> None:
        self.experiment = experiment
        self.device = trace.device
        self._trace = trace

    def stage(self, name: str, head: int | None = None) -> NDArray[Any]:
        check_stage(self.experiment, name)
        return self._trace.stage(name, head)

    def matrix(self, name: str, head: Head) -> Matrix:
        check_stage(self.experiment, name)
        return self._trace.matrix(name, head)

    def part(self, head: Head | None = None) -> float:
        return self._trace.part(head)

    def passes(self, first: Sequence[Head] = ()) -> Generator[float, None, None]:
        return self._trace.passes(first)

    def empty_rows(self, head: Head) -> NDArray[Any]:
        return self._trace.empty_rows(head)

    def row_sums(self, head: Head, rows: slice = ALL) -> NDArray[Any]:
        check_stage(self.experiment, "N")
        return self._trace.row_sums(head, rows)
