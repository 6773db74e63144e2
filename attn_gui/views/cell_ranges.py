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


def rows(selected: list[CellRange]) -> list[int]:
    """Rows with a selected cell, ascending."""
    return sorted({row for r in selected for row in r.rows})


def columns(selected: list[CellRange]) -> list[int]:
    """Columns with a selected cell, ascending."""
    return sorted({column for r in selected for column in r.columns})
