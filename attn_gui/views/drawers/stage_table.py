"""StageTable: the numbers of a stage in the program's spreadsheet, to read and to copy."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHeaderView, QWidget

from attn_gui.views.bands import TABLE_ROW
from attn_gui.views.context import Context
from attn_gui.views.drawers.stage_model import StageModel
from attn_gui.views.spreadsheet import SpreadsheetView

COLUMN_WIDTH = 80


class StageTable(SpreadsheetView):
    """Rows and columns of one size, so that a stage of any length opens at once."""

    def __init__(self, context: Context, model: StageModel, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.setModel(model)
        self.setFrameShape(QFrame.Shape.NoFrame)
        for header, size in ((self.horizontalHeader(), COLUMN_WIDTH), (self.verticalHeader(), TABLE_ROW)):
            header.setDefaultSectionSize(size)
            header.setMinimumSectionSize(20)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
