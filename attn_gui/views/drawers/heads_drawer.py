"""HeadsDrawer: every head at a glance."""

from __future__ import annotations

import math

from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QLabel, QPushButton, QStackedWidget, QWidget

from attn_gui.model import view_choices
from attn_gui.model.asks import Ask, PictureAsk, StatisticsAsk
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.picture import Picture
from attn_gui.model.reshape import head_choices, with_heads, with_variant
from attn_gui.model.session import Session
from attn_gui.model.sources import were_given
from attn_gui.model.stage_shape import missing
from attn_gui.model.statistics import STATISTICS, HeadStatistics
from attn_gui.model.trace import Head, Trace
from attn_gui.model.variant import Variant
from attn_gui.views.context import Context
from attn_gui.views.drawers.drawer import Drawer
from attn_gui.views.drawers.head_grid import GRID, SIDE, HeadGrid
from attn_gui.views.drawers.heads_model import HeadsModel
from attn_gui.views.drawers.segments import Segments
from attn_gui.views.drawers.statistics_page import StatisticsPage
from attn_gui.views.top_bar import Dropdown

STAGES_SHOWN = {"N": "N", "A": "A_masked"}
TABLE = "table"
STATISTICS_SLOT = "heads.statistics"
CAPTIONS = {"shown": "Largest value shown"} | {s.name: s.title for s in STATISTICS}
SCALES = {
    "N": "Each head from 0 to its largest weight",
    "A": "Each head centred on 0, to its largest |score|",
}


