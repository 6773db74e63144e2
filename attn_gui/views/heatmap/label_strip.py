"""LabelStrip: the names of the tokens along one side of a heatmap, always those of what is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget

from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.heatmap.labels import NOWHERE, Span, elided, font_metrics, longest_text, token_text
from attn_gui.views.heatmap.stamps import Stamps
from attn_gui.views.look import Look
from attn_gui.views.painting import guarded
from attn_gui.views.writer import CENTRE, writer


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
        self._stamps = Stamps()
        self._take_font()
        self.grid: Grid | None = None
        self.selected = 0
        self.hovered: int | None = None
        self.picked: frozenset[int] = frozenset()
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        # the ground is drawn with the labels: nothing below needs painting
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    @property
    def longest(self) -> float:
        """Pixels that the longest label needs."""
        return self._longest

    def set_labels(self, labels: Sequence[str]) -> bool:
        """Returns whether these are others than before."""
        if labels is self._labels:
            return False
        self._labels = labels
        self._stamps.forget()
        self._longest = longest_text(font_metrics(self._font), labels)
        self.update()
        return True

    def show_grid(self, grid: Grid) -> None:
        if grid != self.grid:
            self.grid = grid
            self.update()

    def part(self, index: int) -> str:
        """What the token of ``index`` belongs to where that is not the present tokens."""
        return ""

    def set_apart(self) -> list[Span]:
        """Where along the strip there is what does not belong to the present tokens."""
        return []

    def mark(self, selected: int, hovered: int | None, picked: frozenset[int]) -> None:
        """Which label is that of the selected cell, which lies under the pointer, and which were picked."""
        if (selected, hovered, picked) != (self.selected, self.hovered, self.picked):
            self.selected, self.hovered, self.picked = selected, hovered, picked
            self.update()

    def place(self, index: int) -> QRectF:
        """Where the label of ``index`` belongs, however little room that is."""
        return self._across(self._span(index))

    def index_at(self, x: float, y: float) -> int | None:
        """The label at a point."""
        raise NotImplementedError

    def drawn(self) -> dict[int, QRectF]:
        """The labels to draw, and the room of each."""
        return {index: QRectF(*self._box(span)) for index, span in self._spans().items()}

    def text(self, index: int, room: QRectF) -> str:
        """The label of ``index`` as it is drawn, cut to ``room``."""
        return self._cut(index, int(room.width()))

    def _cut(self, index: int, width: int) -> str:
        text = token_text(self._labels[index])
        # most are short, and to elide a text takes longer than to lay it out, which is due anyway
        return text if self._writers[False].line(text).width <= width else elided(text, width, self._font)

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
        painter = QPainter(self)
        theme, stamps = self._look.theme, self._stamps
        stamps.use(self.devicePixelRatioF(), theme.colour("panel"), theme.colour("text"), self._font)
        stamps.begin(self.size())
        if self.grid is None:
            stamps.draw(painter)
            return
        lit = [(span, "window") for span in self.set_apart()]
        selected = self._span(self.selected) if self.selected < len(self._labels) else None
        if selected is not None:
            lit.append((selected, "band"))
        lit += [(self._span(index), "accent") for index in self.picked]
        thinned, muted, plain, others = self.step > 1, theme.colour("muted"), [], []
        for index, span in self._spans().items():
            if index == self.hovered or self.part(index) or any(span.near(place, 0) for place, _ in lit):
                others.append((index, span))
            else:  # what lies on the plain ground, as most do
                plain.append(index)
                stamps.put(index, self._box(span), self.write)
        if thinned:
            stamps.bars(map(self._tick, plain), muted)
        stamps.draw(painter)
        for span, role in lit:
            painter.fillRect(self._across(span), theme.colour(role))
        if selected is not None:
            painter.fillRect(self._mark(selected), theme.colour("accent"))
        for index, span in others:
            room, role = QRectF(*self._box(span)), self._role(index)
            if role == "accent_text":
                painter.fillRect(room, theme.colour("accent"))
            painter.setPen(theme.colour(role))
            self.write(painter, index, room)
            if thinned:
                painter.fillRect(QRect(*self._tick(index)), muted)

    def _role(self, index: int) -> str:
        """The colour of a label."""
        if index in self.picked:
            return "accent_text"
        if index == self.hovered:
            return "accent"
        return "muted" if self.part(index) else "text"

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

    def _span(self, index: int) -> Span:
        """Where along the strip the row or column of ``index`` is."""
        raise NotImplementedError

    def _spans(self) -> dict[int, Span]:
        """The labels to draw, and where along the strip each is."""
        raise NotImplementedError

    def _box(self, span: Span) -> tuple[float, float, float, float]:
        """The room of a label: left, top, width, height."""
        raise NotImplementedError

    def _across(self, span: Span) -> QRectF:
        """A part of the strip, as wide as that is."""
        raise NotImplementedError

    def _tick(self, index: int) -> tuple[int, int, int, int]:
        """The tick that ties the label of ``index``, among thinned ones, to its row or column; as a box."""
        raise NotImplementedError

    def _mark(self, span: Span) -> QRectF:
        """The bar that marks the selected label besides its colour."""
        raise NotImplementedError

    def _thinned(self, visible: range, step: int, room: Callable[[int], Span]) -> dict[int, Span]:
        """The room of every ``step``-th of the visible, and of the selected one in place of those it would lie on."""
        selected = self.selected if self.selected in visible else None
        drawn: dict[int, Span] = {}
        first = last = NOWHERE
        if selected is not None:
            first = last = room(selected)
            if first.size > 0:
                drawn[selected] = first
        for index in range(-(-visible.start // step) * step, visible.stop, step):
            place = room(index)
            if place.size <= 0 or index == selected or place.near(last, self.gap):
                continue
            if selected is None or not place.near(first, self.gap):
                drawn[index] = last = place
        return drawn
