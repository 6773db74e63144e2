"""StagesDrawer: any stage of the computation, as a table of exact numbers or as a heatmap."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QLabel, QStackedWidget, QVBoxLayout, QWidget

from attn_gui.files.layout import layout
from attn_gui.model import view_choices
from attn_gui.model.answers import Block, NotYet, StageValues
from attn_gui.model.arranging import arranged
from attn_gui.model.asks import Ask, BlockAsk, PictureAsk, StageAsk
from attn_gui.model.derivation import Cell
from attn_gui.model.experiment import Experiment
from attn_gui.model.picture import Picture
from attn_gui.model.stage_shape import stage_shape, stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head, Trace
from attn_gui.views.bands import Bands
from attn_gui.views.block_sight import BlockSight
from attn_gui.views.context import Context
from attn_gui.views.drawers.array_picture import CELL_HEIGHT, ArrayPicture
from attn_gui.views.drawers.drawer import Drawer, table_height
from attn_gui.views.drawers.segments import Segments
from attn_gui.views.drawers.stage_heatmap import CHROME, StageHeatmap
from attn_gui.views.drawers.stage_model import StageModel
from attn_gui.views.drawers.stage_table import StageTable
from attn_gui.views.drawers.stage_text import BETWEEN, told
from attn_gui.views.heatmap.columns import Columns
from attn_gui.views.top_bar import Dropdown
from attn_gui.views.why.asking import why_action

SLOT = "stages"
FIRST_STAGE = "Q"
EVERY_TOKEN = "every token, none hidden or merged"


class StagesDrawer(Drawer):
    """One stage at a time, of the head that the selection says."""

    title = "Stages"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.stage = Dropdown("Stage")
        self.stage.setMaxVisibleItems(len(STAGES))
        self.form = Segments(context.look, "Show as", [("table", "Table"), ("heatmap", "Heatmap")])
        self.told = QLabel()
        self.told.setObjectName("muted")
        self.model = StageModel(context, self)
        self.table = StageTable(context, self.model)
        self.why = why_action(self.table, self._cell_at)
        self._sight = BlockSight(self.table, self.model)
        self._sight.wanted.connect(self._ask)
        self.picture = ArrayPicture(context)
        self.empty.say("Starting torch", "The stages fill in as soon as it is there.")
        pictured = QWidget()
        column = QVBoxLayout(pictured)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.picture, 1)
        column.addWidget(self.picture.bar)
        self._bodies = QStackedWidget()
        self._bodies.addWidget(self.table)
        self._bodies.addWidget(pictured)
        self._pictured = pictured
        self._bands, self._columns = Bands(self), Columns(self)
        self.heatmaps: dict[str, StageHeatmap] = {}
        self.fill(self.stage, self.form, self.told, body=self._bodies)
        self.stage.chosen.connect(self.show_stage)
        self.form.chosen.connect(self._choose_form)
        self.picture.resized.connect(self._ask)
        context.selection.head_changed.connect(lambda head: self._refresh_if_visible())
        context.document.changed.connect(lambda before, after: self._refresh_if_visible())
        context.arranging.changed.connect(self._refresh_if_visible)
        context.feed.traced.connect(self._on_traced)
        context.feed.answered.connect(self._on_answered)
        self.refresh()

    def show_stage(self, name: str) -> None:
        """Show the stage called ``name``."""
        self.context.document.keep_view(stage=name)
        self.refresh()

    def refresh(self) -> None:
        e = self.context.document.experiment
        names = stages_of(e)
        self.stage.show_choices([(name, STAGES[name].entry, None) for name in names], self._name(e))
        form = view_choices.word(self.context.document.session, "stage_as", self.form.values, "table")
        self.form.show_value(form)
        self._bands.set_count(self.context.arranging.feed.framed(e).n_q)
        self._bodies.setCurrentWidget(self._body(self._name(e)) if form == "heatmap" else self.table)
        self.show_empty(self.context.feed.trace is None)
        self._tell()
        self._ask()

    def body_height(self, width: int) -> int:
        if self._bodies.currentWidget() is self.table:
            return table_height(self.table, width)
        e = self.context.document.experiment
        name = self._name(e)
        drawn = self.context.arranging.feed.framed(e) if STAGES[name].square else e
        return CHROME + CELL_HEIGHT * stage_shape(drawn, name)[0]

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        # when it is opened again, numbers of an older trace would be shown for a moment
        self.model.forget()
        self.picture.forget()

    def _name(self, e: Experiment) -> str:
        """The stage that is looked at; another where ``e`` has no such stage."""
        names = stages_of(e)
        first = FIRST_STAGE if FIRST_STAGE in names else "N"
        return view_choices.word(self.context.document.session, "stage", names, first)

    def _head(self, name: str) -> Head:
        head = self.context.selection.head
        if not STAGES[name].per_head:
            return 0
        return head if head != "mean" or STAGES[name].square else 0

    def _body(self, name: str) -> QWidget:
        """What shows ``name`` as a heatmap; those of square stages are made when they are first looked at."""
        if not STAGES[name].square:
            return self._pictured
        if name not in self.heatmaps:
            self.heatmaps[name] = StageHeatmap(self.context.arranged, name, self._bands, self._columns)
            self._bodies.addWidget(self.heatmaps[name])
        return self.heatmaps[name]

    def _cell_at(self, row: int, column: int) -> Cell | None:
        """The cell of the stage that is in a place of the table."""
        trace = self.context.feed.trace
        if trace is None:
            return None
        name = self._name(trace.experiment)
        return Cell(name, self._head(name), row, column)

    def _ask(self) -> None:
        name = self._name(self.context.document.experiment)
        asks: dict[str, Ask] = {}
        if self.form.value == "table":
            trace = self.context.feed.trace
            e = self.context.document.experiment if trace is None else trace.experiment
            block = self._sight.block((e.n_q, e.n_k))
            head = self._head(name)
            asks[SLOT] = BlockAsk(name, head, *block) if STAGES[name].square else StageAsk(name, head)
        elif not STAGES[name].square:
            asks[SLOT] = PictureAsk(name, self._head(name), size=self.picture.most_cells, diverging=True)
        self.keep_asks(asks)

    def _tell(self) -> None:
        trace = self.context.feed.trace
        e = self.context.document.experiment if trace is None else trace.experiment
        text = told(e, self._name(e), self.context.selection.head)
        follows = STAGES[self._name(e)].square and self.form.value == "heatmap"
        if not follows and arranged(e, self.context.arranging.arrangement) is not None:
            text = f"{EVERY_TOKEN}{BETWEEN}{text}"
        self.told.setText(text)
        self.told.setToolTip(text)

    def _on_traced(self, trace: Trace) -> None:
        if self.isVisible():
            self.show_empty(False)
            self._tell()

    def _on_answered(self, slot: str, answer: object) -> None:
        trace = self.context.feed.trace
        if slot != SLOT or trace is None:
            return
        e = trace.experiment
        if isinstance(answer, StageValues):
            name = answer.ask.stage
            self._show(name, answer.values, (0, 0))
        elif isinstance(answer, Block):
            self._show(answer.ask.stage, answer.values, (answer.rows[0], answer.columns[0]))
            self._ask()
        elif isinstance(answer, NotYet):
            table = layout(e, self._name(e))
            self.model.show_stage(self._name(e), np.zeros((0, 0)), table, e.precision)
        elif isinstance(answer, Picture):
            self.picture.show_picture(answer, layout(e, answer.request.stage))

    def _show(self, name: str, values: NDArray[Any], origin: tuple[int, int]) -> None:
        trace = self.context.feed.trace
        assert trace is not None
        e = trace.experiment
        self.model.show_stage(name, values, layout(e, name), e.precision, origin)
        self.updateGeometry()
        self.table.setAccessibleName(f"{name}, {STAGES[name].what}")

    def _refresh_if_visible(self) -> None:
        if self.isVisible():
            self.refresh()

    def _choose_form(self, form: str) -> None:
        self.context.document.keep_view(stage_as=form)
        self.refresh()
