"""LayersDrawer: the heads of all layers at a glance, told apart by their scores."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QStackedWidget, QWidget

from attn_gui.control.overview import Overview
from attn_gui.control.overview_jobs import Scored
from attn_gui.files.scores_csv import LayerScores
from attn_gui.model import view_choices
from attn_gui.model.asks import PictureAsk
from attn_gui.model.counted import counted
from attn_gui.model.head_scores import HEAD_SCORES
from attn_gui.model.layers import HeadAt, rollout_reason
from attn_gui.model.session import Session
from attn_gui.model.trace import Head
from attn_gui.views import half_typed
from attn_gui.views.context import Context
from attn_gui.views.drawers.drawer import Drawer
from attn_gui.views.drawers.heads_drawer import STAGES_SHOWN, TABLE
from attn_gui.views.drawers.segments import Segments
from attn_gui.views.drawers.statistics_table import ROW_HEIGHT
from attn_gui.views.layers.layers_grid import GRID, SIDE, LayersGrid
from attn_gui.views.layers.layers_model import LayersModel
from attn_gui.views.layers.scores_model import ScoresModel
from attn_gui.views.layers.scores_page import TOPIC, ScoresPage
from attn_gui.views.layers.sieve import ALL, BY_LAYER, LARGEST, LEAST, MOST, SMALLEST, Sieve
from attn_gui.views.number_field import NumberField
from attn_gui.views.top_bar import Dropdown

ORDERS = [(BY_LAYER, "By layer"), (LARGEST, "Largest first"), (SMALLEST, "Smallest first")]
KEPT = [(ALL, "All heads", None), (LEAST, "At least", None), (MOST, "At most", None)]
STAGES = [("N", "Weights N"), ("A", "Scores A"), (TABLE, "Table")]
# between two looks at scores that are coming in; a work that is over before is not spoken of
LOOK_MS, PATIENCE_MS = 250, 300


class LayersDrawer(Drawer):
    """A grid of layers and heads, ordered and filtered by a score; the head that is opened is shown in the heatmaps."""

    title = "Layers"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.overview = Overview(context.worker, context.document, self)
        self.model = LayersModel(context.document.session, self)
        self.grid = LayersGrid(context.look, self.model)
        self.lines = ScoresModel(self.model.known, self)
        self.page = ScoresPage(context, self.lines, self._all_scores)
        self.stage = Segments(context.look, "Show", STAGES)
        self.score = Dropdown("Score of each head")
        self.order = Segments(context.look, "Order", ORDERS)
        self.keep = Dropdown("Heads kept")
        self.keep.setToolTip("Leave out heads by their score")
        self.keep.setMinimumContentsLength(9)
        self.limit = NumberField("Limit of the score", self._choose_limit)
        self.limit.setFixedWidth(64)
        self.unit, self.told = QLabel(), QLabel()
        self.told.setObjectName("muted")
        self.cancel = QPushButton("Cancel")
        self.cancel.setToolTip("Leave the heads that are not scored yet")
        self.rollout = QPushButton("Attention rollout")
        self._looks = QStackedWidget()
        self._looks.addWidget(self.grid)
        self._looks.addWidget(self.page)
        keeping = QWidget()
        row = QHBoxLayout(keeping)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        for part in (self.keep, self.limit, self.unit):
            row.addWidget(part)
        self.fill(self.stage, self.score, self.order, keeping, self.rollout, self.told, self.cancel, body=self._looks)
        self._drawn = self.stage.value, context.arranging.arrangement
        self._stopped = False
        self._part = 0.0
        self._ask_soon, self._look_soon, self._tell_soon = (QTimer(self) for _ in range(3))
        for timer, wait, do in (
            (self._ask_soon, 0, self._ask),
            (self._look_soon, LOOK_MS, self._look_again),
            (self._tell_soon, PATIENCE_MS, self._tell),
        ):
            timer.setSingleShot(True)
            timer.setInterval(wait)
            timer.timeout.connect(do)
        self.stage.chosen.connect(lambda stage: self._choose(layers_stage=stage))
        self.score.chosen.connect(self._choose_score)
        self.order.chosen.connect(lambda order: self._choose(layers_order=order))
        self.keep.chosen.connect(lambda keep: self._choose(layers_keep=keep))
        self.cancel.clicked.connect(self._stop)
        self.rollout.clicked.connect(self._roll_out)
        self.grid.opened.connect(self._open)
        self.grid.sight_changed.connect(self._ask_soon.start)
        self.page.table.opened.connect(lambda line: self._open(self.lines.at(line).layer, self.lines.at(line).head))
        self.overview.pictured.connect(self.model.put_picture)
        self.overview.scored.connect(self._on_scored)
        self.overview.progressed.connect(self._on_progress)
        self.overview.rested.connect(self._look_again)
        self.overview.failed.connect(lambda text: context.notices.error(text, TOPIC))
        context.selection.head_changed.connect(lambda head: self._mark())
        context.arranging.changed.connect(lambda: self.refresh() if self.isVisible() else None)
        context.document.changed.connect(self._on_changed)
        context.document.device_changed.connect(lambda device: self._on_other_device())
        self.refresh()

    def refresh(self) -> None:
        session = self.context.document.session
        sieve = Sieve.of(session)
        stage = view_choices.word(session, "layers_stage", [*STAGES_SHOWN, TABLE], "N")
        # whatever else they would be pictures of, those that are there are of something else
        drawn = stage, self.context.arranging.arrangement
        if drawn != self._drawn:
            self._drawn = drawn
            self.overview.want_pictures([], self._picture_ask())
            self.model.known.forget_pictures()
        self.stage.show_value(stage)
        self.score.show_choices([(score.name, score.title, None) for score in HEAD_SCORES], sieve.score)
        self.score.setToolTip(f"{sieve.statistic.title} = {sieve.statistic.formula}\n{sieve.statistic.about}")
        self.order.show_value(sieve.order)
        self.order.setVisible(stage != TABLE)
        self.keep.show_choices(KEPT, sieve.keep)
        self.limit.show_number(sieve.limit * 100 if sieve.statistic.percent else sieve.limit)
        self.limit.setVisible(sieve.keep != ALL)
        self.unit.setText("%" if sieve.statistic.percent else "")
        self.unit.setVisible(sieve.keep != ALL and sieve.statistic.percent)
        self._looks.setCurrentIndex(1 if stage == TABLE else 0)
        self.row_height = ROW_HEIGHT if stage == TABLE else GRID.height()
        other = sieve != self.model.sieve
        self.model.set_session(session)
        self.model.set_sieve(sieve)
        self._mark()
        # a button that is disabled hands the keyboard to the grid, which then stays where it is
        refused = rollout_reason(session)
        self.rollout.setEnabled(refused is None)
        self.rollout.setToolTip(
            refused or "What of each token reaches each token through all layers, as one more picture"
        )
        if other and sieve.ranks:
            self.grid.show_first()
        self._look_again()
        self.show_empty(False)
        self._ask_soon.start()

    def body_height(self, width: int) -> int:
        shown = self.page if self._looks.currentWidget() is self.page else self.grid
        return shown.height_for(width)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.overview.forget()

    def _ask(self) -> None:
        """Have computed what is in sight and not there yet."""
        if not self.isVisible():
            return
        known, table = self.model.known, self.stage.value == TABLE
        in_sight = [] if table else self.grid.in_sight()
        self.overview.want_pictures(known.without_picture(in_sight), self._picture_ask())
        wanted = in_sight
        if table or self.model.sieve.takes_all:
            wanted = [*in_sight, *known.heads()]
        if not self._stopped:
            self.overview.want_scores(known.without_scores(dict.fromkeys(wanted)))
            self._tell_soon.start()

    def _picture_ask(self) -> PictureAsk:
        pixels, stage = math.ceil(SIDE * self.devicePixelRatioF()), self.stage.value
        return PictureAsk(
            STAGES_SHOWN.get(stage, "N"),
            size=(pixels, pixels),
            diverging=stage == "A",
            arranged=self.context.arranging.arrangement,
        )

    def _on_changed(self, before: Session, after: Session) -> None:
        if before.experiments is not after.experiments:
            self._stopped = False
        if self.isVisible():
            self.refresh()

    def _on_other_device(self) -> None:
        self.overview.forget()
        self.model.known.forget()
        if self.isVisible():
            self.refresh()

    def _on_scored(self, answer: Scored) -> None:
        self.model.put_scores(answer)
        if (self.model.sieve.takes_all or self.stage.value == TABLE) and not self._look_soon.isActive():
            self._look_soon.start()

    def _on_progress(self, part: float) -> None:
        self._part = part
        if not self._tell_soon.isActive():
            self._tell()

    def _look_again(self) -> None:
        """Bring the order, the table and the counts up to date with the scores that have come."""
        if self.model.sieve.ranks:
            self.model.rank()
        if self.stage.value == TABLE:
            document = self.context.document
            self.lines.show(document.session, self.model.sieve, self.context.settings.decimals)
            line = self.lines.line(HeadAt(document.session.current, self.context.selection.head))
            if line is not None:
                self.page.table.show_line(line)
        self.page.refresh()
        self._tell()

    def _tell(self) -> None:
        """Say how many heads stay, and how far the scores are."""
        busy = self.overview.busy and not self._tell_soon.isActive()
        staying, there = self.model.count()
        heads = counted(there, "head")
        words = f"{staying:,} of {heads}" if self.model.sieve.keep != ALL else heads
        self.told.setText(f"{words}, computing {self._part:.0%}" if busy else words)
        self.cancel.setVisible(busy)

    def _mark(self) -> None:
        layer, head = self.context.document.session.current, self.context.selection.head
        self.model.set_open(layer, head)
        if not self.grid.hasFocus():
            self.grid.show_place(HeadAt(layer, head))

    def _open(self, layer: int, head: Head | None) -> None:
        if half_typed.commit():
            self.context.document.show(layer)
            if head is not None:
                self.context.selection.set_head(head)

    def _choose(self, **choices: Any) -> None:
        self._stopped = False
        self.context.document.keep_view(**choices)
        self.refresh()

    def _choose_score(self, name: str) -> None:
        # a limit of one score says nothing of another
        self._choose(layers_score=name, layers_keep=ALL)

    def _choose_limit(self, number: float) -> None:
        self._choose(layers_limit=number / 100 if self.model.sieve.statistic.percent else number)

    def _stop(self) -> None:
        self._stopped = True
        self.overview.stop()

    def _roll_out(self) -> None:
        self.context.notices.withdraw(TOPIC)
        self._part = 0.0
        self.overview.roll_out()
        self._tell_soon.start()

    def _all_scores(self) -> list[LayerScores] | None:
        known, found = self.model.known, []
        for layer, named in enumerate(self.context.document.session.experiments):
            rows = [known.scores(HeadAt(layer, head)) for head in range(named.experiment.heads)]
            there = [row for row in rows if row is not None]
            if len(there) < len(rows):
                return None
            found.append(LayerScores(named.name, named.place, np.stack(there)))
        return found
