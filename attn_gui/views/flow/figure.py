"""FlowFigure: the flow view for paper: title, both columns, the lines in sight, and what they leave out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFont, QImage, QPainter

from attn_gui.model.flow import Flow
from attn_gui.views.flow.palette import head_colours
from attn_gui.views.flow.places import HEADER, ROW, Places
from attn_gui.views.flow.scene import Scene, labels_width
from attn_gui.views.flow.words import heads_name, shown_sentence
from attn_gui.views.look import number_font

MARGIN, LINE, GAP = 24, 20, 8
WIDTH, TALLEST = 760, 1440
SWATCH = 10
# so many lines are drawn one by one, which stay sharp at any size; more as an image
DRAWN_LINES = 4000


@dataclass(frozen=True, eq=False)
class FlowFigure:
    """``scene`` is what is drawn on the screen; its flow is there."""

    scene: Scene
    flow: Flow
    subtitle: str

    @property
    def title(self) -> str:
        return f"Flow, {heads_name(self.flow.ask, self.scene.experiment.heads).lower()}"

    @property
    def description(self) -> str:
        """For who cannot see it."""
        return f"{self.subtitle}: {shown_sentence(self.flow, self.scene.experiment)}"

    @property
    def size(self) -> QSize:
        """Width and height in pixels at scale 1."""
        return QSize(WIDTH, round(self.origin[1] + self.places.height + GAP + LINE + MARGIN))

    def paint(self, painter: QPainter, ratio: float) -> None:
        """Draw at the origin of ``painter``; ``ratio`` is device pixels a pixel."""
        theme, size = self.scene.theme, self.size
        painter.fillRect(QRectF(0, 0, size.width(), size.height()), theme.colour("panel"))
        bold = number_font()
        bold.setWeight(QFont.Weight.DemiBold)
        bold.setPixelSize(15)
        self._write(painter, MARGIN, self.title, bold, "text")
        plain = number_font()
        plain.setPixelSize(12)
        self._write(painter, MARGIN + LINE, self.subtitle, plain, "muted")
        if self.scene.several:
            self._paint_heads(painter, MARGIN + 2 * LINE)
        scene = replace(self.scene, places=self.places)
        painter.save()
        painter.translate(*self.origin)
        self._paint_lines(painter, scene, ratio)
        scene.paint_columns(painter)
        scene.paint_header(painter)
        painter.restore()
        said = shown_sentence(self.flow, scene.experiment)
        self._write(painter, size.height() - MARGIN - LINE, said, plain, "muted")

    @property
    def origin(self) -> tuple[int, int]:
        """The top left corner of the drawing."""
        return MARGIN, MARGIN + (3 if self.scene.several else 2) * LINE + GAP

    @property
    def places(self) -> Places:
        """Where the tokens lie, from :attr:`origin` on."""
        e, ask = self.scene.experiment, self.flow.ask
        tokens = max(ask.queries[1] - ask.queries[0], ask.keys[1] - ask.keys[0])
        pitch = min(ROW, TALLEST / tokens)
        height = HEADER + tokens * pitch
        width, labels = WIDTH - 2 * MARGIN, labels_width(e)
        return Places(e.n_q, e.n_k, width, height, pitch, labels, float(ask.queries[0]), float(ask.keys[0]))

    def _paint_lines(self, painter: QPainter, scene: Scene, ratio: float) -> None:
        if len(self.flow.weight) <= DRAWN_LINES:
            scene.paint_all_lines(painter)
            scene.paint_lit_lines(painter)
            return
        places = scene.places
        image = QImage(round(places.width * ratio), round(places.height * ratio), QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        image.fill(scene.theme.colour("panel"))
        with QPainter(image) as inner:
            scene.paint_all_lines(inner)
            scene.paint_lit_lines(inner)
        painter.drawImage(QRectF(0, 0, places.width, places.height), image)

    def _paint_heads(self, painter: QPainter, y: int) -> None:
        """The colour of each head."""
        every = head_colours(self.scene.theme, self.scene.experiment.heads)
        x = float(MARGIN)
        for head in self.flow.ask.heads:
            assert isinstance(head, int)
            text = f"head {head + 1}"
            width = SWATCH + 4 + painter.fontMetrics().horizontalAdvance(text) + 12
            if x + width > WIDTH - MARGIN:
                break
            painter.fillRect(QRectF(x, y + (LINE - SWATCH) / 2, SWATCH, SWATCH), every[head])
            painter.setPen(self.scene.theme.colour("text"))
            place = QRectF(x + SWATCH + 4, y, width, LINE)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
            x += width

    def _write(self, painter: QPainter, y: int, text: str, font: QFont, role: str) -> None:
        painter.setFont(font)
        painter.setPen(self.scene.theme.colour(role))
        room = QRectF(MARGIN, y, WIDTH - 2 * MARGIN, LINE)
        cut = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(room.width()))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, cut)
