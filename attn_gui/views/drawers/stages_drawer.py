"""StagesDrawer: any stage of the computation, as a table of exact numbers or as a heatmap."""

from __future__ import annotations

from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QLabel, QStackedLayout, QStackedWidget, QVBoxLayout, QWidget

from attn_gui.files.layout import layout
from attn_gui.model import view_choices
from attn_gui.model.answers import StageValues
from attn_gui.model.asks import Ask, PictureAsk, StageAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.picture import Picture
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head, Trace
from attn_gui.views.bands import Bands
from attn_gui.views.context import Context
from attn_gui.views.drawers.array_picture import ArrayPicture
from attn_gui.views.drawers.drawer import Drawer, EmptyState
from attn_gui.views.drawers.flow import Flow
from attn_gui.views.drawers.segments import Segments
from attn_gui.views.drawers.stage_heatmap import StageHeatmap
from attn_gui.views.drawers.stage_model import StageModel
from attn_gui.views.drawers.stage_table import StageTable
from attn_gui.views.drawers.stage_text import told
from attn_gui.views.heatmap.columns import Columns
from attn_gui.views.top_bar import Dropdown

SLOT = "stages"
FIRST_STAGE = "Q"


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
        self.picture = ArrayPicture(context)
        self.waiting = EmptyState()
        self.waiting.say("Starting torch", "The stages fill in as soon as it is there.")
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
        top = Flow()
        for part in (self.stage, self.form, self.told):
            top.addWidget(part)
        filled = QWidget()
        column = QVBoxLayout(filled)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(8)
        column.addLayout(top)
        column.addWidget(self._bodies, 1)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(filled)
        self._pages.addWidget(self.waiting)
        self.stage.chosen.connect(self.show_stage)
        self.form.chosen.connect(self._choose_form)
        self.picture.resized.connect(self._ask)
        context.selection.head_changed.connect(lambda head: self._refresh_if_visible())
        context.document.changed.connect(lambda before, after: self._refresh_if_visible())
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
        self.stage.show_choices([(name, f"{name}   {STAGES[name].what}", None) for name in names], self._name(e))
        form = view_choices.word(self.context.document.session, "stage_as", self.form.values, "table")
        self.form.show_value(form)
        self._bands.set_count(e.n_q)
        self._bodies.setCurrentWidget(self._body(self._name(e)) if form == "heatmap" else self.table)
        self._pages.setCurrentIndex(0 if self.context.feed.trace is not None else 1)
        self._tell()
        self._ask()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        # when it is opened again, numbers of an older trace would be shown for a moment
        self.model.forget()
        self.picture.forget()

    def _name(self, e: Experiment) -> str:
        """The stage that is looked at; another where ``e`` has no such stage."""
        return view_choices.word(self.context.document.session, "stage", stages_of(e), FIRST_STAGE)

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
            self.heatmaps[name] = StageHeatmap(self.context, name, self._bands, self._columns)
            self._bodies.addWidget(self.heatmaps[name])
        return self.heatmaps[name]

    def _ask(self) -> None:
        name = self._name(self.context.document.experiment)
        asks: dict[str, Ask] = {}
        if self.form.value == "table":
            asks[SLOT] = StageAsk(name, self._head(name))
        elif not STAGES[name].square:
            asks[SLOT] = PictureAsk(name, self._head(name), size=self.picture.most_cells, diverging=True)
        self.keep_asks(asks)

    def _tell(self) -> None:
        trace = self.context.feed.trace
        e = self.context.document.experiment if trace is None else trace.experiment
        text = told(e, self._name(e), self.context.selection.head)
        self.told.setText(text)
        self.told.setToolTip(text)

    def _on_traced(self, trace: Trace) -> None:
        if self.isVisible():
            self._pages.setCurrentIndex(0)
            self._tell()

    def _on_answered(self, slot: str, answer: object) -> None:
        trace = self.context.feed.trace
        if slot != SLOT or trace is None:
            return
        e = trace.experiment
        if isinstance(answer, StageValues):
            name = answer.ask.stage
            self.model.show_stage(name, answer.values, layout(e, name), e.precision)
            self.table.setAccessibleName(f"{name}, {STAGES[name].what}")
        elif isinstance(answer, Picture):
            self.picture.show_picture(answer, layout(e, answer.request.stage))

    def _refresh_if_visible(self) -> None:
        if self.isVisible():
            self.refresh()

    def _choose_form(self, form: str) -> None:
        self.context.document.keep_view(stage_as=form)
        self.refresh()
