"""AnswerTable: a blank stage to type in, its rows in the shared bands where they are the queries."""

from __future__ import annotations

from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QWidget

from attn_gui.model.check import Verdict
from attn_gui.model.edits import Side
from attn_gui.views.band_follower import BandFollower
from attn_gui.views.cell_painter import faint
from attn_gui.views.context import Context
from attn_gui.views.exercise.answer_model import NOT_ASKED, AnswerModel
from attn_gui.views.grid import Index
from attn_gui.views.lit_table import LitTable
from attn_gui.views.number_delegate import SPACE

KEY_ROW = 28
WIDEST = 200
SIGNED_ALPHA = 40
SAMPLE = "−00.0000  ✗"


class AnswerTable(LitTable):
    """``follower`` keeps the rows of the queries at the shared bands; rows of keys are the table's own."""

    def __init__(self, context: Context, model: AnswerModel, side: Side, parent: QWidget | None = None) -> None:
        super().__init__(context, side, parent)
        self.answers = model
        self.setModel(model)
        self.setAccessibleName("Your answers")
        if side == "tokens":
            self.follower = BandFollower(self, context.bands)
        else:
            self.verticalHeader().show()
            self.verticalHeader().setDefaultSectionSize(KEY_ROW)
        model.shown_anew.connect(self._fit_columns)
        context.look.changed.connect(self._fit_columns)

    @property
    def least_width(self) -> int:
        return self._number_width()

    def backdrop(self, index: Index) -> QColor | None:
        theme = self.context.look.theme
        verdict = self.answers.verdict(index.row(), index.column())
        if verdict is Verdict.WRONG:
            return faint(theme.colour("error"), SIGNED_ALPHA)
        return super().backdrop(index)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Columns of one width that share the room, wide enough for a number and its sign."""
        header, count = self.horizontalHeader(), max(1, self.answers.columnCount())
        width = max(self._number_width(), min(WIDEST, self.viewport().width() // count))
        if header.defaultSectionSize() != width:
            header.setDefaultSectionSize(width)
            self.updateGeometries()
        self.follow_selection()

    def _number_width(self) -> int:
        metrics = self.fontMetrics()
        return SPACE + max(metrics.horizontalAdvance(text) for text in (SAMPLE, NOT_ASKED))
