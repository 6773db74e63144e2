"""WeightsView: the spreadsheet of a matrix, each cell tinted by its number, heads set apart by a line."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHeaderView, QWidget

from attn_gui.model.picture import LAST_COLOUR
from attn_gui.views.bands import TABLE_ROW
from attn_gui.views.context import Context
from attn_gui.views.drawers.weights_model import WeightsModel
from attn_gui.views.grid import Index
from attn_gui.views.number_delegate import SPACE
from attn_gui.views.painting import guarded
from attn_gui.views.spreadsheet import SpreadsheetView

NARROWEST_COLUMN = 64
# a longer name is cut; so many are measured
WIDEST_NAME = 112
MEASURED = 256
WIDEST_ROW_NAME = 168
# of 255; weak enough to leave the numbers their contrast
TINT = 72


class WeightsView(SpreadsheetView):
    """Positive and negative numbers are tinted from the diverging scale, up to the largest magnitude of the table."""

    def __init__(self, context: Context, model: WeightsModel, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._weights = model
        self.setModel(model)
        self.setAccessibleName("Projections")
        self.setFrameShape(QFrame.Shape.NoFrame)
        for header, size in ((self.horizontalHeader(), NARROWEST_COLUMN), (self.verticalHeader(), TABLE_ROW)):
            header.setDefaultSectionSize(size)
            header.setMinimumSectionSize(20)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setMaximumWidth(WIDEST_ROW_NAME)
        self._tints: list[QColor] = []
        model.figures_changed.connect(self._fit_columns)
        context.look.changed.connect(self._mix)
        self._mix()

    def backdrop(self, index: Index) -> QColor | None:
        bound, value = self._weights.bound, self._weights.value(index)
        # a number that is none is not between the bounds either
        if bound == 0 or value == 0 or not -bound <= value <= bound:
            return None
        return self._tints[round((value / bound + 1) / 2 * LAST_COLOUR)]

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        part = self._weights.part
        if part is None or not part.boundaries():
            return
        painter = QPainter(self.viewport())
        painter.setPen(QPen(self.context.look.theme.colour("muted"), 2))
        right = min(self.viewport().width(), self.horizontalHeader().length() - self.horizontalHeader().offset())
        bottom = min(self.viewport().height(), self.verticalHeader().length() - self.verticalHeader().offset())
        for boundary in part.boundaries():
            if part.by_rows:
                y = self.rowViewportPosition(boundary)
                if 0 <= y <= bottom:
                    painter.drawLine(0, y, right, y)
            else:
                x = self.columnViewportPosition(boundary)
                if 0 <= x <= right:
                    painter.drawLine(x, 0, x, bottom)

    def _fit_columns(self) -> None:
        """Columns of one width, wide enough for every number and for the longest name within limits."""
        metrics, model = self.fontMetrics(), self._weights
        names = [model.headerData(k, Qt.Orientation.Horizontal) for k in range(min(model.columnCount(), MEASURED))]
        widest = max(
            *(metrics.horizontalAdvance(text) for text in model.figures.widest),
            *(min(metrics.horizontalAdvance(name), WIDEST_NAME) for name in names),
        )
        self.horizontalHeader().setDefaultSectionSize(max(NARROWEST_COLUMN, widest + SPACE))

    def _mix(self) -> None:
        self._tints = []
        for r, g, b, _ in self.context.look.theme.diverging[: LAST_COLOUR + 1]:
            self._tints.append(QColor(int(r), int(g), int(b), TINT))
