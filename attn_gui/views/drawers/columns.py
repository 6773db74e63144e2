"""Columns: groups of controls one below another, in as many columns as there is room for, all about as long."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, combinations, pairwise

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtWidgets import QLayoutItem

from attn_gui.views.drawers.items_layout import ItemsLayout

# heights that differ by less count as one, so that groups seldom change places while one is used
ALIKE = 48


class Columns(ItemsLayout):
    """Items in their order, down one column after another, where they take the least height.

    Of ways that take about the same height, the one whose columns hold the most equal numbers of items. ``gap`` pixels
    are between columns, half of it between the items of one.
    """

    def heightForWidth(self, width: int) -> int:
        return max((self._height(column) for column in self._columns(width)), default=0)

    def sizeHint(self) -> QSize:
        sizes = [_size(item) for item in self._shown()]
        width = sum(size.width() for size in sizes) + self._gap * max(0, len(sizes) - 1)
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        sizes = [_size(item) for item in self._shown()]
        return QSize(max((s.width() for s in sizes), default=0), max((s.height() for s in sizes), default=0))

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        x = rect.left()
        for column in self._columns(rect.width()):
            y = rect.top()
            for item in column:
                size = _size(item)
                item.setGeometry(QRect(QPoint(x, y), size))
                y += size.height() + self._gap // 2
            x += max(_size(item).width() for item in column) + self._gap

    def _columns(self, width: int) -> list[list[QLayoutItem]]:
        items = self._shown()
        counts = column_counts(tuple(_size(item).toTuple() for item in items), width, self._gap)
        ends = list(accumulate(counts))
        return [items[end - count : end] for count, end in zip(counts, ends, strict=True)]

    def _height(self, column: list[QLayoutItem]) -> int:
        return sum(_size(item).height() for item in column) + self._gap // 2 * (len(column) - 1)


@lru_cache
def column_counts(sizes: tuple[tuple[int, int], ...], width: int, gap: int) -> tuple[int, ...]:
    """How many items of ``sizes`` (width, height) each column takes; all in one where there is room for no more."""

    def taken(columns: list[tuple[tuple[int, int], ...]]) -> int:
        return sum(max(w for w, _ in column) + gap for column in columns) - gap

    def burden(columns: list[tuple[tuple[int, int], ...]]) -> tuple[int, int, int]:
        height = max(sum(h for _, h in column) + gap // 2 * (len(column) - 1) for column in columns)
        counts = [len(column) for column in columns]
        return -(-height // ALIKE), max(counts) - min(counts), -len(columns)

    fitting = [columns for columns in _ways(sizes) if taken(columns) <= width]
    return tuple(len(column) for column in min(fitting, key=burden, default=[sizes] if sizes else []))


def _ways(sizes: tuple[tuple[int, int], ...]) -> Iterator[list[tuple[tuple[int, int], ...]]]:
    """Every way to cut ``sizes`` into columns: few, as groups are."""
    for count in range(len(sizes)):
        for cuts in combinations(range(1, len(sizes)), count):
            yield [sizes[start:end] for start, end in pairwise((0, *cuts, len(sizes)))]


def _size(item: QLayoutItem) -> QSize:
    hint = item.sizeHint().expandedTo(item.minimumSize())
    return QSize(hint.width(), item.heightForWidth(hint.width()) if item.hasHeightForWidth() else hint.height())
