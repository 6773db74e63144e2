"""Token labels along both axes: elided to their room, thinned where dense, always those of what is shown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from html import escape
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget

from attn_gui.views.bands import HEADER, TALLEST_HEADER
from attn_gui.views.cut_text import beginning
from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.look import Look
from attn_gui.views.painting import guarded
from attn_gui.views.writer import CENTRE, RIGHT, writer

PADDING = 8
MARK = 3
# pixels that labels one above the other, and one beside the other, need at least
LEAST_HEIGHT = 15
LEAST_WIDTH = 44
NARROWEST_STRIP, WIDEST_STRIP, LARGEST_PART = 56, 96, 0.3
# of header and rows together; less of it than rows could take is better left to the rows
LOW_PLOT = 200
TICK = 4
MEASURED, MANY = 64, 4096

_SHOWN = str.maketrans({"\n": "↵", "\r": "↵", "\t": "⇥"})


def token_text(token: str) -> str:
    """``token`` on one line, with blanks shown where there is nothing else; of a very long one its beginning."""
    text = beginning(token)
    return text.translate(_SHOWN) if token.strip() else "␣" * len(text)


def longest_text(metrics: QFontMetricsF, labels: Sequence[str]) -> float:
    """Pixels that the longest of ``labels`` needs."""
    if len(labels) > MANY:
        # of very many only those of the most characters are looked at
        lengths = np.fromiter(map(len, labels), np.intp, len(labels))
        labels = [labels[i] for i in np.argpartition(lengths, -MANY)[-MANY:]]
    candidates = sorted(set(labels), key=len)[-MEASURED:]
    return max((metrics.horizontalAdvance(token_text(label)) for label in candidates), default=0.0)


def stride(size: float, least: float) -> int:
    """Every how-many-th label to draw, 1, 2, 5, 10, ..., where each has ``size`` pixels and needs ``least``."""
    step, factors = 1, (2, 2.5, 2)
    k = 0
    while step * size < least:
        step = int(step * factors[k % 3])
        k += 1
    return step


@lru_cache(maxsize=8192)
def _elided(text: str, width: int, font: str) -> str:
    return _metrics(font).elidedText(text, Qt.TextElideMode.ElideRight, width)


@lru_cache(maxsize=8)
def _metrics(font: str) -> QFontMetricsF:
    parsed = QFont()
    parsed.fromString(font)
    return QFontMetricsF(parsed)


class Span(NamedTuple):
    """Pixels along one axis."""

    start: float
    size: float

    def near(self, other: Span, gap: float) -> bool:
        """Whether less than ``gap`` pixels are between the two."""
        return self.start - gap < other.start + other.size and other.start < self.start + self.size + gap


NOWHERE = Span(-math.inf, 0)


class LabelStrip(QWidget):
    """The labels of one axis. ``clicked(index, modifiers)`` tells of a label that was pressed."""

    clicked = Signal(int, Qt.KeyboardModifier)
    # where in their rooms labels begin
    along = CENTRE
    # pixels between thinned labels that stand side by side
    gap = 0

    def __init__(self, look: Look, what: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self._what = what
        self._labels: Sequence[str] = ()
        self._longest = 0.0
        self._take_font()
        self.grid: Grid | None = None
        self.selected = 0
        self.hovered: int | None = None
        self.picked: frozenset[int] = frozenset()
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    @property
    def longest(self) -> float:
        """Pixels that the longest label needs."""
        return self._longest

    def set_labels(self, labels: Sequence[str]) -> bool:
        """Returns whether these are others than before."""
        if labels is self._labels:
            return False
        self._labels = labels
        self._longest = longest_text(_metrics(self._font), labels)
        self.update()
        return True

    def show_grid(self, grid: Grid) -> None:
        if grid != self.grid:
            self.grid = grid
            self.update()

    def part(self, index: int) -> str:
        """What the token of ``index`` belongs to where that is not the present tokens."""
        return ""

    def set_apart(self) -> list[QRectF]:
        """The places of what does not belong to the present tokens."""
        return []

    def mark(self, selected: int, hovered: int | None, picked: frozenset[int]) -> None:
        """Which label is that of the selected cell, which lies under the pointer, and which were picked."""
        if (selected, hovered, picked) != (self.selected, self.hovered, self.picked):
            self.selected, self.hovered, self.picked = selected, hovered, picked
            self.update()

    def place(self, index: int) -> QRectF:
        """Where the label of ``index`` belongs, however little room that is."""
        raise NotImplementedError

    def index_at(self, x: float, y: float) -> int | None:
        """The label at a point."""
        raise NotImplementedError

    def drawn(self) -> dict[int, QRectF]:
        """The labels to draw, and the room of each."""
        raise NotImplementedError

    def text(self, index: int, room: QRectF) -> str:
        """The label of ``index`` as it is drawn, cut to ``room``."""
        return self._cut(index, int(room.width()))

    def _cut(self, index: int, width: int) -> str:
        text = token_text(self._labels[index])
        # most are short, and to elide a text takes longer than to lay it out, which is due anyway
        return text if self._writers[False].line(text).width <= width else _elided(text, width, self._font)

    def write(self, painter: QPainter, index: int, room: QRectF) -> None:
        """Draw the label of ``index`` within ``room``, in the painter's colour."""
        self._put(painter, index, room, room.top(), room.height())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.index_at(event.position().x(), event.position().y())
        if event.button() == Qt.MouseButton.LeftButton and index is not None:
            self.clicked.emit(index, event.modifiers())
        else:
            event.ignore()

    def tooltip(self, point: QPoint) -> str:
        """The whole label at ``point`` and which of them it is; empty where there is none."""
        index = self.index_at(point.x(), point.y())
        if index is None:
            return ""
        token = escape(token_text(self._labels[index]))
        part = self.part(index)
        return f"<b>{token}</b><br>{part + ', ' if part else ''}{self._what} {index + 1} of {len(self._labels)}"

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._take_font()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tooltip(event.pos()), self)
            return True
        return super().event(event)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        if self.grid is None:
            return
        painter = QPainter(self)
        theme = self._look.theme
        for place in self.set_apart():
            painter.fillRect(place, theme.colour("window"))
        if self.selected < len(self._labels):
            place = self.place(self.selected)
            painter.fillRect(place, theme.colour("band"))
            painter.fillRect(self.mark_of(place), theme.colour("accent"))
        for index in self.picked:
            painter.fillRect(self.place(index), theme.colour("accent"))
        thinned, ticks, ink = self.step > 1, [], None
        for index, room in self.drawn().items():
            role = "text"
            if index in self.picked:
                painter.fillRect(room, theme.colour("accent"))
                role = "accent_text"
            elif index == self.hovered:
                role = "accent"
            elif self.part(index):
                role = "muted"
            if role != ink:
                painter.setPen(theme.colour(role))
                ink = role
            self.write(painter, index, room)
            if thinned:
                ticks.append(self.tick_of(index))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("muted"))
        painter.drawRects(ticks)

    def _take_font(self) -> None:
        upright, italic = self.font(), self.font()
        italic.setItalic(True)
        self._font = upright.toString()
        self._writers = {False: writer(upright), True: writer(italic)}

    def _put(self, painter: QPainter, index: int, room: QRectF, top: float, height: float) -> None:
        """Draw the label of ``index`` within the width of ``room``, at the height told."""
        line = self._writers[bool(self.part(index))].line(self.text(index, room))
        line.draw(painter, room.left(), top, room.width(), height, self.along)

    @property
    def step(self) -> int:
        """Every how-many-th label is drawn."""
        raise NotImplementedError

    def tick_of(self, index: int) -> QRect:
        """The tick that ties the label of ``index``, among thinned ones, to its row or column."""
        raise NotImplementedError

    def mark_of(self, place: QRectF) -> QRectF:
        """The bar that marks the selected label besides its colour."""
        raise NotImplementedError

    def _thinned(self, visible: range, step: int, room: Callable[[int], Span]) -> dict[int, Span]:
        """The room of every ``step``-th of the visible, and of the selected one in place of those it would lie on."""
        indices = [*range(-(-visible.start // step) * step, visible.stop, step)]
        drawn: dict[int, Span] = {}
        first = last = NOWHERE
        if self.selected in visible:
            first = last = room(self.selected)
            if first.size > 0:
                drawn[self.selected] = first
            indices = [index for index in indices if index != self.selected]
        for index in indices:
            place = room(index)
            if place.size > 0 and not (place.near(last, self.gap) or place.near(first, self.gap)):
                drawn[index] = last = place
        return drawn


class RowLabels(LabelStrip):
    """The queries, left of the matrix; the strip begins where the matrix does."""

    along = RIGHT

    def strip_width(self, whole: int) -> int:
        """Pixels for the longest label, within limits; of ``whole``, the width of all, the cells need most."""
        widest = max(NARROWEST_STRIP, min(WIDEST_STRIP, whole * LARGEST_PART))
        return math.ceil(max(NARROWEST_STRIP, min(self._longest + 2 * PADDING, widest)) / 4) * 4

    def place(self, index: int) -> QRectF:
        top, height = self._span(index)
        return QRectF(0, top, self.width(), height)

    def _span(self, index: int) -> Span:
        assert self.grid is not None
        top, bottom = round(self.grid.y(index)), round(self.grid.y(index + 1))
        return Span(top, max(bottom - top, 1))

    def index_at(self, x: float, y: float) -> int | None:
        return None if self.grid is None else self.grid.query_at(y)

    @property
    def step(self) -> int:
        return 1 if self.grid is None else stride(self.grid.cell_height, LEAST_HEIGHT)

    def drawn(self) -> dict[int, QRectF]:
        assert self.grid is not None
        step, height = self.step, self.height()

        def room(index: int) -> Span:
            span = self._span(index)
            if step > 1:
                return within(span, LEAST_HEIGHT, height)
            return span if line_in_sight(span, 0, height) else NOWHERE

        width = self.width() - 2 * PADDING
        spans = self._thinned(self.grid.queries, step, room)
        return {index: QRectF(PADDING, top, width, size) for index, (top, size) in spans.items()}

    def tick_of(self, index: int) -> QRect:
        top, height = self._span(index)
        return QRect(self.width() - TICK, min(round(top + height / 2), self.height() - 1), TICK, 1)

    def mark_of(self, place: QRectF) -> QRectF:
        return QRectF(0, place.top(), MARK, place.height())


class ColumnLabels(LabelStrip):
    """The keys, above the matrix: upright where the strip was made high because they would not fit side by side.

    Those before the present ones are the cache's, those after them no token's.
    """

    def __init__(self, look: Look, what: str, parent: QWidget) -> None:
        super().__init__(look, what, parent)
        self._present = (0, 0)

    def set_present(self, first: int, end: int) -> None:
        """Which keys are those of the present tokens."""
        if (first, end) != self._present:
            self._present = first, end
            self.update()

    def part(self, index: int) -> str:
        first, end = self._present
        return "cache" if index < first else "appended" if index >= end else ""

    def set_apart(self) -> list[QRectF]:
        assert self.grid is not None
        first, end = self._present
        spans = [(start, stop) for start, stop in ((0, first), (end, len(self._labels))) if start < stop]
        ends = [(round(self.grid.x(start)), round(self.grid.x(stop))) for start, stop in spans]
        return [QRectF(left, 0, right - left, self.height()) for left, right in ends]

    gap = 4

    @property
    def upright(self) -> bool:
        return self.height() > HEADER and self.grid is not None and self.grid.cell_width < self.longest + 4

    def wanted_height(self, width: int, height: int, rows: int) -> int:
        """Pixels that the labels need where all of them share ``width``.

        ``height`` pixels are there for them and for the rows, which can use up to ``rows`` of them.
        """
        if height < min(LOW_PLOT, HEADER + rows):
            return HEADER
        each = width / max(1, len(self._labels))
        if each >= self.longest + 4 or each < LEAST_HEIGHT:
            return HEADER
        return max(HEADER, min(TALLEST_HEADER, math.ceil((self.longest + 2 * PADDING) / 4) * 4))

    def text(self, index: int, room: QRectF) -> str:
        if not self.upright:
            return super().text(index, room)
        return self._cut(index, self.height() - 2 * PADDING + 4)

    def write(self, painter: QPainter, index: int, room: QRectF) -> None:
        if not self.upright:
            # side by side they stand as low as the other panels' headings
            self._put(painter, index, room, self.height() - HEADER, HEADER)
            return
        painter.save()
        painter.translate(room.center().x(), room.bottom() - PADDING)
        painter.rotate(-90)
        line = self._writers[bool(self.part(index))].line(self.text(index, room))
        line.draw(painter, 0, -room.width() / 2, self.height(), room.width())
        painter.restore()

    def place(self, index: int) -> QRectF:
        left, width = self._span(index)
        return QRectF(left, 0, width, self.height())

    def _span(self, index: int) -> Span:
        assert self.grid is not None
        left, right = round(self.grid.x(index)), round(self.grid.x(index + 1))
        return Span(left, max(right - left, 1))

    def index_at(self, x: float, y: float) -> int | None:
        return None if self.grid is None else self.grid.key_at(x)

    @property
    def step(self) -> int:
        if self.grid is None:
            return 1
        return stride(self.grid.cell_width, LEAST_HEIGHT if self.upright else min(self.longest + 4, LEAST_WIDTH))

    def drawn(self) -> dict[int, QRectF]:
        assert self.grid is not None
        width, step, upright, strip = self.grid.cell_width, self.step, self.upright, self.width()
        # what a name that is cut to nothing, or one that stands upright, needs
        least = LEAST_HEIGHT - 1 if upright else self._writers[False].line("…").width

        def room(index: int) -> Span:
            span = self._span(index)
            if step > 1:
                # no wider than its text, so that at the strip's ends it moves no farther than it must
                text = math.ceil(self._writers[False].line(token_text(self._labels[index])).width) + 1
                size = min(LEAST_HEIGHT if upright else text, step * width - 4)
                return within(span, size, strip)
            # of a cell that is partly out of sight, the part that is not
            left, right = max(span.start + 2, 0), min(span.start + span.size - 2, strip)
            whole = span.start >= 0 and span.start + span.size <= strip
            return Span(left, right - left) if whole or right - left >= least else NOWHERE

        spans = self._thinned(self.grid.keys, step, room)
        return {index: QRectF(left, 0, size, self.height()) for index, (left, size) in spans.items()}

    def tick_of(self, index: int) -> QRect:
        left, width = self._span(index)
        return QRect(min(round(left + width / 2), self.width() - 1), self.height() - TICK, 1, TICK)

    def mark_of(self, place: QRectF) -> QRectF:
        return QRectF(place.left(), self.height() - MARK, place.width(), MARK)


def line_in_sight(span: Span, first: float, last: float) -> bool:
    """Whether a line of text in the middle of ``span`` lies wholly between two heights."""
    middle, half = span.start + span.size / 2, LEAST_HEIGHT / 2
    return middle - half >= first - 1 and middle + half <= last + 1


def within(span: Span, size: float, limit: float) -> Span:
    """``span`` stretched to ``size`` about its middle, and moved within 0 to ``limit``."""
    return Span(max(0.0, min(span.start + span.size / 2 - size / 2, limit - size)), size)
