"""StageTable: the numbers of a stage in the program's spreadsheet, to read and to copy."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHeaderView, QWidget

from attn_gui.views.bands import TABLE_ROW
from attn_gui.views.context import Context
from attn_gui.views.cut_text import beginning
from attn_gui.views.drawers.stage_model import StageModel
from attn_gui.views.number_delegate import SPACE
from attn_gui.views.spreadsheet import SpreadsheetView

NARROWEST_COLUMN = 64
# a longer name is cut
WIDEST_NAME = 112
WIDEST_ROW_NAME = 168


class StageTable(SpreadsheetView):
    """Rows and columns of one size, so that a stage of any length opens at once."""

    def __init__(self, context: Context, model: StageModel, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.setModel(model)
        self.setFrameShape(QFrame.Shape.NoFrame)
        for header, size in ((self.horizontalHeader(), NARROWEST_COLUMN), (self.verticalHeader(), TABLE_ROW)):
            header.setDefaultSectionSize(size)
            header.setMinimumSectionSize(20)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setMaximumWidth(WIDEST_ROW_NAME)
        self._numbers = model
        model.figures_changed.connect(self._fit_columns)

    def _fit_columns(self) -> None:
        """Columns of one width, wide enough for every number and for the longest name within limits."""
        metrics = self.fontMetrics()
        name = max(self._numbers.column_labels, key=len, default="")
        widest = max(
            min(metrics.horizontalAdvance(beginning(name)), WIDEST_NAME),
            *(metrics.horizontalAdvance(text) for text in self._numbers.figures.widest),
        )
        self.horizontalHeader().setDefaultSectionSize(max(NARROWEST_COLUMN, widest + SPACE))
