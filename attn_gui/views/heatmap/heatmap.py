"""Heatmap: a square stage as an image to look at, to point at and to paint the mask on, with a table as its twin."""

from __future__ import annotations

from functools import cached_property

from PySide6.QtCore import QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QContextMenuEvent, QShowEvent
from PySide6.QtWidgets import QStackedLayout, QWidget

from attn_gui.model.answers import NotYet, RowSums
from attn_gui.model.asks import RowSumsAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.picture import Picture
from attn_gui.model.session import Session
from attn_gui.model.trace import Head
from attn_gui.model.walk import OF_SCORES
from attn_gui.views.context import Context
from attn_gui.views.heatmap.arranged_words import arranged_edit
from attn_gui.views.heatmap.choices import Choices
from attn_gui.views.heatmap.columns import Columns
from attn_gui.views.heatmap.flash_item import changed_cells
from attn_gui.views.heatmap.footer import Footer
from attn_gui.views.heatmap.keys import Keys
from attn_gui.views.heatmap.menu import Actions
from attn_gui.views.heatmap.minimap import Minimap
from attn_gui.views.heatmap.outlet import Outlet
from attn_gui.views.heatmap.picking import KEY, QUERY, Picker
from attn_gui.views.heatmap.pictures import Pictures
from attn_gui.views.heatmap.plot import Plot
from attn_gui.views.heatmap.pointer import Pointer
from attn_gui.views.heatmap.readout import ReadOut
from attn_gui.views.heatmap.scale import scale_of
from attn_gui.views.heatmap.twin import Twin
from attn_gui.views.heatmap.words import cell_description
from attn_gui.views.nothing_yet import FAILED

# a trace that takes longer dims the picture that it will replace
PATIENCE_MS = 300


