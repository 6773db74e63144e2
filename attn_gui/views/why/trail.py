"""Trail: from which cell to which one has followed a derivation, so that one can go back."""

from __future__ import annotations

from attn_gui.control.arranging import Arranging
from attn_gui.control.selection import Selection
from attn_gui.model.derivation import Cell, DerivationAsk
from attn_gui.model.stage_shape import OF_KEYS
from attn_gui.model.stages import STAGES


class Trail:
    """What is derived now, and what was before; to go to a cell selects its tokens and its head.

    The selected cell's weight is the one that the heatmaps draw for it, from which one can go on to each piece's own.
    """

    def __init__(self, selection: Selection, arranging: Arranging) -> None:
        self._selection, self._arranging = selection, arranging
        self._before: list[DerivationAsk] = []
        self.here = self._selected()
        # while this moves the selection, that is no wish to see another cell
        self.moving = False

    @property
    def can_go_back(self) -> bool:
        return bool(self._before)

    def follow_selection(self) -> None:
        """Start anew at the weight of the selected cell."""
        self._before.clear()
        self.here = self._selected()

    def go(self, cell: Cell | DerivationAsk) -> None:
        """Go on to ``cell``."""
        target = cell
        if isinstance(target, Cell):
            target = DerivationAsk(target.stage, target.head, target.row, target.column)
        if target != self.here:
            self._before.append(self.here)
            self._arrive(target)

    def back(self) -> None:
        """Go back to the cell before, if there is one."""
        if self._before:
            self._arrive(self._before.pop())

    def _arrive(self, at: DerivationAsk) -> None:
        self.here = at
        stage, selection = STAGES[at.stage], self._selection
        self.moving = True
        try:
            if stage.per_head and (stage.square or selection.head != "mean"):
                selection.set_head(at.head)
            if stage.square:
                selection.set_cell(at.row, at.column)
            elif at.stage in OF_KEYS:
                selection.set_cell(selection.query, at.row)
            else:
                selection.set_cell(at.row, selection.key)
        finally:
            self.moving = False

    def _selected(self) -> DerivationAsk:
        selection = self._selection
        arrangement = self._arranging.arrangement
        return DerivationAsk("N", selection.head, selection.query, selection.key, arrangement)
