"""HeadsModel: the mean over heads and each head, as a list of pictures."""

from __future__ import annotations

import math

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from attn_gui.model.picture import Picture
from attn_gui.model.statistics import STATISTICS, HeadStatistics
from attn_gui.model.trace import Head
from attn_gui.views.drawers.tile import Thumbnail
from attn_gui.views.figures import percentages, shown

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
_STATISTIC = {statistic.name: statistic for statistic in STATISTICS}


class HeadsModel(QAbstractListModel):
    """Row 0 is the mean over heads, row h + 1 is head h."""

    def __init__(self, parent: object = None) -> None:
        super().__init__(parent)  # type: ignore[arg-type]
        self._heads = 0
        self._open: Head = 0
        self._what = "weight"
        self._decimals = 4
        self._thumbnails: dict[Head, Thumbnail] = {}
        self._caption: str | None = None
        self._statistics: HeadStatistics | None = None

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() or self._heads == 0 else self._heads + 1

    def head(self, row: int) -> Head:
        return "mean" if row == 0 else row - 1

    def row(self, head: Head) -> int:
        return 0 if head == "mean" else int(head) + 1

    def thumbnail(self, head: Head) -> Thumbnail | None:
        return self._thumbnails.get(head)

    def is_open(self, head: Head) -> bool:
        return head == self._open

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        if not index.isValid():
            return None
        head = self.head(index.row())
        if role == Qt.ItemDataRole.DisplayRole:
            return self.name(head)
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            caption = self.caption(head)
            parts = [self.name(head)]
            if caption:
                what = f"largest {self._what}" if self._caption is None else _STATISTIC[self._caption].title.lower()
                parts.append(f"{what} {caption}")
            if self.is_open(head):
                parts.append("shown")
            return ", ".join(parts)
        return None

    def name(self, head: Head) -> str:
        return "Mean" if head == "mean" else f"Head {head + 1}"

    def largest(self, head: Head) -> str | None:
        """The head's largest value as text, None while it is not known."""
        thumbnail = self._thumbnails.get(head)
        if thumbnail is None:
            return None
        return "all masked" if thumbnail.largest is None else shown(thumbnail.largest, self._decimals)

    def caption(self, head: Head) -> str:
        """What stands below the head's picture, empty while it is not known."""
        if self._caption is None:
            return self.largest(head) or ""
        if self._statistics is None or head == "mean" or head >= len(self._statistics.values):
            return ""
        place = list(_STATISTIC).index(self._caption)
        value = float(self._statistics.values[head, place])
        if math.isnan(value):
            return "–"
        return percentages([value])[0] if _STATISTIC[self._caption].percent else shown(value, min(self._decimals, 2))

    def set_caption(self, statistic: str | None) -> None:
        """Which statistic stands below the pictures; None for the largest value of what is shown."""
        if statistic != self._caption:
            self._caption = statistic
            self._touch_all()

    def put_statistics(self, statistics: HeadStatistics) -> None:
        self._statistics = statistics
        self._touch_all()

    def set_heads(self, heads: int) -> None:
        if heads != self._heads:
            self.beginResetModel()
            self._heads = heads
            self._thumbnails = {h: t for h, t in self._thumbnails.items() if h == "mean" or h < heads}
            self.endResetModel()

    def set_open(self, head: Head) -> None:
        before, self._open = self._open, head
        self._touch(before)
        self._touch(head)

    def set_what(self, what: str) -> None:
        """What the pictures show, "weight" or "score"; those of anything else are forgotten."""
        if what != self._what:
            self._what = what
            self._thumbnails.clear()
            self._touch_all()

    def set_decimals(self, decimals: int) -> None:
        self._decimals = decimals
        self._touch_all()

    def put(self, head: Head, picture: Picture) -> None:
        if head == "mean" or head < self._heads:
            self._thumbnails[head] = Thumbnail.of(picture)
            self._touch(head)

    def keep_only(self, heads: set[Head]) -> None:
        """Forget the pictures of other heads: they show what was computed before."""
        self._thumbnails = {head: t for head, t in self._thumbnails.items() if head in heads}
        self._touch_all()

    def _touch(self, head: Head) -> None:
        index = self.index(self.row(head))
        if index.isValid():
            self.dataChanged.emit(index, index)

    def _touch_all(self) -> None:
        if self.rowCount():
            self.dataChanged.emit(self.index(0), self.index(self.rowCount() - 1))
