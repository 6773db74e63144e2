"""AnswerModel: the cells of a blank stage, as they are typed, with what the last check said of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, Signal

from attn_gui.control.exercising import Exercising
from attn_gui.model.check import GivenTable, NotANumber, Verdict, read_cell
from attn_gui.model.exercise import LONGEST_CELL
from attn_gui.views.clipboard import Block, Refused
from attn_gui.views.grid import EDITABLE, NOWHERE, GridModel, Index

NOT_ASKED = "masked"
_ALIGNMENT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
Role = Qt.ItemDataRole


class AnswerModel(GridModel):
    """Shows and takes the answers to one stage of one head; ``shown_anew`` comes after every change."""

    shown_anew = Signal()

    def __init__(self, exercising: Exercising, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._exercising = exercising
        self._table = GivenTable("A", 0, ())
        self._asked: NDArray[np.bool_] = np.zeros((0, 0), bool)
        self._labels: tuple[Sequence[str], Sequence[str]] = (), ()
        self._locked = False

    @property
    def stage(self) -> str:
        return self._table.stage

    @property
    def typed(self) -> int:
        """How many of the cells that are to be filled in there is something in."""
        asked = self._asked.tolist()
        cells = ((r, c, cell) for r, row in enumerate(self._table.cells) for c, cell in enumerate(row))
        return sum(1 for r, c, cell in cells if asked[r][c] and cell.strip())

    @property
    def asked(self) -> int:
        """How many cells are to be filled in."""
        return int(self._asked.sum())

    def show(
        self,
        table: GivenTable,
        asked: NDArray[np.bool_],
        labels: tuple[Sequence[str], Sequence[str]],
        *,
        locked: bool,
    ) -> None:
        """Show ``table``; ``asked``: which of its cells are to be filled in. ``locked``: none may be changed."""
        same = table.shape == self._table.shape
        if not same:
            self.beginResetModel()
        self._table, self._asked, self._labels, self._locked = table, asked, labels, locked
        if not same:
            self.endResetModel()
        elif self._asked.size:
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, self.columnCount() - 1))
            for across, names in ((Qt.Orientation.Vertical, labels[0]), (Qt.Orientation.Horizontal, labels[1])):
                self.headerDataChanged.emit(across, 0, len(names) - 1)
        self.shown_anew.emit()

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else self._table.shape[0]

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else self._table.shape[1]

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == Role.TextAlignmentRole:
            return _ALIGNMENT
        row, column = index.row(), index.column()
        text = self._table.cells[row][column]
        if role == Role.EditRole:
            return text
        if role == Role.DisplayRole:
            return f"{text}  {self.verdict(row, column).sign}".rstrip() if self._asked[row, column] else NOT_ASKED
        if role == Role.ToolTipRole:
            verdict = self.verdict(row, column)
            return verdict.word if verdict is not Verdict.BLANK else None
        if role == Role.AccessibleTextRole:
            said = f"{text}, {self.verdict(row, column).word}" if text else Verdict.BLANK.word
            place = f"{self._labels[0][row]}, {self._labels[1][column]}"
            return f"{place}, {said if self._asked[row, column] else NOT_ASKED}"
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        across = orientation == Qt.Orientation.Horizontal
        labels = self._labels[1 if across else 0]
        if role == Role.TextAlignmentRole:
            right_below = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom
            return right_below if across else Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        if role not in (Role.DisplayRole, Role.ToolTipRole) or section >= len(labels):
            return None
        return labels[section]

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        if index.isValid() and (self._locked or not self._asked[index.row(), index.column()]):
            flags &= ~EDITABLE
        return flags

    def verdict(self, row: int, column: int) -> Verdict:
        """What the last check said of a cell, as long as it is as it was then."""
        head = self._table.head
        return Verdict.BLANK if head == "mean" else self._exercising.verdict(self.stage, head, row, column)

    def cleared(self, column: int) -> str | None:
        return ""

    def write(self, row: int, column: int, block: Block, label: str) -> None:
        if self._locked:
            raise ValueError("The answers were shown: what was answered before stays as it is")
        cells = [list(line) for line in self._table.cells]
        for r, line in enumerate(block):
            for c, text in enumerate(line):
                if text is not None and self._asked[row + r, column + c]:
                    cells[row + r][column + c] = _taken(r, c, text)
        self._exercising.type(replace(self._table, cells=tuple(map(tuple, cells))), label)


def _taken(row: int, column: int, text: str) -> str:
    """``text`` as an answer; raises Refused for what is no number."""
    plain = text.strip()
    if len(plain) > LONGEST_CELL:
        raise Refused(row, column, f"Expected at most {LONGEST_CELL} characters, received {len(plain)}")
    try:
        read_cell(plain)
    except NotANumber as error:
        raise Refused(row, column, str(error)) from error
    return plain
