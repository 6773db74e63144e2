"""ArrayPicture: a stage that is not square as one image, with its rows and columns named."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QHelpEvent, QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from attn_gui.files.layout import Layout
from attn_gui.model.picture import Picture
from attn_gui.views.bands import HEADER
from attn_gui.views.context import Context
from attn_gui.views.cut_text import beginning
from attn_gui.views.figures import shown
from attn_gui.views.heatmap.colour_bar import ColourBar
from attn_gui.views.heatmap.image import index_to_qimage
from attn_gui.views.heatmap.labels import stride, token_text
from attn_gui.views.heatmap.numbers_item import fitting_style, inks
from attn_gui.views.heatmap.scale import scale_of
from attn_gui.views.look import number_font
from attn_gui.views.painting import guarded

# the largest cell, and what labels need
CELL_WIDTH, CELL_HEIGHT = 72, 28
LABEL_WIDTH, LABEL_HEIGHT = 40, 15
NARROWEST_STRIP, WIDEST_STRIP = 48, 112
MEASURED = 64
PADDING = 8
POINT = QSize(1, 1)


@dataclass(frozen=True)
class Place:
    """Where the image lies, and what one cell of the stage measures in it."""

    image: QRectF
    cell_width: float
    cell_height: float


class ArrayPicture(QWidget):
    """Draws a Picture of a whole stage; ``resized`` says that more or fewer cells fit.

    ``bar`` is its colour bar, for the owner to place.
    """

    resized = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._picture: Picture | None = None
        self._layout = Layout("query", "dimension", (), ())
        self._image = QImage()
        self.bar = ColourBar(context.look)
        self._strip = NARROWEST_STRIP
        self._label_width = LABEL_WIDTH
        self.setMinimumSize(160, 80)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFont(number_font())
        context.look.changed.connect(self._colour)
        context.settings.changed.connect(lambda name: self._colour() if name == "decimals" else None)

    @property
    def most_cells(self) -> tuple[int, int]:
        """How many cells there are device pixels for: (height, width)."""
        ratio, area = self.devicePixelRatioF(), self._area()
        return max(1, int(area.height() * ratio)), max(1, int(area.width() * ratio))

    def sizeHint(self) -> QSize:
        return QSize(480, 200)

    def show_picture(self, picture: Picture, layout: Layout) -> None:
        self._picture, self._layout = picture, layout
        self._strip = max(NARROWEST_STRIP, min(_longest(self, layout.rows) + PADDING, WIDEST_STRIP))
        self._label_width = max(LABEL_WIDTH, min(_longest(self, layout.columns) + PADDING, WIDEST_STRIP))
        self._colour()

    def forget(self) -> None:
        """Show nothing."""
        self._picture = None
        self.update()

    def place(self) -> Place | None:
        """Where the cells are, None without any."""
        rows, columns = len(self._layout.rows), len(self._layout.columns)
        if self._picture is None or not rows or not columns:
            return None
        area = self._area()
        width, height = min(area.width() / columns, CELL_WIDTH), min(area.height() / rows, CELL_HEIGHT)
        # whole pixels where cells are large enough for it not to waste the room
        width, height = (float(int(size)) if size >= LABEL_HEIGHT else size for size in (width, height))
        return Place(QRectF(area.left(), area.top(), width * columns, height * rows), width, height)

    def text_at(self, x: float, y: float) -> str | None:
        """What the cell at a point of the widget holds, in words."""
        place, picture = self.place(), self._picture
        if place is None or picture is None or not place.image.contains(QPointF(x, y)):
            return None
        row = min(int((y - place.image.top()) / place.cell_height), len(self._layout.rows) - 1)
        column = min(int((x - place.image.left()) / place.cell_width), len(self._layout.columns) - 1)
        height, width = picture.values.shape
        i, j = row * height // len(self._layout.rows), column * width // len(self._layout.columns)
        value = shown(float(picture.values[i, j]), max(6, self._context.settings.decimals))
        where = f"{token_text(self._layout.rows[row])}, {beginning(self._layout.columns[column])}"
        return f"{where}: {value}" if picture.exact else f"near {where}, the largest of several: {value}"

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        place = self.place()
        if place is None:
            return
        painter = QPainter(self)
        theme = self._context.look.theme
        painter.drawImage(place.image, self._image)
        self._paint_numbers(painter, place)
        painter.setPen(theme.colour("line"))
        painter.drawRect(place.image.adjusted(0, 0, -1, -1))
        painter.setPen(theme.colour("muted"))
        metrics = QFontMetrics(self.font())
        step = stride(place.cell_height, LABEL_HEIGHT)
        for row in range(0, len(self._layout.rows), step):
            room = QRectF(
                0, place.image.top() + row * place.cell_height, self._strip - PADDING, place.cell_height * step
            )
            text = metrics.elidedText(
                token_text(self._layout.rows[row]), Qt.TextElideMode.ElideRight, int(room.width())
            )
            middle = Qt.AlignmentFlag.AlignVCenter if step == 1 else Qt.AlignmentFlag.AlignTop
            painter.drawText(room, middle | Qt.AlignmentFlag.AlignRight, text)
        step = stride(place.cell_width, self._label_width)
        for column in range(0, len(self._layout.columns), step):
            room = QRectF(place.image.left() + column * place.cell_width, 0, place.cell_width * step, HEADER)
            if step > 1 and room.right() > self.width():
                continue
            text = metrics.elidedText(
                beginning(self._layout.columns[column]), Qt.TextElideMode.ElideRight, int(room.width())
            )
            side = Qt.AlignmentFlag.AlignHCenter if step == 1 else Qt.AlignmentFlag.AlignLeft
            painter.drawText(room, side | Qt.AlignmentFlag.AlignVCenter, text)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            text = self.text_at(event.pos().x(), event.pos().y())
            if text is None:
                QToolTip.hideText()
            else:
                # a token may look like markup
                QToolTip.showText(event.globalPos(), f"<span>{escape(text)}</span>", self, QRect(event.pos(), POINT))
            return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()

    def _area(self) -> QRectF:
        return QRectF(self._strip, HEADER, max(1, self.width() - self._strip), max(1, self.height() - HEADER))

    def _colour(self) -> None:
        if self._picture is not None:
            table = self._context.look.theme.diverging
            self._image = index_to_qimage(self._picture.index, table)
            self.bar.show_scale(scale_of(self._picture, self._context.settings.decimals), table, centred=True)
        self.update()

    def _paint_numbers(self, painter: QPainter, place: Place) -> None:
        picture = self._picture
        if picture is None or not picture.exact:
            return
        decimals = self._context.settings.decimals
        style = fitting_style(picture.values, place.cell_width, place.cell_height, decimals)
        if style is None:
            return
        ink = inks(self._context.look.theme.diverging)
        painter.setFont(style.font)
        for row, (values, indices) in enumerate(zip(picture.values.tolist(), picture.index.tolist(), strict=True)):
            for column, (value, index) in enumerate(zip(values, indices, strict=True)):
                cell = QRectF(
                    place.image.left() + column * place.cell_width,
                    place.image.top() + row * place.cell_height,
                    place.cell_width,
                    place.cell_height,
                )
                painter.setPen(ink[index])
                painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, style.text(value, place.cell_width))
        painter.setFont(self.font())


def _longest(widget: QWidget, labels: tuple[str, ...]) -> int:
    """Pixels that the longest of ``labels`` needs."""
    metrics = QFontMetrics(widget.font())
    candidates = sorted(set(labels), key=len)[-MEASURED:]
    return max((metrics.horizontalAdvance(token_text(label)) for label in candidates), default=0)
