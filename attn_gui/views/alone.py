"""Alone: which of the panels has the whole width to itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence

from attn_gui.views.lone_button import LoneButton
from attn_gui.views.look import Look
from attn_gui.views.panel import Panel
from attn_gui.views.shortcuts import LISTED_AS, plain

SHOW, BRING_BACK = "Show this panel alone", "Show all panels"
STATUS = "Give one panel the whole width, or all panels their place again"


class Alone(QObject):
    """``panel`` stands alone, or where that is None all do. It is a choice of the window, which no session keeps.

    Each of ``panels`` gets a button at the end of its title, and a double click on the title does the same.
    """

    changed = Signal()

    def __init__(self, panels: Sequence[tuple[Panel, str]], look: Look, parent: QObject) -> None:
        super().__init__(parent)
        self.panel: Panel | None = None
        self.barred = ""  # why no panel can be alone
        self._actions: dict[Panel, QAction] = {}
        self._buttons: dict[Panel, LoneButton] = {}
        group = QActionGroup(self)
        group.setExclusionPolicy(QActionGroup.ExclusionPolicy.ExclusiveOptional)
        for number, (panel, text) in enumerate(panels, start=1):
            action = self._action(text, f"Ctrl+Shift+{number}", self._toggle(panel))
            action.setCheckable(True)
            group.addAction(action)
            self._actions[panel] = action
            button = self._buttons[panel] = LoneButton(action, look)
            panel.put_at_end(button)
            panel.title_double_clicked.connect(action.trigger)
        self._all = self._action("&All panels", "Ctrl+Shift+0", lambda: self.show(None))
        self._tell()

    def actions_for_menu(self) -> list[QAction | None]:
        """A panel each, and all of them; None for a separator."""
        return [*self._actions.values(), None, self._all]

    def show(self, panel: Panel | None) -> None:
        """Have ``panel`` alone, or all of them."""
        if panel is not self.panel:
            self.panel = panel
            self._tell()
            self.changed.emit()

    def bar(self, reason: str) -> None:
        """Have all panels in force and no choice, for ``reason``; without one there is the choice again."""
        self.barred = reason
        self.show(None)
        self._tell()

    def follow(self) -> None:
        """A panel that has nothing to show now cannot be alone."""
        if self.panel is not None and self.panel.absent:
            self.show(None)
        self._tell()

    def _toggle(self, panel: Panel) -> Callable[[], None]:
        return lambda: self.show(None if self.panel is panel else panel)

    def _action(self, text: str, keys: str, do: Callable[[], None]) -> QAction:
        action = QAction(text, self)
        action.setShortcut(QKeySequence(keys))
        action.setProperty(LISTED_AS, f"Show alone: {plain(text)}" if keys[-1] != "0" else BRING_BACK)
        action.triggered.connect(lambda checked=False: do())
        return action

    def _tell(self) -> None:
        for panel, action in self._actions.items():
            lone = panel is self.panel
            action.setChecked(lone)
            why_not = self.barred or panel.absent
            action.setEnabled(lone or not why_not)
            words = BRING_BACK if lone else SHOW
            action.setToolTip(why_not or f"{words} ({_keys(action)})")
            action.setStatusTip(why_not or STATUS)
            self._buttons[panel].setAccessibleName(words)
        self._all.setEnabled(self.panel is not None)
        self._all.setStatusTip(self.barred or STATUS)


def _keys(action: QAction) -> str:
    return action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
