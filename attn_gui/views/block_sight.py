"""BlockSight: which block of a large table has to be there for what is in sight."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QHeaderView, QTableView

from attn_gui.views.array_model import ArrayModel

# a table of so many cells is asked for whole
WHOLE_CELLS = 1 << 18
# cells beyond what is in sight, on every side, that come with it
MARGIN = 64

Span = tuple[int, int]


class BlockSight(QObject):
    """``wanted``: the table has been scrolled, or made larger, to where its model has no numbers."""

    wanted = Signal()

    def __init__(self, table: QTableView, model: ArrayModel) -> None:
        super().__init__(table)
        self._table = table
        self._model = model
        # a wheel turns on and on
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._look)
        for bar in (table.verticalScrollBar(), table.horizontalScrollBar()):
            bar.valueChanged.connect(self._soon.start)
        table.viewport().installEventFilter(self)

    def block(self, shape: tuple[int, int]) -> tuple[Span, Span]:
        """The rows and columns to ask for of a table of ``shape``, [start, stop) each."""
        if shape[0] * shape[1] <= WHOLE_CELLS:
            return (0, shape[0]), (0, shape[1])
        rows, columns = self._in_sight(shape)
        return _around(rows, shape[0]), _around(columns, shape[1])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._soon.start()
        return False

    def _look(self) -> None:
        shape = self._model.rowCount(), self._model.columnCount()
        if shape[0] and shape[1] and self._table.isVisible() and not self._model.holds(*self._in_sight(shape)):
            self.wanted.emit()

    def _in_sight(self, shape: tuple[int, int]) -> tuple[range, range]:
        area = self._table.viewport().rect()
        rows = _visible(self._table.verticalHeader(), area.height(), shape[0])
        return rows, _visible(self._table.horizontalHeader(), area.width(), shape[1])


def _visible(header: QHeaderView, length: int, count: int) -> range:
    first = max(0, header.visualIndexAt(0))
    last = header.visualIndexAt(max(0, length - 1))
    stop = last + 1 if last >= 0 else first + length // max(1, header.defaultSectionSize()) + 1
    return range(min(first, count - 1), min(stop, count))


def _around(seen: range, count: int) -> Span:
    return max(0, seen.start - MARGIN), min(count, seen.stop + MARGIN)
