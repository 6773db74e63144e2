"""Folding: what one can do without goes out of sight where the window is too low for everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QVBoxLayout, QWidget


class Foldable(Protocol):
    """A part of the window that can do with less height."""

    @property
    def spare(self) -> int:
        """Pixels that it can give up, whether it has or not; 0 where there is nothing to fold."""
        ...

    def fold(self, pixels: int) -> int:
        """Give up at least ``pixels``, or all it can; how many it has given up. With 0 it is as it was."""
        ...


class Whole:
    """A widget that goes out of sight as a whole."""

    def __init__(self, widget: QWidget, gap: int) -> None:
        self._widget, self._gap = widget, gap

    @property
    def spare(self) -> int:
        return self._widget.sizeHint().height() + self._gap

    def fold(self, pixels: int) -> int:
        self._widget.setVisible(pixels <= 0)
        return self.spare if pixels > 0 else 0


class Folding(QObject):
    """Folds parts of ``column``, the layout of ``centre``: those that ``parts`` gives first go first, and come last."""

    def __init__(self, centre: QWidget, column: QVBoxLayout, parts: Callable[[], list[Foldable]]) -> None:
        super().__init__(centre)
        self._centre, self._column, self._parts = centre, column, parts
        self._wanted: dict[Foldable, int] = {}
        self._given: dict[Foldable, int] = {}
        centre.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize) and self._centre.isVisible():
            self._settle()
        return False

    def _settle(self) -> None:
        over = self._column.minimumSize().height() + sum(self._given.values()) - self._centre.height()
        wanted = {}
        for part in self._parts():
            if over > 0 and part.spare > 0:
                wanted[part] = min(over, part.spare)
                over -= part.spare
        if wanted == self._wanted:
            return
        self._wanted = wanted
        for part in self._given.keys() - wanted.keys():
            part.fold(0)
        self._given = {part: part.fold(pixels) for part, pixels in wanted.items()}
