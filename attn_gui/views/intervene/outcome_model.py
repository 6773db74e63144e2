"""OutcomeModel: a line for each token or pair of texts, with its number before and after."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from attn_gui.model.intervention import Embeddings, TokenOdds
from attn_gui.views.figures import MINUS, shown

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
NOWHERE = QModelIndex()
WHAT, BEFORE, AFTER, CHANGE = range(4)
# the part of a whole cell that a bar fills, 0 to 1
BAR_ROLE = Role.UserRole
SMALLEST = 0.0001
LONGEST_TEXT = 40
# in the place of a number that is not known yet
AWAITED = "…"


@dataclass(frozen=True)
class Line:
    """What it is about, and its number in either run; ``share``: a probability and not a cosine.

    after: None before the run has answered.
    """

    what: str
    before: float
    after: float | None
    share: bool

    def text(self, column: int, decimals: int) -> str:
        """What is shown of it."""
        if column == WHAT:
            return self.what
        if column != BEFORE and self.after is None:
            return AWAITED
        if column == CHANGE:
            assert self.after is not None
            change = self.after - self.before
            if self.share:
                rounded = round(100 * change, 2)
                return "0" if rounded == 0 else f"{MINUS if rounded < 0 else '+'}{abs(rounded):.2f}"
            text = shown(change, decimals)
            return text if text.startswith(MINUS) or float(text) == 0 else f"+{text}"
        value = self.before if column == BEFORE or self.after is None else self.after
        if not self.share:
            return shown(value, decimals)
        return f"<{100 * SMALLEST:g}%" if 0 < value < SMALLEST / 2 else f"{100 * value:.2f}%"


def lines_of_odds(odds: TokenOdds) -> list[Line]:
    """The likeliest tokens."""
    pairs = zip(odds.tokens, odds.before, odds.after, strict=True)
    return [Line(token, float(p), float(q), share=True) for token, p, q in pairs]


def lines_of_embeddings(embeddings: Embeddings, texts: tuple[str, ...]) -> list[Line]:
    """Every text with each other text, and with itself as it was."""
    names = [f"“{cut(text)}”" for text in texts]
    lines = []
    for i, first in enumerate(names):
        for j in range(i + 1, len(names)):
            pair = float(embeddings.before[i, j]), float(embeddings.after[i, j])
            lines.append(Line(f"{first} with {names[j]}", *pair, share=False))
    return lines + [
        Line(f"{name} with itself as it was", 1.0, float(moved), share=False)
        for name, moved in zip(names, embeddings.moved, strict=True)
    ]


def cut(text: str) -> str:
    """The beginning of a text."""
    whole = " ".join(text.split())
    return whole if len(whole) <= LONGEST_TEXT else f"{whole[: LONGEST_TEXT - 1].rstrip()}…"


class OutcomeModel(QAbstractTableModel):
    """Columns: what, before, after, and by how much it changed; empty until ``show`` has been called."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.lines: list[Line] = []
        self._decimals = 4

    def show(self, lines: list[Line], decimals: int) -> None:
        """Show ``lines``."""
        self.beginResetModel()
        self.lines, self._decimals = lines, decimals
        self.endResetModel()

    def await_answer(self) -> None:
        """Keep what the model says by itself, and nothing of the changes that the lines were of."""
        if any(line.after is not None for line in self.lines):
            self.show([replace(line, after=None) for line in self.lines], self._decimals)

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else 4

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if not index.isValid():
            return None
        line, column = self.lines[index.row()], index.column()
        if role == Role.DisplayRole or (role == Role.ToolTipRole and column == WHAT):
            return line.text(column, self._decimals)
        if role == Role.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if column == WHAT else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == BAR_ROLE and column in (BEFORE, AFTER):
            return self._bar(line.before if column == BEFORE else line.after)
        if role == Role.AccessibleTextRole:
            return f"{line.what}: {self._heading(column).lower()} {line.text(column, self._decimals)}"
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation is Qt.Orientation.Vertical:
            return None
        if role == Role.DisplayRole:
            return self._heading(section)
        if role == Role.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if section == WHAT else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def _heading(self, column: int) -> str:
        share = bool(self.lines) and self.lines[0].share
        what = "Token" if share else "Cosine of"
        return (what, "Before", "After", "Change, points" if share else "Change")[column]

    def _bar(self, value: float | None) -> float | None:
        """Probabilities by the largest that is shown, cosines by 1."""
        if value is None:
            return None
        largest = max((max(line.before, line.after or 0.0) for line in self.lines if line.share), default=1.0)
        return min(1.0, max(0.0, value / largest)) if largest > 0 else 0.0
