"""PageFind: find words in the page that is shown."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from attn_gui.views.help.browser import Browser
from attn_gui.views.search_bar import SearchBar


class PageFind(SearchBar):
    """Marks every place in the page at hand."""

    def __init__(self, browser: Browser, parent: QWidget | None = None) -> None:
        super().__init__("Find in this page", "place", parent=parent)
        self._browser = browser

    def close_bar(self) -> None:
        super().close_bar()
        self._browser.find_text("")
        self._browser.setFocus(Qt.FocusReason.OtherFocusReason)

    def search(self) -> None:
        self._browser.find_text(self.field.text())
        self._say()

    def step(self, by: int) -> None:
        self._browser.step(by)
        self._say()

    def _say(self) -> None:
        count = len(self._browser.extraSelections())
        text = f"{self._browser.found_at()} of {count}" if count else "Not in this page"
        self.say(text if self.field.text() else "", count)
