"""A drawer: a dock whose content is made when it is first opened."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QLayout, QMainWindow, QWidget

FIRST_HEIGHT = 240
LEAST_HEIGHT = 120


class Dock(QDockWidget):
    """Closed at first; once opened it stays where the person put it."""

    def __init__(self, title: str, name: str, make: Callable[[], QWidget], window: QMainWindow) -> None:
        super().__init__(title, window)
        self.setObjectName(name)
        self._make: Callable[[], QWidget] | None = make
        self._window = window
        self.visibilityChanged.connect(self._fill)
        action = self.toggleViewAction()
        action.setStatusTip(f"Show or hide {title.lower()}")
        action.triggered.connect(self._on_asked)

    def _fill(self, visible: bool) -> None:
        if visible and self._make is not None:
            make, self._make = self._make, None
            content = make()
            layout = content.layout()
            if layout is not None:
                # a low window cuts the drawer, not the formula above it
                layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
            content.setMinimumHeight(LEAST_HEIGHT)
            self.setWidget(content)

    def _on_asked(self, shown: bool) -> None:
        if not shown:
            return
        fresh = self._make is not None
        # drawers that share a place lie one on another: what was asked for comes to the front
        self.raise_()
        if fresh:
            self._window.resizeDocks([self], [FIRST_HEIGHT], Qt.Orientation.Vertical)
