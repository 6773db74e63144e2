"""Highlight: what is pointed out in the panels, for as long as something is being explained."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from attn_gui.model.lit import Lit


class Highlight(QObject):
    """The parts of stages that are lit; the views that show these stages mark them."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.parts: tuple[Lit, ...] = ()

    def show(self, parts: Sequence[Lit]) -> None:
        """Light ``parts`` in place of what is lit."""
        if tuple(parts) != self.parts:
            self.parts = tuple(parts)
            self.changed.emit()

    def clear(self) -> None:
        self.show(())

    def of(self, *stages: str) -> tuple[Lit, ...]:
        """What is lit of ``stages``."""
        return tuple(part for part in self.parts if part.stage in stages)
