"""Plot: the drawn matrix with its labels. It draws, and says where things are; what is pressed is handled elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QHideEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGraphicsItem, QLabel, QWidget

from attn_gui.model.answers import RowSums
from attn_gui.model.experiment import Experiment
from attn_gui.model.lit import Lit
from attn_gui.model.picture import Picture
from attn_gui.views.bands import Bands
from attn_gui.views.heatmap.column_labels import ColumnLabels
from attn_gui.views.heatmap.columns import Columns
from attn_gui.views.heatmap.cursor import Cursor
from attn_gui.views.heatmap.flash_item import FlashItem
from attn_gui.views.heatmap.frame import Corner, FocusFrame
from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.heatmap.hatch import HatchItem, spacing
from attn_gui.views.heatmap.image import in_sight, sampled
from attn_gui.views.heatmap.lines_item import LinesItem
from attn_gui.views.heatmap.lit_frames import LitFrames
from attn_gui.views.heatmap.numbers_item import NumbersItem
from attn_gui.views.heatmap.parts_item import PartsItem, parts_of
from attn_gui.views.heatmap.row_labels import RowLabels
from attn_gui.views.heatmap.sums import SumColumn
from attn_gui.views.look import Look
from attn_gui.views.nothing_yet import STARTING
from attn_gui.views.painting import guarded
from attn_gui.views.theme import ColourTable

if TYPE_CHECKING:
    from attn_gui.views.heatmap.canvas import Canvas

DIMMED = 0.5


class Plot(QWidget):
    """``grid_changed``: another part is in sight, or at another size."""

    grid_changed = Signal()
    focus_changed = Signal(bool)

    def __init__(
        self, look: Look, bands: Bands, columns: Columns, *, drives_bands: bool, sums: bool, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._drives_bands = drives_bands
        self._look = look
        self._bands = bands
        self.columns = columns
        self._diverging = False
        self._layers: list[Picture] = []
        self._stale = False
        # out of sight it does not follow rows and columns; whether they have moved since
        self._away = self._left_behind = False
        self._behind = False  # whether the matrix is still to be drawn where the grid is
        self._decimals = 4
        self._written: Picture | None = None
        self._beside: int | None = None
        self._header = bands.header
        self._shape = (1, 1)
        self._area = QRect()
        self._canvas: Canvas | None = None
        self.hatch = HatchItem()
        self.lines = LinesItem()
        self.parts = PartsItem()
        self.numbers = NumbersItem()
        self.flash = FlashItem(self)
        self.cursor_items = Cursor()
        self.lit = LitFrames()
        self._above: list[QGraphicsItem] = [self.hatch, self.lines, self.parts, self.numbers, self.flash]
        for order, item in enumerate(self._above, start=1):
            item.setZValue(order)
        self.row_labels = RowLabels(look, "query", self)
        self.column_labels = ColumnLabels(look, "key", self)
        self.sums = SumColumn(look, self) if sums else None
        self.message = QLabel(STARTING, self)
        self.message.setObjectName("muted")
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.corner = Corner(look, self)
        self.focus_frame = FocusFrame(look, self)
        self.grid = Grid(1, 1, 1, 1, 0.0, 0.0, 1.0, 1.0)
        self._selected = (0, 0)
        self._hovered: tuple[int, int] | None = None
        self._drawn_cursor: tuple[object, ...] = ()
        self._opacity = 1.0
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # nothing of what it lies on is seen
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        bands.changed.connect(self._on_bands)
        columns.changed.connect(self._on_columns)
        columns.decimals_changed.connect(self._on_decimals)

    def drive_bands(self, on: bool) -> None:
        """Whether this plot's height is what the shared rows have to fill."""
        if on != self._drives_bands:
            self._drives_bands = on
            self._lay_out()

    def set_columns(self, columns: Columns) -> None:
        """Share the range of keys with another heatmap from now on."""
        self.columns.changed.disconnect(self._on_columns)
        self.columns.decimals_changed.disconnect(self._on_decimals)
        self.columns = columns
        columns.changed.connect(self._on_columns)
        columns.decimals_changed.connect(self._on_decimals)
        self._regrid()

    def set_theme(self, diverging: bool) -> None:
        """Draw in the colours of the theme in force."""
        self._diverging = diverging
        theme, table = self._look.theme, self._colours
        if self._canvas is not None:
            self._canvas.set_theme(theme, table)
        self.hatch.set_theme(theme)
        self.lines.set_theme(theme)
        self.parts.set_theme(theme)
        self.numbers.set_theme(theme, table)
        self.flash.set_theme(theme)
        self.cursor_items.set_theme(theme)
        self.lit.set_theme(theme)
        for part in (self.row_labels, self.column_labels, self.sums, self.corner, self.focus_frame):
            if part is not None:
                part.update()
        self.update()

    def show_labels(self, experiment: Experiment) -> None:
        """The labels of ``experiment``, before there is a picture."""
        shape = experiment.n_q, experiment.n_k
        others = self.row_labels.set_labels(experiment.tokens.tokens)
        others |= self.column_labels.set_labels(experiment.keys.tokens)
        self.column_labels.set_present(experiment.offset, experiment.n_k - len(experiment.appended))
        self.parts.show_parts(parts_of(experiment))
        if others or shape != self._shape:
            self._shape = shape
            self.columns.set_count(experiment.n_k)
            self._lay_out()

    def show_pictures(self, experiment: Experiment, layers: list[Picture], decimals: int) -> None:
        """Draw ``layers`` of ``experiment``, from below."""
        self._layers, self._decimals = layers, decimals
        self._stale = True
        self.message.setVisible(False)
        self.show_labels(experiment)
        self._catch_up()
        if self._stale:
            self._draw()

    def show_sums(self, sums: RowSums, decimals: int) -> None:
        if self.sums is not None:
            self.sums.show_sums(sums, decimals)
            if self.sums.needed_width != self.sums.width():
                self._lay_out()

    def forget_sums(self) -> None:
        """The sums are those of other rows, and the new ones take a while."""
        if self.sums is not None:
            self.sums.forget()

    def show_cursor(
        self,
        selected: tuple[int, int],
        hovered: tuple[int, int] | None,
        queries: frozenset[int],
        keys: frozenset[int],
    ) -> None:
        """The selected cell, the one under the pointer, and the picked rows and columns."""
        i, j = min(selected[0], self._shape[0] - 1), min(selected[1], self._shape[1] - 1)
        if hovered is not None and not (hovered[0] < self._shape[0] and hovered[1] < self._shape[1]):
            hovered = None
        self._selected, self._hovered = (i, j), hovered
        self.row_labels.mark(i, None if hovered is None else hovered[0], queries)
        self.column_labels.mark(j, None if hovered is None else hovered[1], keys)
        self._draw_cursor()

    def show_lit(self, parts: Sequence[Lit]) -> None:
        """Frame the ``parts`` of the matrix that are pointed out."""
        self.lit.show_parts(parts)
        self.lit.place(self.grid)

    def set_dimmed(self, dimmed: bool) -> None:
        """Whether what is drawn is about to be replaced by something that takes its time."""
        opacity = DIMMED if dimmed else 1.0
        if opacity != self._opacity:
            self._opacity = opacity
            self.hatch.setOpacity(opacity)
            self.numbers.setOpacity(opacity)
            if self._canvas is not None:
                self._canvas.image.setOpacity(opacity)

    def set_focused(self, focused: bool) -> None:
        self.cursor_items.set_focused(focused)
        self.focus_frame.setVisible(focused)

    @property
    def canvas(self) -> Canvas:
        """What the matrix is drawn on, made when there is one."""
        if self._canvas is None:
            from attn_gui.views.heatmap.canvas import Canvas

            self._canvas = Canvas([*self._above, *self.lit.items, *self.cursor_items.items], self)
            self._canvas.set_theme(self._look.theme, self._colours)
            self._canvas.image.setOpacity(self._opacity)
            self._canvas.setGeometry(self._area)
            self._canvas.scene().sigPrepareForPaint.connect(self._catch_up)
            self._canvas.lower()
            self._canvas.show()
        return self._canvas

    @property
    def area(self) -> QRect:
        """Where the matrix is drawn."""
        return self._area

    def at(self, point: QPoint) -> tuple[int, int] | None:
        """The cell (query, key) at ``point``, or None."""
        if not self.area.contains(point):
            return None
        place = point - self.area.topLeft()
        i, j = self.grid.query_at(place.y() + 0.5), self.grid.key_at(place.x() + 0.5)
        return None if i is None or j is None else (i, j)

    def ensure_visible(self, query: int, key: int) -> None:
        """Bring a cell into sight."""
        bands, columns = self._bands, self.columns
        top, bottom = bands.visible
        if query < top:
            bands.scroll(query)
        elif query + 1 > bottom:
            bands.scroll(query + 1 - (bottom - top))
        if key < columns.left:
            columns.scroll(key)
        elif key + 1 > columns.right:
            columns.scroll(key + 1 - (columns.right - columns.left))

    def centre_on(self, query: float, key: float) -> None:
        """Bring the point (query, key), in cells, to the middle as far as there are cells."""
        top, bottom = self._bands.visible
        self._bands.scroll(query - (bottom - top) / 2)
        self.columns.scroll(key - (self.columns.right - self.columns.left) / 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._away = True

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._away = False
        if self._left_behind:
            self._left_behind = False
            self._lay_out()

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._look.theme.colour("panel"))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit(False)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self.lines.show_grid(self.grid, self.devicePixelRatioF())
            self._draw()
            self.grid_changed.emit()
        return super().event(event)

    def _lay_out(self) -> None:
        left = self.row_labels.strip_width(self.width())
        right = 0 if self.sums is None else self.sums.needed_width
        width = max(1, self.width() - left - right)
        if self._drives_bands:
            rows = self._bands.natural_height
            self._header = self.column_labels.wanted_height(width, self.height(), rows)
            self._bands.set_header(self._header)
        header = self._header = self._bands.header
        height = max(1, self.height() - header)
        area = self._area = QRect(left, header, width, height)
        if self._canvas is not None:
            self._canvas.setGeometry(area)
        self.message.setGeometry(area)
        self.row_labels.setGeometry(0, header, left, height)
        self.column_labels.setGeometry(left, 0, width, header)
        self.corner.setGeometry(0, 0, left, header)
        self.focus_frame.setGeometry(self.rect())
        if self.sums is not None:
            self.sums.set_header(header)
            self.sums.setGeometry(self.width() - right, 0, right, self.height())
        if self._drives_bands:
            self._bands.set_height(height)
        self._regrid()

    def _on_bands(self) -> None:
        if self._away:
            self._left_behind = True
        elif self._bands.header == self._header:
            self._regrid()
        else:
            self._lay_out()

    def _on_columns(self) -> None:
        if self._away:
            self._left_behind = True
        else:
            self._regrid()

    def _regrid(self) -> None:
        area = self.area
        grid = Grid.of(*self._shape, area.width(), area.height(), self._bands, self.columns)
        if grid == self.grid:
            return
        self.grid = grid
        self.flash.stop()
        self.row_labels.show_grid(grid)
        self.column_labels.show_grid(grid)
        # rows and columns mostly move together: the matrix is drawn once, when it is painted
        self._behind = True
        if self._canvas is not None:
            self._canvas.viewport().update()
        if self.sums is not None and self._layers:
            self.sums.show_grid(grid, self._selected[0])
        self.grid_changed.emit()

    def _catch_up(self) -> None:
        """Draw the matrix where the grid is now."""
        if not self._behind:
            return
        self._behind = False
        grid = self.grid
        self.lines.show_grid(grid, self.devicePixelRatioF())
        self.parts.show_grid(grid)
        self.lit.place(grid)
        self._draw()
        self._draw_cursor()

    def _draw(self) -> None:
        grid = self.grid
        self._stale = False
        if not self._layers:
            return
        layers, image = in_sight(self._layers, grid), self.canvas.image
        image.setVisible(bool(layers))
        if not layers:
            # after a jump there may be nothing yet of what is now in sight
            self.hatch.show_pixels(None, image.place, 1.0, 1)
            self._write(None)
            return
        ratio = self.devicePixelRatioF()
        pixels, place = sampled(layers, grid, ratio)
        image.show_pixels(pixels, place)
        step = spacing(grid.cell_width, grid.cell_height)
        self.hatch.show_pixels(pixels if any(layer.has_signs for layer in layers) else None, place, ratio, step)
        self._write(layers[-1])

    def _write(self, picture: Picture | None) -> None:
        """Write the numbers of ``picture``, with the decimals that the heatmaps beside this one have room for too."""
        self._written, self._beside = picture, self.columns.decimals_beside(self)
        self.numbers.show_picture(picture, self.grid, self._decimals, self._beside)
        self.columns.tell_decimals(self, self.numbers.possible)

    def _on_decimals(self) -> None:
        if self._written is not None and self.columns.decimals_beside(self) != self._beside:
            self._write(self._written)

    @property
    def _colours(self) -> ColourTable:
        theme = self._look.theme
        return theme.diverging if self._diverging else theme.sequential

    def _draw_cursor(self) -> None:
        if not self._layers:
            self.cursor_items.hide()
            return
        cursor = self.grid, self._selected, self._hovered
        if cursor == self._drawn_cursor:
            return
        self._drawn_cursor = cursor
        self.cursor_items.show_selected(self.grid, *self._selected)
        self.cursor_items.show_hovered(self.grid, self._hovered)
        if self.sums is not None:
            self.sums.show_grid(self.grid, self._selected[0])
