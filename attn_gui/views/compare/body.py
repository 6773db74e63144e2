"""CompareBody: three heatmaps side by side, and under them the read-out and the line of figures."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from attn_gui.control.comparing import Comparing, common, common_drawn
from attn_gui.views.bands import HEADER, LOWEST_ROW, Bands
from attn_gui.views.compare import words
from attn_gui.views.compare.cell_reading import CellReading
from attn_gui.views.compare.linked_selection import LinkedSelection
from attn_gui.views.compare.side_view import LEAST_ROWS, SPACING, TITLE_HEIGHT, SideView
from attn_gui.views.context import Context
from attn_gui.views.elided_label import ElidedLabel
from attn_gui.views.heatmap.columns import Columns
from attn_gui.views.look import number_font

GAP = 16


class CompareBody(QWidget):
    """Shows what ``comparing`` has: ``left``, ``right`` and ``difference`` share rows, columns and the cursor."""

    def __init__(self, context: Context, comparing: Comparing, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._comparing = comparing
        self.selection = LinkedSelection(context.selection, context.arranging.selection, self)
        self.bands, columns = Bands(self), Columns(self)
        sides = (
            ("Left", comparing.left, "compare.left"),
            ("Right", comparing.right, "compare.right"),
            ("Difference", comparing.difference, "compare.difference"),
        )
        self.views = [
            SideView(
                context, feed, self.selection, slot, name, self.bands, columns, self.words, drives_bands=place == 0
            )
            for place, (name, feed, slot) in enumerate(sides)
        ]
        self.left, self.right, self.difference = self.views
        self.difference.heatmap.is_difference = True
        pictures = self.left.heatmap.pictures, self.right.heatmap.pictures
        self.reading = CellReading(comparing, self.selection, context.settings, pictures)
        self.readout = ElidedLabel()
        self.readout.setFont(number_font())
        self.readout.setAccessibleName("Read-out")
        self.note = QLabel()
        self.note.setObjectName("muted")
        self.note.hide()
        self.figures = QLabel()
        self.figures.setFont(number_font())
        self.figures.setAccessibleName("Figures")
        self.figures.setTextFormat(Qt.TextFormat.RichText)
        self.figures.setWordWrap(True)
        self.figures.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.figures.setToolTip(words.EXPLAINED)
        row = QHBoxLayout()
        row.setSpacing(GAP)
        for view in self.views:
            row.addWidget(view, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACING)
        column.addLayout(row, 100)
        said = QHBoxLayout()
        said.setSpacing(GAP)
        said.addWidget(self.readout, 1)
        said.addWidget(self.note)
        column.addLayout(said)
        column.addWidget(self.figures)
        column.addStretch(1)
        self._connect()

    def words(self) -> str:
        """What is said of the cell under the pointer, or of the selected one."""
        return self.reading.words

    def needed_height(self, width: int) -> int:
        """Pixels for every row where it is ``width`` wide."""
        pair = self._comparing.pair
        rows = 1 if pair is None else pair.comparison.drawn_shape[0]
        below = 2 * SPACING + self.readout.sizeHint().height() + self.figures.heightForWidth(width)
        return TITLE_HEIGHT + SPACING + max(HEADER, self.bands.header) + LOWEST_ROW * rows + below

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # where there is next to no room, what can be pointed at goes before what is said of it
        room = self.height() - TITLE_HEIGHT - SPACING - self.bands.header - LEAST_ROWS * LOWEST_ROW
        for line, height in (
            (self.readout, self.readout.sizeHint().height()),
            (self.figures, self.figures.heightForWidth(self.width())),
        ):
            room -= height + SPACING
            line.setVisible(room >= 0)

    def _connect(self) -> None:
        self.bands.changed.connect(self._limit_height)
        left, right = self.left.heatmap, self.right.heatmap
        # the same colours mean the same on both sides
        left.choices.changed.connect(lambda: right.look_like(left))
        right.choices.changed.connect(lambda: left.look_like(right))
        self._comparing.changed.connect(self._on_comparison)
        self._comparing.figures_changed.connect(self._show_figures)
        self.reading.changed.connect(self._read_out)
        self.difference.heatmap.pictures.changed.connect(lambda before: self._note_pixels())
        self.figures.linkActivated.connect(self._go_to)
        self._context.settings.changed.connect(lambda name: self._show_figures() if name == "decimals" else None)
        self._context.look.changed.connect(self._show_figures)

    def _limit_height(self) -> None:
        """No taller than the rows at their highest: the read-out stands right below them."""
        for view in self.views:
            view.limit_height(self.bands.header + self.bands.natural_height)

    def _on_comparison(self) -> None:
        pair = self._comparing.pair
        self.reading.tables = None
        if pair is None:
            self.reading.refresh()
            self.figures.clear()
            return
        comparison = pair.comparison
        self.selection.look_at(comparison.stage)
        self.bands.set_count(comparison.drawn_shape[0])
        for view in self.views:
            signed = view is self.difference or comparison.stage != "N"
            view.heatmap.show_stage(comparison.stage, diverging=signed)
        left, right = comparison.sides
        self.reading.tables = common_drawn(comparison, left), common_drawn(comparison, right)
        self._show_figures()

    def name_sides(self, left: str, right: str) -> None:
        """Head the two sides with these."""
        for view, name in ((self.left, left), (self.right, right)):
            view.head(name)

    def _note_pixels(self) -> None:
        """Say what a pixel of the difference stands for, where that is more than one cell."""
        latest, pair = self.difference.heatmap.pictures.latest, self._comparing.pair
        note = ""
        if pair is not None and latest is not None and not latest.exact:
            strongest = pair.drawn[2].tells_strongest(latest.request.rows, latest.request.columns)
            note = words.brought_down(strongest)
        self.note.setText(note)
        self.note.setVisible(bool(note))

    def _show_figures(self) -> None:
        pair, found = self._comparing.pair, self._comparing.figures
        if pair is None or found is None:
            return
        comparison = pair.comparison
        left, right = (common(comparison, side.experiment) for side in comparison.sides)
        names = words.side_names(comparison)
        text = words.summed_up(comparison, (left, right), names, found, self._context.settings.decimals)
        # Qt takes the colour of links from the theme that was in force when they were written
        colour = self._context.look.theme.accent
        self.figures.setText(f"<style>a {{ color: {colour}; }}</style>{text}")
        self.updateGeometry()

    def _read_out(self) -> None:
        self.readout.setText(self.reading.words)
        self.readout.setAccessibleDescription(self.reading.words)
        for view in self.views:
            view.heatmap.say(self.reading.words)

    def _go_to(self, link: str) -> None:
        """Select the place that the line of figures names: ``cell 1 3`` of the stage, or ``query 1``."""
        kind, *places = link.split()
        row = int(places[0])
        if kind == "cell":
            self.selection.select(row, int(places[1]))
            self.left.heatmap.plot.ensure_visible(self.selection.query, self.selection.key)
        else:
            self._context.selection.set_cell(row, self._context.selection.key)
