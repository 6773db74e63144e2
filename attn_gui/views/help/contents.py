"""Contents: the list of pages, or of what a search has found."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from attn_gui.views.cut_text import beginning
from attn_gui.views.help.pages import START, find, groups, pages

LINK = Qt.ItemDataRole.UserRole
SEARCH_AFTER = 2  # letters
# letters of what nobody says; a word that cannot wrap would make the list as wide as itself
SAID = 24
# pixels around a line of the list
PAGE_GAP, RESULT_GAP = 2, 6


class Contents(QWidget):
    """A search field over the list; what is chosen goes to ``chosen``, as a link and the words looked for."""

    chosen = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = QLineEdit()
        self.field.setPlaceholderText("Search all pages")
        self.field.setAccessibleName("Search all pages")
        self.field.setClearButtonEnabled(True)
        self.list = QListWidget()
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.found = QLabel()
        self.found.setObjectName("muted")
        self.found.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 0, 0, 12)
        column.setSpacing(8)
        for widget in (self.field, self.found, self.list):
            column.addWidget(widget)
        self.field.textChanged.connect(lambda text: self._refresh())
        self.field.installEventFilter(self)
        self.list.itemActivated.connect(self._choose)
        self.list.itemClicked.connect(self._choose)
        self._refresh()

    @property
    def words(self) -> str:
        """What is looked for, or nothing."""
        text = self.field.text().strip()
        return text if len(text) >= SEARCH_AFTER else ""

    def show_page(self, name: str) -> None:
        """Mark the page that is shown."""
        if not self.words:
            at = next((k for k in range(self.list.count()) if self.list.item(k).data(LINK) == f"{name}.md"), -1)
            self.list.setCurrentRow(at)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                first = next((self.list.item(k) for k in range(self.list.count()) if self._is_link(k)), None)
                if self.words and first is not None:
                    self.list.setCurrentItem(first)
                    self._choose(first)
                return True
            if event.key() == Qt.Key.Key_Down:
                self.list.setFocus(Qt.FocusReason.OtherFocusReason)
                return True
            if event.key() == Qt.Key.Key_Escape and self.field.text():
                self.field.clear()
                return True
        return False

    def _is_link(self, row: int) -> bool:
        return self.list.item(row).data(LINK) is not None

    def _choose(self, item: QListWidgetItem) -> None:
        link = item.data(LINK)
        if link is not None:
            self.chosen.emit(link, self.words)

    def _refresh(self) -> None:
        self.list.clear()
        words = self.words
        self.found.setVisible(bool(words))
        self.list.setSpacing(RESULT_GAP if words else PAGE_GAP)
        if not words:
            self.list.setAccessibleName("Pages")
            self._add(pages()[START].title, f"{START}.md")
            for title, inside in groups():
                self._add_heading(title)
                for page in inside:
                    self._add(page.title, f"{page.name}.md")
            return
        self.list.setAccessibleName("Found")
        results = find(words)
        for result in results:
            named = result.page.title
            if result.section.heading != named:
                named = f"{named}: {result.section.heading}"
            self._add(f"{named}\n{result.excerpt}", f"{result.page.name}.md#{result.section.anchor}")
        count = len(results)
        places = f"{count} {'place' if count == 1 else 'places'}"
        self.found.setText(places if count else f"Nothing says “{beginning(words, SAID)}”")

    def _add(self, text: str, link: str) -> None:
        item = QListWidgetItem(text)
        item.setData(LINK, link)
        self.list.addItem(item)

    def _add_heading(self, text: str) -> None:
        item = QListWidgetItem(text)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        font = item.font()
        font.setBold(True)
        item.setFont(font)
        self.list.addItem(item)
