"""DeviceList: what can be computed on, found out in the worker because only torch knows."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from attn_gui.control.worker import Priority, Worker, at_once
from attn_gui.model.errors import NoTorch
from attn_gui.model.precision import Precision

JOB = "devices"


@dataclass(frozen=True)
class DeviceEntry:
    """A device as a list shows it.

    reason: why it cannot be chosen at all, or None; unsupported: why it cannot compute in a precision, for those
    that it cannot.
    """

    name: str
    title: str
    reason: str | None
    unsupported: dict[Precision, str]

    def why_not(self, precision: Precision) -> str | None:
        """Why the device cannot compute in ``precision``, or None."""
        return self.reason or self.unsupported.get(precision)


class DeviceList(QObject):
    """The devices, empty until they were asked for and ``listed`` said so; ``failed`` carries a sentence.

    ``build`` tells which torch computes on them.
    """

    listed = Signal()
    failed = Signal(str)

    def __init__(self, worker: Worker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker
        self.entries: tuple[DeviceEntry, ...] = ()
        self.build = ""

    def entry(self, name: str) -> DeviceEntry | None:
        return next((entry for entry in self.entries if entry.name == name), None)

    def ask(self) -> None:
        """Have the devices listed, unless they are already or soon will be."""
        if not self.entries and not self._worker.running(JOB):
            self._worker.submit(JOB, at_once(_listed), Priority.BACKGROUND, self._on_listed, self._on_failure)

    def _on_listed(self, found: tuple[tuple[DeviceEntry, ...], str]) -> None:
        self.entries, self.build = found
        self.listed.emit()

    def _on_failure(self, error: BaseException) -> None:
        self.failed.emit(str(error) if isinstance(error, NoTorch) else f"The devices could not be listed: {error}")


def _listed() -> tuple[tuple[DeviceEntry, ...], str]:
    # imported here, in the worker: the first paint does not wait for torch
    from attn_gui.compute.devices import build, devices, unsupported

    entries = tuple(
        DeviceEntry(
            device.name,
            device.title,
            device.reason,
            {p: why for p in Precision if (why := unsupported(device.name, p)) is not None},
        )
        for device in devices()
    )
    return entries, build()
