"""HelpActions: help on what has the focus, the pages, the list of keys, and What's This."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QMenu, QWhatsThis, QWidget

from attn_gui.views.shortcuts import ShortcutsDialog

if TYPE_CHECKING:
    from attn_gui.views.help.window import HelpWindow
    from attn_gui.views.main_window import MainWindow


class HelpActions:
    """Their keys work in every window of the program. What they show is imported and made when first asked for."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.pages: HelpWindow | None = None
        self.keys: ShortcutsDialog | None = None
        self._menus_told = False
        self.contents = self._action("&Help pages", "", "What there is to know, from the start page")
        self.here = self._action("Help on what has the &focus", "F1", "The page on the part of the window that is used")
        self.list = self._action("&Keyboard and mouse", "Ctrl+/", "Every key and gesture, and what it does")
        self.what = self._action("&What’s This?", "Shift+F1", "Then click a control; or Shift+F1 again, for the focus")
        self.contents.triggered.connect(lambda: self.show_page("index.md"))
        self.here.triggered.connect(self._show_here)
        self.list.triggered.connect(self._show_keys)
        self.what.triggered.connect(self._ask_what)

    def actions(self) -> list[QAction | None]:
        """For the menu, None for a separator."""
        return [self.contents, self.here, self.list, self.what, None]

    def show_page(self, link: str) -> None:
        """Open the help at ``link``, such as ``masks.md#causal``."""
        if self.pages is None:
            from attn_gui.views.help.window import HelpWindow

            self.pages = HelpWindow(self._window.context.look, self.do, self._window)
        self.pages.show_for(link)

    def do(self, link: str) -> bool:
        """Do what a link of a page asks for: show a drawer, or what a menu's entry does. False if it cannot be had."""
        from attn_gui.views.help.links import DRAWER, action_of

        action = action_of(self._window.menuBar(), list(self._window.docks), link)
        if action is None or not action.isEnabled():
            name = "This" if action is None else f"“{action.text().replace('&', '').rstrip('…')}”"
            why = "" if action is None or action.toolTip() in ("", action.text()) else f": {action.toolTip()}"
            self._window.context.notices.warn(f"{name} cannot be done at present{why}", "help")
            return False
        self._window.context.notices.withdraw("help")
        if action.menu() is not None:
            self._point_at(action)
            return True
        self._window.raise_()
        self._window.activateWindow()
        if link.startswith(DRAWER):
            dock = next(dock for dock in self._window.docks if dock.toggleViewAction() is action)
            dock.show()
            dock.raise_()
        else:
            action.trigger()
        return True

    def _point_at(self, action: QAction) -> None:
        """Open a menu at its place."""
        self._window.raise_()
        self._window.activateWindow()
        bar = self._window.menuBar()
        menu = action.menu()
        assert isinstance(menu, QMenu)
        top = next((a for a in bar.actions() if a is action), None)
        place = bar.actionGeometry(top).bottomLeft() if top is not None else QPoint(0, bar.height())
        menu.popup(bar.mapToGlobal(place))

    def _show_here(self) -> None:
        from attn_gui.views.help.topics import topic_of

        topic = topic_of(_in_use())
        popup = QApplication.activePopupWidget()
        if popup is not None:
            popup.close()
        self.show_page(topic)

    def _show_keys(self) -> None:
        if self.keys is None:
            self.keys = ShortcutsDialog(self._window.menuBar(), self._window)
        else:
            self.keys.read()
        self.keys.show()
        self.keys.raise_()
        self.keys.activateWindow()

    def _ask_what(self) -> None:
        from attn_gui.views.help.telling import tell, tell_menu, text_of

        if QWhatsThis.inWhatsThisMode():
            QWhatsThis.leaveWhatsThisMode()
            widget = _in_use()
            if widget is not None and (text := text_of(widget)):
                QWhatsThis.showText(widget.mapToGlobal(widget.rect().center()), text, widget)
            return
        for top in QApplication.topLevelWidgets():
            tell(top)
        if not self._menus_told:
            self._menus_told = True
            # entries of some menus are made anew each time they open
            for menu in self._window.findChildren(QMenu):
                menu.aboutToShow.connect(lambda menu=menu: tell_menu(menu))
        QWhatsThis.enterWhatsThisMode()

    def _action(self, text: str, keys: str, tip: str) -> QAction:
        action = QAction(text, self._window)
        action.setStatusTip(tip)
        if keys:
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.ApplicationShortcut)
        return action


def _in_use() -> QWidget | None:
    popup = QApplication.activePopupWidget()
    if popup is not None:
        return popup.focusWidget() or popup
    return QApplication.focusWidget() or QApplication.activeWindow()
