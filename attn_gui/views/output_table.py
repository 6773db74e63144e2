"""OutputTable: what each token comes out as, to read and to copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, QVariantAnimation
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from attn_gui.model.derivation import Cell
from attn_gui.model.lit import Lit
from attn_gui.model.precision import Precision
from attn_gui.views.array_model import ArrayModel
from attn_gui.views.band_follower import BandFollower
from attn_gui.views.cell_painter import faint
from attn_gui.views.cell_ranges import CellRange
from attn_gui.views.context import Context
from attn_gui.views.grid import Index
from attn_gui.views.lit_table import LEAST_COLUMNS, LitTable
from attn_gui.views.nothing_yet import nothing_yet
from attn_gui.views.number_delegate import SPACE
from attn_gui.views.painting import guarded
from attn_gui.views.why.asking import why_action

NUMBER_WIDTH = 56
FLASH_MS = 480
FLASH_STEPS = 8
FLASH_ALPHA = 72


class OutputTable(LitTable):
    """The output in the shared bands. Cells in sight that an edit has changed light up once."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, "tokens", parent)
        self.array = ArrayModel(context.settings, self)
        self.setModel(self.array)
        self.setAccessibleName("Output")
        self.why = why_action(self, lambda row, column: Cell("output", 0, row, column))
        self.setShowGrid(False)
        self._step = 0
        self._lit_from: CellRange | None = None
        self._changed: NDArray[np.bool_] = np.zeros((0, 0), bool)
        self._flash = QVariantAnimation(self)
        self._flash.setDuration(FLASH_MS)
        self._flash.setStartValue(FLASH_STEPS)
        self._flash.setEndValue(0)
        self._flash.valueChanged.connect(self._fade)
        self.horizontalHeader().setMinimumSectionSize(NUMBER_WIDTH)
        self.follower = BandFollower(self, context.bands)
        self.array.figures_changed.connect(self._on_model_changed)
        context.look.changed.connect(self._fit_columns)
        context.feed.failed.connect(lambda error: self.viewport().update())

    def show_output(
        self, values: NDArray[Any], tokens: Sequence[str], columns: Sequence[str], precision: Precision
    ) -> None:
        """Show ``values`` [n_q, d_out]; what differs from the values before lights up where it is in sight."""
        before = self.array.values
        same = before.shape == values.shape and self.array.row_labels == tokens
        self.array.show(values, tokens, columns, precision)
        if same and not self.context.settings.reduced_motion:
            self._start_flash(before)

    def wait_for_output(self, tokens: Sequence[str], columns: Sequence[str]) -> None:
        """Show the cells of an output that is still to come."""
        self.array.wait(tokens, columns)

    @property
    def least_width(self) -> int:
        """What the first columns take."""
        return self._number_width() * min(self.array.columnCount(), LEAST_COLUMNS)

    def range_of(self, part: Lit) -> CellRange | None:
        if part.stage != "output":
            return None
        return self.cells_of(part, 0, range(self.array.columnCount()))

    def backdrop(self, index: Index) -> QColor | None:
        if self._step and self._has_changed(index.row(), index.column()):
            return faint(self.context.look.theme.colour("accent"), FLASH_ALPHA * self._step // FLASH_STEPS)
        return super().backdrop(index)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.context.feed.trace is None:
            painter = QPainter(self.viewport())
            painter.setPen(self.context.look.theme.colour("muted"))
            painter.drawText(self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, nothing_yet(self.context.feed))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def visible_cells(self) -> CellRange | None:
        """The cells in sight."""
        area, rows, columns = self.viewport().rect(), self.verticalHeader(), self.horizontalHeader()
        top, left = rows.visualIndexAt(area.top()), columns.visualIndexAt(area.left())
        if top < 0 or left < 0:
            return None
        bottom, right = rows.visualIndexAt(area.bottom()), columns.visualIndexAt(area.right())
        return CellRange(
            top,
            left,
            bottom if bottom >= 0 else self.array.rowCount() - 1,
            right if right >= 0 else self.array.columnCount() - 1,
        )

    def _start_flash(self, before: NDArray[Any]) -> None:
        seen = self.visible_cells()
        if seen is None:
            return
        here = np.s_[seen.top : seen.bottom + 1, seen.left : seen.right + 1]
        was, now = before[here], self.array.values[here]
        changed = (was != now) & ~(np.isnan(was) & np.isnan(now))
        if changed.any():
            self._lit_from, self._changed = seen, changed
            self._flash.stop()
            self._flash.start()

    def _has_changed(self, row: int, column: int) -> bool:
        seen = self._lit_from
        return (
            seen is not None
            and row in seen.rows
            and column in seen.columns
            and bool(self._changed[row - seen.top, column - seen.left])
        )

    def _fade(self, step: Any) -> None:
        if step != self._step:
            self._step = int(step)
            self.viewport().update()

    def _on_model_changed(self) -> None:
        self._fit_columns()
        self.follow_selection()

    def _fit_columns(self) -> None:
        """Columns of one width, wide enough for every number; if there are more than fit, none is cut at the edge."""
        header, width, number = self.horizontalHeader(), self.viewport().width(), self._number_width()
        if number * self.array.columnCount() > width >= number:
            number = width // (width // number)
        if header.defaultSectionSize() != number:
            header.setDefaultSectionSize(number)
            self.updateGeometries()

    def _number_width(self) -> int:
        """Pixels that the widest number or heading needs."""
        metrics = self.fontMetrics()
        texts = [*self.array.figures.widest, *self.array.column_labels[-1:]]
        return max(NUMBER_WIDTH, max(metrics.horizontalAdvance(text) for text in texts) + SPACE)