class HeadsDrawer(Drawer):
    """A grid of all heads and their mean; the one that is opened is shown in the heatmaps."""

    title = "Heads"
    row_height = GRID.height()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.stage = Segments(context.look, "Show", [("N", "Weights N"), ("A", "Scores A"), (TABLE, "Statistics")])
        self.caption = Dropdown("Caption of each head")
        self.caption.setToolTip("Which number stands below each head")
        self.statistics = StatisticsPage(context)
        self.scale = QLabel()
        self.scale.setObjectName("muted")
        self._model = HeadsModel(self)
        self.grid = HeadGrid(context.look, self._model)
        self.more_heads = QPushButton()
        self.empty.add_button(self.more_heads)
        self._looks = QStackedWidget()
        self._looks.addWidget(self.grid)
        self._looks.addWidget(self.statistics)
        self.fill(self.stage, self.caption, self.scale, body=self._looks)
        self.stage.chosen.connect(self._choose_stage)
        self.caption.chosen.connect(self._choose_caption)
        self.grid.opened.connect(context.selection.set_head)
        self.statistics.table.opened.connect(context.selection.set_head)
        self.grid.sight_changed.connect(self._ask)
        self.more_heads.clicked.connect(self._take_more_heads)
        context.selection.head_changed.connect(self._on_head)
        context.document.changed.connect(self._on_changed)
        context.arranging.changed.connect(self._ask)
        context.feed.traced.connect(self._on_traced)
        context.feed.answered.connect(self._on_answered)
        context.settings.changed.connect(self._on_setting)
        self._on_setting("decimals")
        self.refresh()

    def refresh(self) -> None:
        e = self.context.document.experiment
        session = self.context.document.session
        possible = [*STAGES_SHOWN, TABLE] if e.has_scores else ["N", TABLE]
        stage = view_choices.word(session, "heads_stage", possible, "N")
        self.stage.button("A").setEnabled(e.has_scores)
        self.stage.button("A").setToolTip(missing(e, "A"))
        caption = view_choices.word(session, "heads_caption", CAPTIONS, "shown")
        table = stage == TABLE
        self.stage.show_value(stage)
        self.caption.show_choices([(name, title, None) for name, title in CAPTIONS.items()], caption)
        self.caption.setVisible(not table)
        self.scale.setText(SCALES.get(stage, ""))
        self._looks.setCurrentIndex(1 if table else 0)
        self._model.set_what("score" if stage == "A" else "weight")
        self._model.set_caption(None if caption == "shown" else caption)
        self._model.set_heads(e.heads if e.heads > 1 else 0)
        self._model.set_open(self.context.selection.head)
        if e.heads == 1:
            self._show_empty(e)
        self.show_empty(e.heads == 1 and not table)
        if not self.grid.currentIndex().isValid():
            self._on_head(self.context.selection.head)
        self._ask()

    def body_height(self, width: int) -> int:
        table = self._looks.currentWidget() is self.statistics
        return self.statistics.height_for(width) if table else self.grid.height_for(width)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        # when it is opened again, pictures of an older trace would be shown for a moment
        self._model.keep_only(set())

    def _ask(self) -> None:
        stage = self.stage.value
        pixels = math.ceil(SIDE * self.devicePixelRatioF())
        asks: dict[str, Ask] = {}
        if self.isVisible() and (stage == TABLE or self.caption.currentIndex() > 0):
            asks[STATISTICS_SLOT] = StatisticsAsk()
        if self.isVisible() and stage in STAGES_SHOWN:
            for head in self.grid.in_sight():
                asks[f"head.{head}"] = PictureAsk(
                    STAGES_SHOWN[stage],
                    head,
                    size=(pixels, pixels),
                    diverging=stage == "A",
                    arranged=self.context.arranging.arrangement,
                )
        self.keep_asks(asks)

    def _on_changed(self, before: Session, after: Session) -> None:
        if self.isVisible():
            if before.experiment is not after.experiment:
                # asked for again once the new trace is there, so that many heads never hold up the heatmaps
                self.keep_asks({})
            changed = before.experiment.heads != after.experiment.heads
            changed |= before.experiment.has_scores != after.experiment.has_scores
            if changed or before.view is not after.view:
                self.refresh()
            elif after.experiment.heads == 1:
                self._show_empty(after.experiment)

    def _on_traced(self, trace: Trace) -> None:
        if self.isVisible():
            self._model.keep_only(set(self.grid.in_sight()))
            self._ask()

    def _on_answered(self, slot: str, answer: object) -> None:
        if slot == STATISTICS_SLOT and isinstance(answer, HeadStatistics):
            self._model.put_statistics(answer)
            self.statistics.show_statistics(answer)
        elif isinstance(answer, Picture) and slot == f"head.{answer.request.head}":
            self._model.put(answer.request.head, answer)

    def _on_head(self, head: Head) -> None:
        self._model.set_open(head)
        index = self._model.index(self._model.row(head))
        if index.isValid():
            self.grid.setCurrentIndex(index)
        if isinstance(head, int):
            self.statistics.table.show_line(head)

    def _on_setting(self, name: str) -> None:
        if name == "decimals":
            self._model.set_decimals(min(self.context.settings.decimals, 4))

    def _choose_stage(self, stage: str) -> None:
        self.context.document.keep_view(heads_stage=stage)
        self.refresh()

    def _choose_caption(self, caption: str) -> None:
        self.context.document.keep_view(heads_caption=caption)
        self.refresh()

    def _show_empty(self, e: Experiment) -> None:
        offer: str | None = None
        if e.weights is None:
            given = were_given(e.source)
            text = f"{given} with one head. Give them with a head axis to see several side by side."
        elif e.variant.is_multi_head:
            count = _least_heads(e)
            text = "Choose more heads at the top to see them side by side."
            if count is None:
                text = f"d = {e.d_model} cannot be divided among heads: add a dimension to see several side by side."
            else:
                offer = f"Use {count} heads"
        else:
            text = "Choose a multi-head variant at the top to see several heads side by side."
            offer = f"Use {_multi_head(e).label}"
        self.empty.say(f"{e.variant.label} with one head", text)
        self.more_heads.setText(offer or "")
        self.more_heads.setVisible(offer is not None)

    def _take_more_heads(self) -> None:
        e = self.context.document.experiment
        try:
            if e.variant.is_multi_head:
                count = _least_heads(e) or 1
                self.context.document.apply(f"{count} heads", with_heads(e, count))
            else:
                variant = _multi_head(e)
                self.context.document.apply(f"Variant: {variant.label}", with_variant(e, variant))
        except ExperimentError as error:
            self.context.notices.error(str(error), "heads")


def _multi_head(e: Experiment) -> Variant:
    return Variant.MULTI_HEAD_CROSS if e.variant.is_cross else Variant.MULTI_HEAD_SELF


def _least_heads(e: Experiment) -> int | None:
    """The fewest heads above one that the experiment can have."""
    return next((count for count, reason in head_choices(e) if count > 1 and reason is None), None)
