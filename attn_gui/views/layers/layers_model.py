"""LayersModel: the heads of all layers as a table of tiles."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from attn_gui.control.overview_jobs import Pictured, Scored
from attn_gui.model.head_scores import HEAD_SCORES
from attn_gui.model.layers import HeadAt, layer_name
from attn_gui.model.session import Session
from attn_gui.model.statistics import Statistic
from attn_gui.model.trace import Head
from attn_gui.views.drawers.tile import Tile
from attn_gui.views.figures import percentages, shown
from attn_gui.views.layers.known import Known
from attn_gui.views.layers.sieve import Sieve

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
NOWHERE = QModelIndex()


class LayersModel(QAbstractTableModel):
    """A row for each layer, a column for the mean over its heads and for each head; or, ranked, as many as fit a row.

    A layer of fewer heads than another leaves cells empty, and one of a single head that of the mean.
    """

    def __init__(self, session: Session, parent: Any = None) -> None:
        super().__init__(parent)
        self.known = Known(session)
        self._session = session
        self._sieve = Sieve()
        self._across = 1
        self._open = HeadAt(0, 0)
        self._ranked: list[HeadAt] = []
        self._places: dict[HeadAt, int] = {}

    @property
    def sieve(self) -> Sieve:
        return self._sieve

    def rowCount(self, parent: Index = NOWHERE) -> int:
        if parent.isValid():
            return 0
        return -(-len(self._ranked) // self._across) if self._sieve.ranks else len(self._session.experiments)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        if parent.isValid():
            return 0
        if self._sieve.ranks:
            return min(self._across, len(self._ranked))
        return 1 + max(named.experiment.heads for named in self._session.experiments)

    def place(self, row: int, column: int) -> HeadAt | None:
        """Which head stands in a cell."""
        if self._sieve.ranks:
            rank = row * self._across + column
            return self._ranked[rank] if rank < len(self._ranked) else None
        heads = self._session.experiments[row].experiment.heads
        if column > heads or (column == 0 and heads == 1):
            return None
        return HeadAt(row, "mean" if column == 0 else column - 1)

    def index_of(self, at: HeadAt) -> QModelIndex:
        """Where a head stands; nowhere where it is left out."""
        if not self._sieve.ranks:
            return self.index(at.layer, 0 if at.head == "mean" else at.head + 1)
        rank = self._places.get(at)
        return NOWHERE if rank is None else self.index(rank // self._across, rank % self._across)

    def tile(self, at: HeadAt) -> Tile:
        """What is shown of a head."""
        named = self._session.experiments[at.layer]
        short = "Mean" if at.head == "mean" else str(at.head + 1)
        name = short
        if self._sieve.ranks:
            layer = layer_name(named, at.layer)
            name, short = f"{layer} H{short}", f"{layer.removeprefix('L')}·{short}"
        thumbnail = self.known.thumbnail(at)
        faint = not self._sieve.ranks and not self._stays(at)
        return Tile(self.known.key(at), thumbnail, name, self.caption(at), short, at == self._open, faint)

    def caption(self, at: HeadAt) -> str:
        """The score of a head as text, empty while it is not known."""
        scores = self.known.scores(at)
        return "" if scores is None else score_text(self._sieve.statistic, float(scores[self._sieve.column]), 2)

    def count(self) -> tuple[int, int]:
        """How many heads stay, as far as they are scored, and how many there are."""
        heads = self.known.heads()
        return sum(self._stays(at) for at in heads), len(heads)

    def set_session(self, session: Session) -> None:
        before, heads = self._session, [named.experiment.heads for named in session.experiments]
        same = [named.experiment.heads for named in before.experiments] == heads
        if self._sieve.ranks or not same:
            self.beginResetModel()
            self._take(session)
            self._rank()
            self.endResetModel()
        elif before.experiments is not session.experiments:
            self._take(session)
            self._touch_all()
            self.headerDataChanged.emit(Qt.Orientation.Vertical, 0, len(heads) - 1)

    def set_sieve(self, sieve: Sieve) -> None:
        if sieve != self._sieve:
            self.beginResetModel()
            self._sieve = sieve
            self._rank()
            self.endResetModel()

    def set_across(self, across: int) -> None:
        """How many tiles fit a row of ranked heads."""
        if across != self._across:
            if self._sieve.ranks:
                self.beginResetModel()
                self._across = across
                self.endResetModel()
            self._across = across

    def set_open(self, layer: int, head: Head) -> None:
        before, self._open = self._open, HeadAt(layer, head)
        if before != self._open:
            self._touch(*(at for at in (before, self._open) if at.layer < len(self._session.experiments)))

    def rank(self) -> None:
        """Put the heads in their order anew."""
        self.beginResetModel()
        self._rank()
        self.endResetModel()

    def put_picture(self, answer: Pictured) -> None:
        self.known.put_picture(answer)
        self._touch(*self.known.places(answer.revision, answer.head))

    def put_scores(self, answer: Scored) -> None:
        """Take in the scores of a head, which comes to its rank with the next :meth:`rank`."""
        self.known.put_scores(answer)
        self._touch(*self.known.places(answer.revision, answer.head))

    def repaint(self) -> None:
        """Have every tile drawn anew."""
        self._touch_all()

    def data(self, index: Index, role: int = Role.DisplayRole) -> str | None:
        at = self.place(index.row(), index.column()) if index.isValid() else None
        if at is None or role not in (Role.AccessibleTextRole, Role.ToolTipRole):
            return None
        named = self._session.experiments[at.layer]
        name = f"{named.name}, " + ("mean over heads" if at.head == "mean" else f"head {at.head + 1}")
        scores = self.known.scores(at)
        if role == Role.ToolTipRole:
            lines = [] if scores is None else [
                f"{score.title}: {score_text(score, float(value), 4)}"
                for score, value in zip(HEAD_SCORES, scores, strict=True)
            ]  # fmt: skip
            return "\n".join([name, *lines])
        caption = self.caption(at)
        parts = [name, *([f"{self._sieve.statistic.title.lower()} {caption}"] if caption else [])]
        return ", ".join([*parts, "shown"] if at == self._open else parts)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid() or self.place(index.row(), index.column()) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> str | None:
        if role not in (Role.DisplayRole, Role.ToolTipRole) or self._sieve.ranks:
            return None
        if orientation is Qt.Orientation.Vertical:
            named = self._session.experiments[section]
            module = "" if named.place is None or not named.place.module else f"\n{named.place.module}"
            return named.name if role == Role.DisplayRole else f"{named.name}{module}"
        return "Mean" if section == 0 else str(section)

    def _take(self, session: Session) -> None:
        self._session = session
        self.known.set_session(session)

    def _rank(self) -> None:
        column, known = self._sieve.column, self.known

        def score(at: HeadAt) -> float | None:
            scores = known.scores(at)
            return None if scores is None else float(scores[column])

        self._ranked = self._sieve.ranked(known.heads(), score) if self._sieve.ranks else []
        self._places = {at: rank for rank, at in enumerate(self._ranked)}

    def _stays(self, at: HeadAt) -> bool:
        scores = self.known.scores(at)
        return scores is None or self._sieve.keeps(float(scores[self._sieve.column]))

    def _touch(self, *places: HeadAt) -> None:
        for at in places:
            index = self.index_of(at)
            if index.isValid():
                self.dataChanged.emit(index, index)

    def _touch_all(self) -> None:
        if self.rowCount() and self.columnCount():
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, self.columnCount() - 1))


def score_text(score: Statistic, value: float, decimals: int) -> str:
    """What is shown of a score; a dash where a head has none."""
    if math.isnan(value):
        return "–"
    return percentages([value])[0] if score.percent else shown(value, decimals)
