"""Scene: what the flow view draws, on the screen and in a picture file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from attn_gui.model.experiment import Experiment
from attn_gui.model.flow import Flow
from attn_gui.views.figures import figure
from attn_gui.views.flow.isolated import Isolated
from attn_gui.views.flow.palette import head_colours
from attn_gui.views.flow.places import HEADER, NARROWEST, NUMBERS, WIDEST, Places, Side
from attn_gui.views.flow.strokes import Strokes, full_strength, pen
from attn_gui.views.flow.threshold import written
from attn_gui.views.heatmap.labels import longest_text, stride, token_text
from attn_gui.views.look import number_font
from attn_gui.views.theme import Theme

PAD = 8
MARK = 3
TEXT = 12
# pixels that names one above the other need at least
LEAST_HEIGHT = 15
# where tokens are lower than that, smaller ones
LOW_HEIGHT, LOW_TEXT = 12, 10
# of the lines in the header that say how weights are drawn
SAMPLE_WIDTH = 28

_SIDES: tuple[Side, Side] = ("query", "key")
_Align = Qt.AlignmentFlag


@dataclass(frozen=True, eq=False)
class Scene:
    """``flow`` of ``experiment`` at ``places``; selected: the query and the key; isolated: a token pointed at."""

    experiment: Experiment
    flow: Flow | None
    places: Places
    theme: Theme
    decimals: int
    selected: tuple[int, int]
    isolated: Isolated | None = None

    @property
    def several(self) -> bool:
        """Whether lines of several heads are told apart by colour."""
        return self.flow is not None and len(self.flow.ask.groups) > 1

    @property
    def _adds_up(self) -> bool:
        """Whether the numbers of an isolated token are of several heads."""
        return self.flow is not None and len(self.flow.ask.heads) > 1

    @property
    def colours(self) -> list[QColor]:
        """The colour of each head of the flow."""
        if self.flow is None or not self.several:
            return [self.theme.colour("muted")]
        every = head_colours(self.theme, self.experiment.heads)
        return [every[head] for head in self.flow.ask.heads if isinstance(head, int)]

    def clip(self, painter: QPainter) -> None:
        """Have nothing drawn over the header."""
        painter.setClipRect(QRectF(0, HEADER, self.places.width, self.places.height - HEADER))

    def paint_all_lines(self, painter: QPainter) -> None:
        """Every line, in quiet colours."""
        if self.flow is not None:
            Strokes(self.flow, self.places).draw(painter, self.colours, self.theme.colour("panel"))

    def paint_lit_lines(self, painter: QPainter) -> None:
        """The lines of the isolated token, or else those of the selected query; of several heads in their colours."""
        flow = self.flow
        if flow is None or (self.isolated is None and self.several):
            return
        chosen = (flow.query == self.selected[0]).nonzero()[0] if self.isolated is None else self.isolated.chosen
        colours = self.colours if self.several else [self.theme.colour("accent")]
        # other lines are seen between those of the selected query
        ground = None if self.isolated is None else self.theme.colour("panel")
        Strokes(flow, self.places, chosen).draw(painter, colours, ground)

    def paint_header(self, painter: QPainter) -> None:
        """What either column is, and how thick lines are."""
        painter.setFont(_font(TEXT))
        painter.setPen(self.theme.colour("muted"))
        for side, text in zip(_SIDES, ("Query", "Key"), strict=True):
            painter.drawText(self._name_room(side, HEADER / 2), _towards_lines(side), text)
            if self._adds_up and self.isolated is not None and side != self.isolated.side:
                painter.drawText(self._number_room(side, HEADER / 2), _towards_lines(side), "sum")
        self._paint_scale(painter)

    def paint_columns(self, painter: QPainter) -> None:
        """The names, and of an isolated token its weights beside those at the other end."""
        for side in _SIDES:
            self._paint_marks(painter, side)
        for side in _SIDES:
            ends = {} if self.isolated is None or side == self.isolated.side else self.isolated.ends
            for index, y in self.names(side).items():
                self._paint_name(painter, side, index, y)
                if index in ends:
                    painter.setFont(_font(self._text))
                    painter.setPen(self.theme.colour("text"))
                    text = figure(ends[index], self.decimals)
                    painter.drawText(self._number_room(side, y), _towards_lines(side), text)

    def _wanted(self, side: Side) -> Iterable[int]:
        """Names to draw, the more important first."""
        start, stop = self.places.in_sight(side)
        selected = self.selected[_SIDES.index(side)]
        if self.isolated is not None and side == self.isolated.side:
            yield self.isolated.index
        yield selected
        if self.isolated is not None and side != self.isolated.side:
            yield from self.isolated.ends
        step = stride(self.places.pitch, self._least)
        yield from range(-(-start // step) * step, stop, step)

    def names(self, side: Side) -> dict[int, float]:
        """The tokens whose names are drawn, those for which more important ones leave room, and the middle of each."""
        (start, stop), places, least = self.places.in_sight(side), self.places, self._least
        drawn: dict[int, float] = {}
        taken: dict[int, float] = {}  # by how many times ``least`` they lie down
        for index in self._wanted(side):
            if start <= index < stop and index not in drawn:
                y = places.y(side, index)
                if places.pitch < least:
                    # the first and the last are moved so that they are seen whole
                    y = max(HEADER + least / 2, min(y, places.height - least / 2))
                place = int(y // least)
                near = [taken[at] for at in (place - 1, place, place + 1) if at in taken]
                if places.pitch >= least or all(abs(y - other) >= least for other in near):
                    drawn[index] = taken[place] = y
        return drawn

    @property
    def _least(self) -> int:
        """Pixels that a name needs."""
        return LEAST_HEIGHT if self.places.pitch >= LEAST_HEIGHT else LOW_HEIGHT

    @property
    def _text(self) -> int:
        return TEXT if self.places.pitch >= LEAST_HEIGHT else LOW_TEXT

    def _paint_marks(self, painter: QPainter, side: Side) -> None:
        """The band behind the selected token, and its mark."""
        places, index = self.places, self.selected[_SIDES.index(side)]
        start, stop = places.in_sight(side)
        if not start <= index < stop:
            return
        height = max(1.0, places.pitch)
        left = places.margin if side == "query" else places.right
        band = QRectF(left, places.y(side, index) - height / 2, places.labels + NUMBERS, height)
        painter.fillRect(band, self.theme.colour("band"))
        edge = band.left() if side == "query" else band.right() - MARK
        painter.fillRect(QRectF(edge, band.top(), MARK, band.height()), self.theme.colour("accent"))

    def _paint_name(self, painter: QPainter, side: Side, index: int, y: float) -> None:
        e = self.experiment
        tokens = e.tokens.tokens if side == "query" else e.keys.tokens
        isolated = self.isolated is not None and (self.isolated.side, self.isolated.index) == (side, index)
        present = side == "query" or e.offset <= index < e.n_k - len(e.appended)
        font = _font(self._text)
        font.setBold(isolated)
        font.setItalic(not present)
        painter.setFont(font)
        painter.setPen(self.theme.colour("accent" if isolated else "text" if present else "muted"))
        room = self._name_room(side, y)
        text = QFontMetricsF(font).elidedText(token_text(tokens[index]), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, _towards_lines(side), text)

    def _name_room(self, side: Side, y: float) -> QRectF:
        places, height = self.places, LEAST_HEIGHT
        width = places.labels - PAD
        left = places.left - PAD - width if side == "query" else places.right + PAD
        return QRectF(left, y - height / 2, width, height)

    def _number_room(self, side: Side, y: float) -> QRectF:
        places, width = self.places, NUMBERS - PAD - MARK
        left = places.left - places.labels - width if side == "query" else places.right + places.labels
        return QRectF(left, y - LEAST_HEIGHT / 2, width, LEAST_HEIGHT)

    def _paint_scale(self, painter: QPainter) -> None:
        """``looks at →``, and samples of lines with their weights."""
        full = 1 / self.places.one if self.flow is None else full_strength(self.flow, self.places)
        unit = 1 if self.flow is None else self.flow.ask.heaviest
        weights = samples(unit if self.flow is None or not len(self.flow.weight) else float(self.flow.weight[0]))
        metrics = QFontMetricsF(_font(TEXT))
        said = "looks at →   weight"
        texts = [written(weight) for weight in weights]
        each = [SAMPLE_WIDTH + PAD / 2 + metrics.horizontalAdvance(text) + 2 * PAD for text in texts]
        before = metrics.horizontalAdvance(said) + PAD
        x = (self.places.width - before - sum(each) + 2 * PAD) / 2
        if x < self.places.left:
            return
        painter.setPen(self.theme.colour("muted"))
        painter.drawText(QRectF(x, 0, before, HEADER), _Align.AlignVCenter | _Align.AlignLeft, said)
        x += before
        ground, colour = self.theme.colour("panel"), self.theme.colour("muted")
        for weight, text, width in zip(weights, texts, each, strict=True):
            painter.setPen(pen(colour, ground, weight / unit * self.places.one, weight / unit / full))
            painter.drawLine(QLineF(x, HEADER / 2, x + SAMPLE_WIDTH, HEADER / 2))
            painter.setPen(colour)
            room = QRectF(x + SAMPLE_WIDTH + PAD / 2, 0, width, HEADER)
            painter.drawText(room, _Align.AlignVCenter | _Align.AlignLeft, text)
            x += width


def labels_width(experiment: Experiment) -> float:
    """Pixels for the names of either column, within limits."""
    metrics = QFontMetricsF(_font(TEXT))
    longest = max(longest_text(metrics, names) for names in (experiment.tokens.tokens, experiment.keys.tokens))
    return max(NARROWEST, min(longest + 2 * PAD + MARK, WIDEST))


def samples(heaviest: float) -> list[float]:
    """Three weights of one digit up to about ``heaviest``, to show how they are drawn."""
    return sorted({float(f"{heaviest * part:.0e}") for part in (0.1, 0.4, 1.0)})


def _towards_lines(side: Side) -> Qt.AlignmentFlag:
    aligned = _Align.AlignRight if side == "query" else _Align.AlignLeft
    return _Align.AlignVCenter | aligned | _Align.AlignAbsolute


def _font(pixels: int) -> QFont:
    font = number_font()
    font.setPixelSize(pixels)
    return font
