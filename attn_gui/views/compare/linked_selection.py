"""LinkedSelection: what is looked at in a comparison, of which the main heatmaps show what they can."""

from __future__ import annotations

from PySide6.QtCore import QObject

from attn_gui.control.arranging import ArrangedSelection
from attn_gui.control.selection import Selection
from attn_gui.model.comparison import rows_are
from attn_gui.model.stages import STAGES


class LinkedSelection(Selection):
    """Follows ``main`` and takes it along: cells of a square stage whole, of others the token of the row.

    A column of those is a dimension, which the main heatmaps have no place for. Nothing is painted here. Cells of a
    square stage are those that are drawn, as ``drawn`` counts them, which is ``main`` where all tokens are.
    """

    def __init__(self, main: Selection, drawn: ArrangedSelection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._main, self._drawn = main, drawn
        self._stage = "N"
        self.head, self.query, self.key = main.head, drawn.query, drawn.key
        main.head_changed.connect(self.set_head)
        for changed in (main.cell_changed, drawn.cell_changed):
            changed.connect(lambda query, key: self._follow_cell())
        drawn.hover_changed.connect(lambda cell: self.set_hover(cell) if self._square else None)
        drawn.picked_changed.connect(lambda: self.pick(drawn.queries, drawn.keys) if self._square else None)
        self.cell_changed.connect(self._lead_cell)
        self.hover_changed.connect(lambda cell: drawn.set_hover(cell) if self._square else None)
        self.picked_changed.connect(lambda: drawn.pick(self.queries, self.keys) if self._square else None)

    def look_at(self, stage: str) -> None:
        """Cells are those of ``stage`` from now on."""
        if stage != self._stage:
            self._stage = stage
            self.set_hover(None)
            self._follow_cell()

    def select(self, row: int, column: int) -> None:
        """Select a cell that is counted token by token."""
        if self._square:
            self._main.set_cell(row, column)
        else:
            self.set_cell(row, column)

    @property
    def _square(self) -> bool:
        return STAGES[self._stage].square

    def _follow_cell(self) -> None:
        main = self._main
        if self._square:
            self.set_cell(self._drawn.query, self._drawn.key)
        else:
            self.set_cell(main.key if rows_are(self._stage) == "key" else main.query, self.key)

    def _lead_cell(self, row: int, column: int) -> None:
        main = self._main
        if self._square:
            self._drawn.set_cell(row, column)
        elif rows_are(self._stage) == "key":
            main.set_cell(main.query, row)
        else:
            main.set_cell(row, main.key)
