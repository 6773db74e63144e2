"""Which cells of a table are selected, as ranges: a selection of millions of cells is never listed."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QItemSelectionModel


@dataclass(frozen=True)
class CellRange:
    """Rows ``top`` to ``bottom`` and columns ``left`` to ``right``, the last ones included."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def rows(self) -> range:
        return range(self.top, self.bottom + 1)

    @property
    def columns(self) -> range:
        return range(self.left, self.right + 1)

    @property
    def single(self) -> bool:
        """Whether it is one cell."""
        return len(self.rows) == len(self.columns) == 1


def ranges(model: QItemSelectionModel) -> list[CellRange]:
    """What is selected; ranges do not overlap."""
    selection = model.selection()
    found = []
    for index in range(selection.count()):
        r = selection.at(index)
        found.append(CellRange(r.top(), r.left(), r.bottom(), r.right()))
    return found


def around(selected: list[CellRange]) -> CellRange:
    """The smallest range that holds all of ``selected``, which has at least one."""
    return CellRange(
        min(r.top for r in selected),
        min(r.left for r in selected),
        max(r.bottom for r in selected),
        max(r.right for r in selected),
    )


def row_runs(selected: list[CellRange]) -> list[range]:
    """Rows with a selected cell, ascending, as runs without a gap."""
    return _runs([r.rows for r in selected])


def column_runs(selected: list[CellRange]) -> list[range]:
    """Columns with a selected cell, ascending, as runs without a gap."""
    return _runs([r.columns for r in selected])


def _runs(pieces: list[range]) -> list[range]:
    runs: list[range] = []
    for piece in sorted(pieces, key=lambda p: p.start):
        if runs and piece.start <= runs[-1].stop:
            runs[-1] = range(runs[-1].start, max(runs[-1].stop, piece.stop))
        else:
            runs.append(piece)
    return runs
