"""HelpWindow: the pages, beside the window they tell of."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QToolButton, QVBoxLayout, QWidget

from attn_gui.views.help.browser import Browser
from attn_gui.views.help.contents import Contents
from attn_gui.views.help.history import History, Place
from attn_gui.views.help.links import page_and_anchor
from attn_gui.views.help.page_find import PageFind
from attn_gui.views.help.pages import START, pages
from attn_gui.views.look import Look

SIZE = (920, 640)
CONTENTS_WIDTH = 232


class HelpWindow(QWidget):
    """``do`` does what a link that is of no page asks for, and says whether it could."""

    def __init__(self, look: Look, do: Callable[[str], bool], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._do = do
        self._history = History()
        self.resize(*SIZE)
        self.setMinimumSize(520, 320)
        self.contents = Contents()
        self.browser = Browser(look)
        self.find_bar = PageFind(self.browser)
        self.back = self._action("‹ Back", "Go back", ["Alt+Left"], lambda: self._step(-1))
        self.forward = self._action("Forward ›", "Go forward", ["Alt+Right"], lambda: self._step(1))
        self.start = self._action("Start page", "Go to the start page", ["Alt+Home"], lambda: self.open(f"{START}.md"))
        self.search = self._action("Find…", "Find in this page", ["Ctrl+F"], self.find_bar.open)
        self.formulas = self._action(
            "Formulas as text", "Write formulas on one line, as a screen reader reads them", []
        )
        self.formulas.setCheckable(True)
        self.formulas.setChecked(self.browser.as_text)
        self.formulas.toggled.connect(self.browser.show_formulas_as_text)
        self.everywhere = self._action("Search all pages", "", ["Ctrl+K", "Ctrl+Shift+F"], self._search_everywhere)
        self.larger = self._action("Larger text", "", ["Ctrl++", "Ctrl+="], lambda: self.browser.resize_text(1))
        self.smaller = self._action("Smaller text", "", ["Ctrl+-"], lambda: self.browser.resize_text(-1))
        self.own_size = self._action("Text as large as at first", "", ["Ctrl+0"], lambda: self.browser.resize_text(0))
        self.contents.chosen.connect(self._on_chosen)
        self.browser.followed.connect(self.open)
        self._lay_out()
        self._refresh()

    def open(self, link: str) -> None:
        """Go where ``link`` leads: a page and perhaps a heading of it, a drawer, or an action."""
        there = page_and_anchor(link)
        if there is None:
            if not self._do(link):
                self.browser.setFocus()
            return
        here = self._history.here
        place = Place(there[0] or (here.page if here is not None else START), there[1])
        if here is None or (place.page, place.anchor) != (here.page, here.anchor):
            self._history.go(place, self._scrolled)
        self._show(place)

    def show_for(self, link: str) -> None:
        """Come to the front with the page of ``link``."""
        self.show()
        if self.isMinimized():
            self.showNormal()
        self.open(link)
        self.raise_()
        self.activateWindow()
        self.browser.setFocus(Qt.FocusReason.ActiveWindowFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    @property
    def _scrolled(self) -> int:
        return self.browser.verticalScrollBar().value()

    def _step(self, by: int) -> None:
        place = self._history.step(by, self._scrolled)
        self._show(place)
        self.browser.verticalScrollBar().setValue(place.scrolled)

    def _show(self, place: Place) -> None:
        page = pages()[place.page]
        self.browser.show_page(page, place.anchor)
        self.contents.show_page(page.name)
        if self.find_bar.isVisible():
            self.find_bar.search()
        self._refresh()

    def _refresh(self) -> None:
        self.back.setEnabled(self._history.has_back)
        self.forward.setEnabled(self._history.has_forward)
        page = self.browser.page
        self.setWindowTitle("Help" if page is None else f"{page.title} – attn_gui help")

    def _on_chosen(self, link: str, words: str) -> None:
        self.open(link)
        self.browser.find_text(words.split()[0] if words else "")

    def _search_everywhere(self) -> None:
        self.contents.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.contents.field.selectAll()

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 8, 12, 0)
        bar.setSpacing(4)
        for action in (self.back, self.forward, self.start, self.search):
            bar.addWidget(self._button(action))
        bar.addStretch(1)
        bar.addWidget(self._button(self.formulas))
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 12, 12)
        column.setSpacing(8)
        column.addWidget(self.find_bar)
        column.addWidget(self.browser, 1)
        self.splitter = QSplitter()
        self.splitter.addWidget(self.contents)
        self.splitter.addWidget(right)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(8)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([CONTENTS_WIDTH, SIZE[0] - CONTENTS_WIDTH])
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(8)
        whole.addLayout(bar)
        whole.addWidget(self.splitter, 1)

    def _button(self, action: QAction) -> QToolButton:
        button = QToolButton()
        button.setDefaultAction(action)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def _action(self, text: str, tip: str, keys: list[str], do: Callable[[], object] | None = None) -> QAction:
        action = QAction(text, self)
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.setToolTip(f"{tip} ({keys[0]})" if tip and keys else tip or text)
        if do is not None:
            action.triggered.connect(lambda: do())
        self.addAction(action)
        return action
