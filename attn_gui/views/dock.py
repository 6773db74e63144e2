"""A drawer: a dock whose content is made when it is first opened."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget


class Dock(QDockWidget):
    """Closed at first; once opened it stays where the person put it."""

    def __init__(self, title: str, name: str, make: Callable[[], QWidget], window: QMainWindow) -> None:
        super().__init__(title, window)
        self.setObjectName(name)
        self._make: Callable[[], QWidget] | None = make
        self.visibilityChanged.connect(self._fill)
        action = self.toggleViewAction()
        action.setStatusTip(f"Show or hide {title.lower()}")
        # drawers that share a place lie one on another: what was asked for comes to the front
        action.triggered.connect(lambda shown: self.raise_() if shown else None)

    def _fill(self, visible: bool) -> None:
        if visible and self._make is not None:
            make, self._make = self._make, None
            self.setWidget(make())
