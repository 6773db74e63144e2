"""GivenList: the tables that somebody has given so far, each with how much of it is right."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QListWidget, QListWidgetItem, QSizePolicy, QWidget

from attn_gui.views.check.kept import Key

ROW_HEIGHT = 24
_KEY = Qt.ItemDataRole.UserRole


class GivenList(QListWidget):
    """``chosen(stage, head)`` tells which of them is wanted."""

    chosen = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Tables given")
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # in a low drawer what is said of the table comes first
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.currentItemChanged.connect(self._on_current)

    def show_tables(self, tables: Sequence[tuple[Key, str, str]], current: Key) -> None:
        """Show ``tables``, each its key, its line and all that is said of it, with ``current`` marked."""
        with QSignalBlocker(self):
            while self.count() > len(tables):
                self.takeItem(self.count() - 1)
            while self.count() < len(tables):
                QListWidgetItem(self).setSizeHint(QSize(0, ROW_HEIGHT))
            marked = -1
            for row, (key, line, words) in enumerate(tables):
                item = self.item(row)
                item.setText(line)
                item.setData(_KEY, key)
                item.setToolTip(words)
                marked = row if key == current else marked
            self.setCurrentRow(marked)
        self.setVisible(bool(tables))  # empty, it would look like a field to paste into
        if marked >= 0:
            self.scrollToItem(self.item(marked))

    def _on_current(self, now: QListWidgetItem | None, before: QListWidgetItem | None) -> None:
        if now is not None:
            self.chosen.emit(*now.data(_KEY))
