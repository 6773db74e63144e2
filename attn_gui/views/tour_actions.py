"""The tours in the menus. Nothing of a tour is read or made before one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from attn_gui.views import half_typed

if TYPE_CHECKING:
    from attn_gui.files.tours import Listed
    from attn_gui.views.main_window import MainWindow
    from attn_gui.views.tour.guide import Guide


class TourActions:
    """``menu`` offers the tours, and the way through the one that is under way."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.guide: Guide | None = None
        self.menu = QMenu("&Tours", window)
        self._tours: list[QAction] = []
        self._rule = self.menu.addSeparator()
        self.next = self._action("&Next step", "F8", lambda: self._step(1))
        self.back = self._action("&Previous step", "Shift+F8", lambda: self._step(-1))
        self.leave_action = self._action("&Leave the tour", "", self.leave)
        self.keep = self._action("&Keep what I changed", "", self._bring_back)
        self.keep.setStatusTip("Go on with what was changed in the last tour")
        self.menu.aboutToShow.connect(self._fill)
        self._refresh()

    def start(self, number: int) -> None:
        """Begin a tour by its number in the menu, from 0."""
        if self.guide is None:
            from attn_gui.views.tour.guide import Guide

            self.guide = Guide(self._window)
            self.guide.touring.shown.connect(lambda scene: self._refresh())
            self.guide.touring.left.connect(self._refresh)
            self._window.menus.panels.add(self.guide.bar)
            self._window.menus.panels.add(self.guide.instrument)
        if self._window.context.settings.first_tour:
            self._window.context.settings.first_tour = False
        self.guide.start(_listed()[number].path)

    def leave(self) -> None:
        """Leave the tour that is under way, if any."""
        if self.guide is not None:
            self.guide.bar.go_away()

    def _step(self, by: int) -> None:
        if self.guide is not None:
            self.guide.bar.step(by)

    def _bring_back(self) -> None:
        if self.guide is not None and half_typed.commit():
            self.guide.touring.bring_back()
            self._refresh()

    def _action(self, text: str, keys: str, slot: object) -> QAction:
        action = self.menu.addAction(text)
        action.setShortcut(QKeySequence(keys))
        action.triggered.connect(lambda checked=False: slot())  # type: ignore[operator]
        return action

    def _fill(self) -> None:
        if self._tours:
            return
        for number, tour in enumerate(_listed()):
            action = QAction(f"&{number + 1}  {tour.title}", self.menu)
            action.setStatusTip(tour.summary)
            action.setToolTip(tour.summary)
            action.triggered.connect(lambda checked=False, number=number: self.start(number))
            self._tours.append(action)
        self.menu.insertActions(self._rule, self._tours)

    def _refresh(self) -> None:
        touring = None if self.guide is None else self.guide.touring
        tour = None if touring is None else touring.tour
        self.next.setEnabled(tour is not None)
        self.back.setEnabled(touring is not None and tour is not None and touring.place > 0)
        self.leave_action.setEnabled(tour is not None)
        self.keep.setEnabled(touring is not None and touring.left_behind is not None)


def _listed() -> tuple[Listed, ...]:
    from attn_gui.files import tours

    return tours.listed()
