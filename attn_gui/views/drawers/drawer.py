"""Drawer: what every drawer shares. While it is out of sight it has nothing computed for it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QHideEvent, QPalette, QShowEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStackedLayout, QTableView, QVBoxLayout, QWidget

from attn_gui.model.asks import Ask
from attn_gui.views.bands import TABLE_ROW
from attn_gui.views.context import Context
from attn_gui.views.drawers.flow import Flow

# pixels around what fills a drawer
SIDE, TOP, SPACING = 12, 8, 8


class Drawer(QWidget):
    """The content of a dock: ``top`` with controls over a body, or ``empty`` in the place of both.

    ``refresh`` is called when it comes into sight; its asks are withdrawn when it leaves.
    """

    title = ""
    # what a body that does not fit is made lower by, so that no row of it is cut
    row_height = TABLE_ROW

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.setAccessibleName(self.title)
        self._slots: set[str] = set()
        self.top = Flow()
        self.empty = EmptyState()
        self._pages = QStackedLayout(self)
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self.setAutoFillBackground(True)

    def refresh(self) -> None:
        """Bring what is shown up to date."""
        raise NotImplementedError

    def fill(self, *controls: QWidget, body: QWidget) -> None:
        """Put ``controls`` over ``body``."""
        filled = QWidget()
        column = QVBoxLayout(filled)
        column.setContentsMargins(SIDE, TOP, SIDE, TOP)
        column.setSpacing(SPACING)
        for control in controls:
            self.top.addWidget(control)
        column.addLayout(self.top)
        column.addWidget(body, 1)
        self._pages.addWidget(filled)
        self._pages.addWidget(self.empty)

    def show_empty(self, empty: bool) -> None:
        """Show why there is nothing to show, or what there is."""
        self._pages.setCurrentIndex(1 if empty else 0)
        self.updateGeometry()

    def body_height(self, width: int) -> int:
        """Pixels for all of the body where it is ``width`` wide."""
        raise NotImplementedError

    def fitting_height(self, limit: int) -> int:
        """Pixels for all there is, or at most ``limit``, and then with whole rows."""
        if self._pages.currentWidget() is self.empty:
            return min(limit, self.empty.row.totalHeightForWidth(self.width()))
        width = max(1, self.width() - 2 * SIDE)
        needed = 2 * TOP + self.top.heightForWidth(width) + SPACING + self.body_height(width)
        return needed - math.ceil(max(0, needed - limit) / self.row_height) * self.row_height

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self.fitting_height(self.maximumHeight()))

    def keep_asks(self, asks: Mapping[str, Ask]) -> None:
        """Have ``asks`` answered, slot by slot, and none of those asked before that are not among them."""
        wanted = asks if self.isVisible() else {}
        for slot in self._slots - wanted.keys():
            self.context.feed.ask(slot, None)
        self._slots = set(wanted)
        for slot, ask in wanted.items():
            self.context.feed.ask(slot, ask)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.keep_asks({})


class EmptyState(QWidget):
    """Says in the middle of an empty drawer why it is empty and what to do next."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = _centred("title")
        self._text = _centred("muted")
        self.row = QVBoxLayout(self)
        self.row.setContentsMargins(24, 16, 24, 16)
        self.row.setSpacing(8)
        self.row.addStretch(1)
        self.row.addWidget(self._title)
        self.row.addWidget(self._text)
        self.row.addStretch(1)

    def say(self, title: str, text: str) -> None:
        self._title.setText(title)
        self._text.setText(text)
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)

    def add_button(self, button: QWidget) -> None:
        """Put a button that does the next step under the text."""
        self.row.insertSpacing(self.row.count() - 1, 4)
        self.row.insertWidget(self.row.count() - 1, button, 0, Qt.AlignmentFlag.AlignHCenter)


def table_height(table: QTableView, width: int) -> int:
    """Pixels for every row of ``table`` where it is ``width`` wide."""
    columns, rows = table.horizontalHeader(), table.verticalHeader()
    height = columns.sizeHint().height() + rows.length()
    if rows.sizeHint().width() + columns.length() > width:
        height += table.horizontalScrollBar().sizeHint().height()
    return height


def _centred(name: str) -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setWordWrap(True)
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    return label
