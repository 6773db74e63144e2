"""ScoresModel: a line for each head of every layer, a column for each score."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from attn_gui.model.head_scores import HEAD_SCORES
from attn_gui.model.layers import HeadAt
from attn_gui.model.session import Session
from attn_gui.views.drawers.statistics_model import SORT_ROLE
from attn_gui.views.layers.known import Known
from attn_gui.views.layers.layers_model import score_text
from attn_gui.views.layers.sieve import Sieve

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
NOWHERE = QModelIndex()
LAYER, HEAD, FIRST_SCORE = 0, 1, 2


class ScoresModel(QAbstractTableModel):
    """The heads that are scored and that the sieve lets stay."""

    def __init__(self, known: Known, parent: Any = None) -> None:
        super().__init__(parent)
        self._known = known
        self._names: list[str] = []
        self._lines: list[HeadAt] = []
        self._decimals = 4

    def show(self, session: Session, sieve: Sieve, decimals: int) -> None:
        """Show what is known now of the heads of ``session``."""
        lines = []
        for at in self._known.heads():
            scores = self._known.scores(at)
            if scores is not None and sieve.keeps(float(scores[sieve.column])):
                lines.append(at)
        self.beginResetModel()
        self._names = [named.name for named in session.experiments]
        self._lines, self._decimals = lines, decimals
        self.endResetModel()

    def at(self, line: int) -> HeadAt:
        return self._lines[line]

    def line(self, at: HeadAt) -> int | None:
        return self._lines.index(at) if at in self._lines else None

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._lines)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else FIRST_SCORE + len(HEAD_SCORES)

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if not index.isValid():
            return None
        at, column = self._lines[index.row()], index.column()
        if role == Role.TextAlignmentRole:
            return _side(column)
        scores = self._known.scores(at)
        if column == LAYER:
            return {Role.DisplayRole: self._names[at.layer], SORT_ROLE: index.row()}.get(Role(role))
        if column == HEAD or scores is None:
            number = int(at.head) if at.head != "mean" else -1
            return {Role.DisplayRole: str(number + 1), SORT_ROLE: number}.get(Role(role))
        value, score = float(scores[column - FIRST_SCORE]), HEAD_SCORES[column - FIRST_SCORE]
        if role == SORT_ROLE:
            return -math.inf if math.isnan(value) else value
        text = score_text(score, value, self._decimals)
        if role == Role.DisplayRole:
            return text
        if role == Role.AccessibleTextRole:
            return f"{self._names[at.layer]}, head {int(at.head) + 1}, {score.title.lower()} {text}"
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation is Qt.Orientation.Vertical:
            return None
        if role == Role.TextAlignmentRole:
            return _side(section)
        if section < FIRST_SCORE:
            return {Role.DisplayRole: ("Layer", "Head")[section]}.get(Role(role))
        score = HEAD_SCORES[section - FIRST_SCORE]
        if role == Role.DisplayRole:
            return score.title
        if role == Role.ToolTipRole:
            return f"{score.title} = {score.formula}\n{score.about}"
        return None


def _side(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if column == LAYER else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
