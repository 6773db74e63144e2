"""OutcomeTable: numbers before and after side by side, each over a bar."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from attn_gui.views.bands import TABLE_ROW
from attn_gui.views.intervene.outcome_model import BAR_ROLE, WHAT, Index, OutcomeModel
from attn_gui.views.look import Look, number_font
from attn_gui.views.painting import guarded

BAR_HEIGHT, INSET = 4, 4
NUMBER_WIDTH = 120


class OutcomeTable(QTableView):
    """Ctrl+C copies the lines that are selected, all where none is."""

    def __init__(self, look: Look, model: OutcomeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._outcome = model
        self.setModel(model)
        self.setAccessibleName("Before and after")
        self.setFont(number_font())
        self.setItemDelegate(_Bars(look, self))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(TABLE_ROW)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultSectionSize(NUMBER_WIDTH)
        header.setMinimumSectionSize(NUMBER_WIDTH)
        header.setSectionResizeMode(WHAT, QHeaderView.ResizeMode.Stretch)
        look.changed.connect(self.viewport().update)

    def copied(self) -> str:
        """The lines with their headings, by tabs."""
        rows = sorted({index.row() for index in self.selectedIndexes()}) or range(self._outcome.rowCount())
        columns = range(self._outcome.columnCount())
        lines = [[str(self._outcome.headerData(column, self._across)) for column in columns]]
        lines += [[str(self._outcome.index(row, column).data()) for column in columns] for row in rows]
        return "\n".join("\t".join(line) for line in lines) + "\n"

    @property
    def _across(self) -> Qt.Orientation:
        return self.horizontalHeader().orientation()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            QApplication.clipboard().setText(self.copied())
        else:
            super().keyPressEvent(event)


class _Bars(QStyledItemDelegate):
    """Under each number a bar as long as it says."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look

    @guarded
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        part = index.data(BAR_ROLE)
        if part is None:
            return
        room = option.rect.adjusted(INSET, 0, -INSET, 0)
        top, width = room.bottom() - BAR_HEIGHT, round(part * room.width())
        painter.fillRect(QRect(room.left(), top, room.width(), BAR_HEIGHT), self._look.theme.colour("masked"))
        painter.fillRect(QRect(room.left(), top, width, BAR_HEIGHT), self._look.theme.colour("accent"))