class Heatmap(QWidget):
    """Shows ``stage`` of the selected head, through asks in ``slot``.

    diverging: colours centred on 0. columns: the range of keys, shared with other heatmaps. drives_bands: whether
    this widget's height is what the shared rows have to fill. sums: whether the rows' sums stand beside them.
    ``footer`` holds the colour bar and the read-out, for the owner to place.
    """

    def __init__(
        self,
        context: Context,
        slot: str,
        stage: str,
        *,
        diverging: bool,
        name: str,
        columns: Columns | None = None,
        drives_bands: bool = False,
        sums: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.context = context
        self.name = name
        self._slot = slot
        self._shown: Experiment | None = None
        self._decimals = context.settings.decimals
        self.pictures = Pictures(context.feed, slot, stage, diverging=diverging, parent=self)
        self.plot = Plot(
            context.look,
            context.bands,
            columns or Columns(self),
            drives_bands=drives_bands,
            sums=sums,
            parent=self,
        )
        self.minimap = Minimap(context.look, context.feed, self.plot, self.pictures, slot)
        self.footer = Footer(context.look)
        self.readout = ReadOut(context.feed, context.selection, context.settings, self.pictures, slot)
        self.picker = Picker(context.selection)
        self.pointer = Pointer(
            self.plot,
            context.document,
            context.notices,
            context.selection,
            context.bands,
            paintable=lambda: self.paintable,
            editable=self._is_editable,
            clicked=self._on_click,
            told=lambda: self.readout.sentence.full,
        )
        self.keys = Keys(
            self.plot,
            context.document,
            context.notices,
            context.selection,
            self.picker,
            maskable=lambda: self.maskable,
            editable=self._is_editable,
            open_table=lambda: self.show_table(True),
        )
        self.choices = Choices(context.document, self.pictures, slot)
        self.outlet = Outlet(context, name, slot, self.pictures, self)
        self.menu = Actions(self)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self.plot)
        self.plot.setAccessibleName(f"{name}, heatmap")
        self._busy_timer = QTimer(self)
        self._busy_timer.setSingleShot(True)
        self._busy_timer.setInterval(PATIENCE_MS)
        # several changes of layout may come together, of which only the last counts
        self._ask_soon = QTimer(self)
        self._ask_soon.setSingleShot(True)
        self._ask_soon.setInterval(0)
        self._follow_soon = QTimer(self)
        self._follow_soon.setSingleShot(True)
        self._follow_soon.setInterval(0)
        self._connect()
        self._restore(context.document.session)
        self.plot.show_labels(context.feed.framed(context.document.experiment))
        self._refresh_theme()
        self._show_cursor()
        self._ask()

    @property
    def paintable(self) -> bool:
        """Whether a press paints the mask instead of selecting."""
        return self.context.selection.painting and self.maskable

    @property
    def maskable(self) -> bool:
        """Whether the mask is shown here, so that Space masks the selected cell or allows it again."""
        return self.pictures.stage == "A_masked"

    def _is_editable(self) -> bool:
        """Whether each cell is one query and one key, so that the mask can be changed here; says so where not."""
        arranged = self.context.feed.arranged
        if arranged is not None:
            self.context.notices.warn(arranged_edit(arranged), "arranged")
        return arranged is None

    @property
    def shows_table(self) -> bool:
        return self._pages.currentWidget() is not self.plot

    def described(
        self,
        experiment: Experiment,
        stage: str,
        head: Head,
        cell: tuple[int, int],
        found: tuple[float, bool] | None,
        decimals: int,
    ) -> str:
        """A cell of the table in words, for a screen reader."""
        return cell_description(experiment, stage, head, cell, found, decimals)

    @cached_property
    def twin(self) -> Twin:
        """The table with the same numbers, made when it is first asked for."""
        made = Twin(self.context, self._slot, self.described, self)
        made.setAccessibleName(f"{self.name}, table")
        made.extra_actions = self.menu.for_table()
        made.left.connect(lambda: self.show_table(False))
        self._pages.addWidget(made)
        return made

    def show_table(self, on: bool) -> None:
        """Put the table in the place of the heatmap, or the heatmap back."""
        if on != self.shows_table:
            page: QWidget = self.twin if on else self.plot
            focused = (self.plot if on else self.twin).hasFocus()
            if on:
                self.twin.open(self.pictures.stage)
            else:
                self.twin.close_table()
            self._pages.setCurrentWidget(page)
            if focused:
                page.setFocus()
        self.menu.show_page(on)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        place = event.globalPos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            cell = self.plot.grid.cell(*self._selected()).center().toPoint()
            place = self.plot.mapToGlobal(cell + self.plot.area.topLeft())
        elif (pointed := self.plot.at(event.pos())) is not None:
            self.context.selection.set_cell(*pointed)
        self.menu.context_menu().popup(place)

    def _connect(self) -> None:
        context, selection, feed = self.context, self.context.selection, self.context.feed
        self.pictures.changed.connect(self._on_picture)
        self.plot.grid_changed.connect(self._ask_soon.start)
        self._ask_soon.timeout.connect(self._ask_if_seen)
        self._follow_soon.timeout.connect(self._follow)
        self.plot.focus_changed.connect(self._on_focus)
        self.plot.row_labels.clicked.connect(lambda index, keys: self.picker.press(QUERY, index, keys))
        self.plot.column_labels.clicked.connect(lambda index, keys: self.picker.press(KEY, index, keys))
        self.readout.changed.connect(self._say)
        self.choices.changed.connect(lambda: self._restore(context.document.session))
        selection.cell_changed.connect(lambda query, key: self._show_cursor())
        selection.hover_changed.connect(lambda cell: self._show_cursor())
        selection.picked_changed.connect(self._show_cursor)
        selection.head_changed.connect(lambda head: self._ask())
        context.highlight.changed.connect(self._show_lit)
        feed.answered.connect(self._on_answer)
        feed.traced.connect(lambda trace: self._wait())
        feed.busy_changed.connect(lambda busy: self._wait())
        feed.failed.connect(lambda error: self.plot.message.setText(FAILED))
        self._busy_timer.timeout.connect(lambda: self.plot.set_dimmed(True))
        context.document.changed.connect(self._on_document)
        context.settings.changed.connect(self._on_setting)
        context.look.changed.connect(self._refresh_theme)

    def _selected(self) -> tuple[int, int]:
        grid = self.plot.grid
        return min(self.context.selection.query, grid.n_q - 1), min(self.context.selection.key, grid.n_k - 1)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._ask_soon.start()  # much may have moved while another panel was alone

    def _ask_if_seen(self) -> None:
        """What moves out of sight is asked for when it comes into sight."""
        if self.isVisibleTo(self.window()):
            self._ask()

    def _ask(self) -> None:
        """Ask for what is in sight, of the selected head."""
        head = self.context.selection.head
        self.pictures.head = head
        self.pictures.look_at(self.plot.grid, self.plot.devicePixelRatioF())
        if self.plot.sums is not None:
            self.context.feed.ask(f"{self._slot}.sums", RowSumsAsk(head))

    def _on_answer(self, slot: str, answer: object) -> None:
        if slot == f"{self._slot}.sums" and isinstance(answer, RowSums):
            self.plot.show_sums(answer, self._decimals)
        elif slot == f"{self._slot}.sums" and isinstance(answer, NotYet):
            self.plot.forget_sums()

    def _on_picture(self, before: Picture | None) -> None:
        shown, self._shown = self._shown, self.pictures.experiment
        self._draw_matrix()
        self._show_cursor()
        self._flash(before, shown)
        # the eye is on the matrices: what stands below them is brought up to date when all of them are drawn
        self.plot.canvas.repaint_changes()
        self._follow_soon.start()

    def _follow(self) -> None:
        self._draw_scale()
        self.readout.refresh()
        self._say()
        # another number of tokens may call for another window
        self._ask()

    def _draw(self) -> None:
        self._draw_matrix()
        self._draw_scale()

    def _draw_matrix(self) -> None:
        latest, experiment = self.pictures.latest, self.pictures.experiment
        if latest is not None and experiment is not None:
            layers = self.pictures.layers
            self.plot.show_pictures(experiment, layers, self._decimals)

    def _draw_scale(self) -> None:
        latest, theme, diverging = self.pictures.latest, self.context.look.theme, self.pictures.diverging
        if latest is not None:
            table = theme.diverging if diverging else theme.sequential
            self.footer.bar.show_scale(scale_of(latest, self._decimals), table, diverging)

    def _flash(self, before: Picture | None, shown: Experiment | None) -> None:
        """Light up what an edit has changed; another head, scale or example is no edit."""
        now, latest = self.pictures.experiment, self.pictures.latest
        if self.context.settings.reduced_motion or shown is None or now is None or latest is None or shown is now:
            return
        if shown.tokens.tokens == now.tokens.tokens and shown.keys.tokens == now.keys.tokens:
            changes = changed_cells(before, latest)
            if changes is not None:
                self.plot.flash.start(self.plot.grid, changes)

    def _wait(self) -> None:
        """The picture is as new as can be; dim it if the next one takes long."""
        self.plot.set_dimmed(False)
        if self.context.feed.busy:
            self._busy_timer.start()
        else:
            self._busy_timer.stop()

    def _show_cursor(self) -> None:
        selection = self.context.selection
        cell = selection.query, selection.key
        self.plot.show_cursor(cell, selection.hover, selection.queries, selection.keys)

    def _show_lit(self) -> None:
        """Mark what is pointed out here; one cell alone is brought into sight."""
        stages = OF_SCORES if self.maskable else (self.pictures.stage,)
        parts = self.context.highlight.of(*stages)
        for part in parts:
            if part.row is not None and part.column is not None:
                self.plot.ensure_visible(part.row, part.column)
        self.plot.show_lit(parts)

    def _on_click(self, query: int, key: int) -> None:
        self.picker.clear()
        self.context.selection.set_cell(query, key)

    def _on_focus(self, focused: bool) -> None:
        self.plot.set_focused(focused)

    def _on_setting(self, name: str) -> None:
        if name == "decimals":
            self._decimals = self.context.settings.decimals
            self._draw()
            self.context.feed.ask(f"{self._slot}.sums", None)
            self._ask()

    def _on_document(self, before: Session, after: Session) -> None:
        if after.view is not before.view:
            self._restore(after)
        if self.pictures.experiment is None:
            self.plot.show_labels(self.context.feed.framed(after.experiment))

    def _restore(self, session: Session) -> None:
        """Take the colours and the pooling that the session says."""
        self.choices.take(session)
        self._ask()
        self.menu.refresh()

    def _refresh_theme(self) -> None:
        self.plot.set_theme(self.pictures.diverging)
        self.footer.line.update()
        self._draw()

    def _say(self) -> None:
        """Bring the read-out and what a screen reader says up to date."""
        self.footer.line.show_sentence(self.readout.sentence)
        description = self.readout.description()
        if description != self.plot.accessibleDescription():
            self.plot.setAccessibleDescription(description)
            if self.plot.hasFocus() and QAccessible.isActive():
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.plot, description))
