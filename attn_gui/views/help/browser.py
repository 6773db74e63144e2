"""Browser: one page at a time, whose formulas are copied as text."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QMimeData, Qt, QUrl, Signal
from PySide6.QtGui import QAccessible, QColor, QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QTextBrowser, QTextEdit, QWidget

from attn_gui.views.help.formula_object import CHARACTER, TYPE, FormulaObject, formula_of
from attn_gui.views.help.pages import Page
from attn_gui.views.help.typeset import typeset
from attn_gui.views.look import Look

POINTS = (7.0, 24.0)  # the least and the largest


class Browser(QTextBrowser):
    """Shows a page, goes to a heading, finds words; a link that is followed goes to ``followed``."""

    followed = Signal(str)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._page: Page | None = None
        self._anchors: dict[str, int] = {}
        self._own_points = self.font().pointSizeF() + 0.5
        self._points = self._own_points
        self._find = ""
        self.as_text = QAccessible.isActive()
        self.setOpenLinks(False)
        self.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self._formulas = FormulaObject(self)
        self.document().documentLayout().registerHandler(TYPE, self._formulas)
        self.anchorClicked.connect(lambda url: self.followed.emit(_link(url)))
        look.changed.connect(self.set_anew)

    @property
    def page(self) -> Page | None:
        return self._page

    @property
    def anchors(self) -> dict[str, int]:
        """Where in the text each heading of the page is."""
        return self._anchors

    def show_page(self, page: Page, anchor: str = "") -> None:
        """Show ``page`` from its heading ``anchor`` on, or from its beginning."""
        if page is not self._page:
            self._page = page
            self.set_anew()
        self.go_to(anchor)
        self.setAccessibleName(page.title)

    def set_anew(self) -> None:
        """Set the page in the colours and the size in force, at the same place."""
        if self._page is None:
            return
        bar = self.verticalScrollBar()
        share = bar.value() / max(1, bar.maximum())
        self._anchors = typeset(self.document(), self._page, self._look.theme, self._points, as_text=self.as_text)
        bar.setValue(round(share * bar.maximum()))
        self._mark()

    def go_to(self, anchor: str) -> None:
        position = self._anchors.get(anchor, 0)
        cursor = QTextCursor(self.document())
        cursor.setPosition(position)
        self.setTextCursor(cursor)
        block = self.document().findBlock(position)
        top = self.document().documentLayout().blockBoundingRect(block).top() if position else 0
        self.verticalScrollBar().setValue(int(top) - 8)

    def show_formulas_as_text(self, on: bool) -> None:
        self.as_text = on
        self.set_anew()

    def resize_text(self, by: float) -> None:
        """Make the text so many points larger; 0 brings back its own size."""
        least, largest = POINTS
        self._points = max(least, min(self._points + by, largest)) if by else self._own_points
        self.set_anew()

    # what is found is marked, all of it

    def find_text(self, text: str) -> int:
        """Mark every place of ``text``, go to the first from here on, and return how many there are."""
        self._find = text
        count = self._mark()
        start = QTextCursor(self.textCursor())
        start.setPosition(start.selectionStart())
        self.setTextCursor(start)
        if count:
            self.step(1)
        return count

    def step(self, by: int) -> None:
        """Go to the next place, or the one before; after the last comes the first."""
        flags = QTextDocument.FindFlag.FindBackward if by < 0 else QTextDocument.FindFlag(0)
        if not self._find or self.find(self._find, flags):
            return
        before = self.textCursor()
        self.moveCursor(QTextCursor.MoveOperation.End if by < 0 else QTextCursor.MoveOperation.Start)
        if not self.find(self._find, flags):
            self.setTextCursor(before)

    def found_at(self) -> int:
        """Which of the places that were found is selected, counted from 1; 0 if none is."""
        cursor = self.textCursor()
        places = [selection.cursor.selectionStart() for selection in self.extraSelections()]
        here = cursor.selectionStart()
        return places.index(here) + 1 if cursor.hasSelection() and here in places else 0

    def _mark(self) -> int:
        found = []
        cursor = self.document().find(self._find) if self._find else QTextCursor()
        while not cursor.isNull():
            selection = QTextEdit.ExtraSelection()
            selection.cursor = cursor
            form = QTextCharFormat()
            form.setBackground(QColor(self._look.theme.band))
            selection.format = form
            found.append(selection)
            cursor = self.document().find(self._find, cursor)
        self.setExtraSelections(found)
        return len(found)

    def createMimeDataFromSelection(self) -> QMimeData:
        data = QMimeData()
        data.setText(self.selected_text())
        return data

    def selected_text(self) -> str:
        """What is selected, each formula on one line of text."""
        cursor = self.textCursor()
        return self._text(cursor.selectionStart(), cursor.selectionEnd())

    def _text(self, start: int, end: int) -> str:
        raw = self.document().toRawText()[start:end]
        said = _with_formulas(raw, lambda at: self._formula_text(start + at))
        return said.translate({0x2029: "\n", 0x2028: "\n", 0xA0: " ", 0xFDD0: "\n", 0xFDD1: "\n"})

    def _formula_text(self, position: int) -> str:
        cursor = QTextCursor(self.document())
        cursor.setPosition(position + 1)
        return formula_of(cursor.charFormat()).text


def _link(url: QUrl) -> str:
    """``url`` as it is written in the page, spaces and all."""
    scheme = f"{url.scheme()}:" if url.scheme() else ""
    anchor = f"#{url.fragment()}" if url.hasFragment() else ""
    return f"{scheme}{url.path(QUrl.ComponentFormattingOption.FullyDecoded)}{anchor}"


def _with_formulas(raw: str, text_at: Callable[[int], str]) -> str:
    return "".join(text_at(at) if sign == CHARACTER else sign for at, sign in enumerate(raw))
