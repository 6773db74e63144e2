"""ChangeTables: a step of typing into Check my work that can be undone there."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QUndoCommand

from attn_gui.views.check.kept import Tables


class ChangeTables(QUndoCommand):
    """Has ``show`` put ``after`` in place of ``before``."""

    def __init__(self, label: str, before: Tables, after: Tables, show: Callable[[Tables], None]) -> None:
        super().__init__(label)
        self._before, self._after, self._show = before, after, show

    def redo(self) -> None:
        self._show(self._after)

    def undo(self) -> None:
        self._show(self._before)
