"""Jobs: what somebody waits for in the worker, with its progress, and what is said where it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from attn_gui.control.worker import Priority, Steps, Worker


class Jobs(QObject):
    """``working_changed`` tells that a job begins or has ended, ``progressed`` the part of it that is done, 0 to 1."""

    working_changed = Signal(bool)
    progressed = Signal(float)

    def __init__(self, worker: Worker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker

    def _submit(
        self, key: str, make: Callable[[], Steps], done: Callable[[Any], None], failed: Callable[[str], None]
    ) -> None:
        def on_done(result: Any) -> None:
            self.working_changed.emit(False)
            done(result)

        def on_failure(error: BaseException) -> None:
            self.working_changed.emit(False)
            self._fail(error, failed)

        self._worker.submit(key, make, Priority.TRACE, on_done, on_failure, self.progressed.emit)
        self.working_changed.emit(True)

    def _fail(self, error: BaseException, tell: Callable[[str], None]) -> None:
        """Say by ``tell`` why a job failed; raise what should not have happened."""
        raise NotImplementedError
