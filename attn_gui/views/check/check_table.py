"""CheckTable: a spreadsheet whose cells carry the sign of their verdict."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QKeySequence, QPainter, QPen
from PySide6.QtWidgets import QFrame, QHeaderView, QWidget

from attn_gui.model.check import Verdict
from attn_gui.views.bands import TABLE_ROW
from attn_gui.views.cell_painter import CellPainter
from attn_gui.views.check.check_model import CheckModel
from attn_gui.views.context import Context
from attn_gui.views.cut_text import PADDING, beginning
from attn_gui.views.grid import Index
from attn_gui.views.number_delegate import SPACE
from attn_gui.views.spreadsheet import SpreadsheetView
from attn_gui.views.theme import Theme

NARROWEST_COLUMN = 72
WIDEST_NAME = 112
WIDEST_ROW_NAME = 168
# so many of the cells are measured
MEASURED = 4096
SIGN = 12
# corners of each sign, in a square of 12
_LINES = {
    Verdict.RIGHT: (((1.5, 6.5), (4.5, 9.5), (10.5, 2.5)),),
    Verdict.CARRIED: (((1, 6), (10.5, 6)), ((7, 2.5), (10.5, 6), (7, 9.5))),
    Verdict.WRONG: (((2.5, 2.5), (9.5, 9.5)), ((9.5, 2.5), (2.5, 9.5))),
}
_ROLES = {Verdict.RIGHT: "accent", Verdict.CARRIED: "warning", Verdict.WRONG: "error"}
_UNDO, _REDO = QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo


def sign_colour(verdict: Verdict, theme: Theme) -> QColor:
    return theme.colour(_ROLES[verdict])


def draw_sign(painter: QPainter, verdict: Verdict, place: QRectF, theme: Theme) -> None:
    """Draw the sign of ``verdict``, of which there is none for BLANK, into a square."""
    if verdict is Verdict.BLANK:
        return
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(sign_colour(verdict, theme), 2))
    for line in _LINES[verdict]:
        painter.drawPolyline([QPointF(place.left() + x, place.top() + y) for x, y in line])
    painter.restore()


class CheckCells(CellPainter):
    """Numbers with the signs of their verdicts before them."""

    before = SIGN + 2

    def mark(self, painter: QPainter, rect: QRect, index: Index) -> None:
        model = index.model()
        if isinstance(model, CheckModel):
            place = QRectF(rect.left() + PADDING - 2, rect.center().y() - SIGN // 2 + 1, SIGN, SIGN)
            draw_sign(painter, model.verdict(index.row(), index.column()), place, self._view.context.look.theme)


class CheckTable(SpreadsheetView):
    """``undo_asked`` and ``redo_asked`` tell that their keys were pressed in it: what is typed here is undone here."""

    undo_asked = Signal()
    redo_asked = Signal()

    def __init__(self, context: Context, model: CheckModel, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.cells = CheckCells(self)
        self._cells = model
        self.setModel(model)
        self.setFrameShape(QFrame.Shape.NoFrame)
        for header, size in ((self.horizontalHeader(), NARROWEST_COLUMN), (self.verticalHeader(), TABLE_ROW)):
            header.setDefaultSectionSize(size)
            header.setMinimumSectionSize(20)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setMaximumWidth(WIDEST_ROW_NAME)

    def fit_columns(self) -> None:
        """Columns of one width, wide enough for the numbers, their signs and the longest name within limits."""
        metrics, cells = self.fontMetrics(), self._cells
        names = (cells.headerData(k, Qt.Orientation.Horizontal) for k in range(min(cells.columnCount(), MEASURED)))
        texts = {text for row in cells.table.cells[: MEASURED // max(1, cells.columnCount())] for text in row}
        widest = max(
            min(metrics.horizontalAdvance(beginning(max(names, key=len, default=""))), WIDEST_NAME),
            SIGN + 2 + metrics.horizontalAdvance(max(texts, key=len, default="")),
        )
        columns = self.horizontalHeader()
        columns.setDefaultSectionSize(max(NARROWEST_COLUMN, widest + SPACE))
        bar = self.verticalScrollBar().sizeHint().width()
        self.setMaximumWidth(self.verticalHeader().sizeHint().width() + columns.length() + bar + 2)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_undo(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(_UNDO):
            self.undo_asked.emit()
        elif event.matches(_REDO):
            self.redo_asked.emit()
        else:
            super().keyPressEvent(event)


def _is_undo(event: QKeyEvent) -> bool:
    return event.matches(_UNDO) or event.matches(_REDO)
