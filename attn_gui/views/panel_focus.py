"""PanelFocus: from panel to panel by one key."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDockWidget, QWidget

_REASONS = {1: Qt.FocusReason.TabFocusReason, -1: Qt.FocusReason.BacktabFocusReason}


class PanelFocus:
    """Moves the focus round ``stops``, leaving out those that are hidden or have nothing to take it."""

    def __init__(self, stops: Sequence[QWidget]) -> None:
        self._stops = list(stops)

    def add(self, stop: QWidget) -> None:
        """Go to ``stop`` as well, after all others."""
        self._stops.append(stop)

    def next(self) -> None:
        """Go to the stop after the one that has the focus; to the first where none has it."""
        self._go(1)

    def previous(self) -> None:
        """Go to the stop before the one that has the focus; to the last where none has it."""
        self._go(-1)

    def _go(self, step: int) -> None:
        count, here = len(self._stops), self._present()
        start = (-1 if step > 0 else count) if here is None else here
        for away in range(1, count + 1):
            stop = self._stops[(start + step * away) % count]
            if not stop.isVisible():
                continue
            if isinstance(stop, QDockWidget):
                stop.raise_()  # one of several drawers in one place
            target = _target(stop)
            if target is not None:
                target.window().activateWindow()
                target.setFocus(_REASONS[step])
                return

    def _present(self) -> int | None:
        focused = QApplication.focusWidget()
        for index, stop in enumerate(self._stops):
            if focused is not None and (focused is stop or stop.isAncestorOf(focused)):
                return index
        return None


def _target(stop: QWidget) -> QWidget | None:
    """What in ``stop`` takes the focus: the widget that had it last there, else the first that Tab would reach."""
    if isinstance(stop, QDockWidget):
        content = stop.widget()
        if content is None:
            return None
        last = content.focusWidget()
        inside = [] if last is None else [last]
        inside += content.findChildren(QWidget)
    else:
        inside = [stop, *stop.findChildren(QWidget)]
    return next((widget for widget in inside if takes_focus(widget, stop)), None)


def takes_focus(widget: QWidget, stop: QWidget) -> bool:
    """Whether Tab would reach ``widget`` in ``stop`` were that in sight."""
    tabbed = widget.focusPolicy() & Qt.FocusPolicy.TabFocus == Qt.FocusPolicy.TabFocus
    return bool(tabbed) and widget.isEnabled() and widget.isVisibleTo(stop)
