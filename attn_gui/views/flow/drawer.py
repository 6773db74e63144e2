"""FlowDrawer: the weights as lines from queries to keys."""

from __future__ import annotations

from PySide6.QtGui import QAction, QHideEvent
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget

from attn_gui.model import view_choices
from attn_gui.model.flow import Flow, FlowAsk
from attn_gui.model.session import Session
from attn_gui.model.trace import Head, Trace
from attn_gui.views.context import Context
from attn_gui.views.drawers.drawer import Drawer
from attn_gui.views.drawers.segments import Segments
from attn_gui.views.elided_label import ElidedLabel
from attn_gui.views.flow.figure import FlowFigure
from attn_gui.views.flow.legend import Legend
from attn_gui.views.flow.outlet import Outlet
from attn_gui.views.flow.places import HEADER, ROW
from attn_gui.views.flow.threshold import LAST, Threshold, weight_at
from attn_gui.views.flow.view import FlowView
from attn_gui.views.flow.words import isolated_sentence, shown_sentence

SLOT = "flow"
SELECTED, SUM, ALL = CHOICES = "selected", "sum", "all"
MOST_DECIMALS = 4
GAP = 4
WAITS = "The lines come in as soon as they are there."
HIDDEN = "The weights are hidden until the exercise is checked."


class FlowDrawer(Drawer):
    """Of the head that the selection says, of several heads added up, or of each of them in a colour of its own."""

    title = "Flow"
    row_height = 4

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        # it draws the tokens that the heatmaps draw
        super().__init__(context.arranged, parent)
        context = self.context
        self.heads = Segments(
            context.look, "Lines of", [(SELECTED, "Selected head"), (SUM, "Sum of heads"), (ALL, "Each head")]
        )
        self.legend = Legend(context.look)
        self.threshold = Threshold()
        self.view = FlowView(context)
        self.canvas = self.view.canvas
        self._refused = False
        self.told = ElidedLabel()
        self.told.setObjectName("muted")
        self.outlet = Outlet(context, self.figure, self)
        self.copy_picture = self._action("Copy &picture", self.outlet.copy)
        self.save_picture = self._action("&Save as PNG or SVG…", self.outlet.ask_and_save)
        self.view.extra = [self.copy_picture, self.save_picture]
        self.empty.say("Starting torch", "The lines fill in as soon as it is there.")
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(self.view, 1)
        column.addWidget(self.told)
        self.fill(self.heads, self.legend, self.threshold, self._fit_button(), body=body)
        self.heads.chosen.connect(lambda value: self._keep(flow_heads=value))
        self.threshold.chosen.connect(lambda position: self._keep(flow_from=position))
        self.legend.changed.connect(self.refresh)
        self.view.sight_changed.connect(self._ask)
        self.canvas.isolated_changed.connect(self._tell)
        context.selection.head_changed.connect(lambda head: self._refresh_if_visible())
        context.document.changed.connect(self._on_changed)
        context.feed.traced.connect(self._on_traced)
        context.feed.answered.connect(self._on_answered)
        context.settings.changed.connect(self._on_setting)
        self._on_setting("decimals")
        self.refresh()

    def refresh(self) -> None:
        session, trace = self.context.document.session, self.context.feed.trace
        several = session.experiment.heads > 1
        self.heads.show_value(view_choices.word(session, "flow_heads", CHOICES, SELECTED))
        self.legend.offer(session.experiment.heads, coloured=self.heads.value == ALL)
        self.threshold.show_position(self._position, self._heaviest)
        self.heads.setVisible(several)
        self.legend.setVisible(several and self.heads.value != SELECTED)
        self.view.show_experiment(self.context.feed.framed(session.experiment if trace is None else trace.experiment))
        if self.canvas.flow is not None and self.canvas.flow.ask.arranged != self.context.feed.arrangement:
            self.canvas.show_flow(None)
        self.show_empty(trace is None)
        self._ask()

    def body_height(self, width: int) -> int:
        e = self.canvas.experiment
        return HEADER + round(ROW) * max(e.n_q, e.n_k) + GAP + self.told.sizeHint().height()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        # when it is opened again, lines of an older trace would be shown for a moment
        self.canvas.show_flow(None)

    def _heads(self) -> tuple[Head, ...]:
        several = self.context.document.experiment.heads > 1
        return self.legend.heads if several and self.heads.value != SELECTED else (self.context.selection.head,)

    def _ask(self) -> None:
        places = self.view.places
        windows = places.in_sight("query"), places.in_sight("key")
        least = weight_at(self._position, self._heaviest)
        self.keep_asks({SLOT: FlowAsk(self._heads(), *windows, least, summed=self._summed)})

    @property
    def _summed(self) -> bool:
        return self.context.document.experiment.heads > 1 and self.heads.value == SUM

    @property
    def _heaviest(self) -> int:
        return len(self._heads()) if self._summed else 1

    @property
    def _position(self) -> int:
        return view_choices.whole(self.context.document.session, "flow_from", 0, LAST, 0)

    def _tell(self) -> None:
        flow, e = self.canvas.flow, self.canvas.experiment
        if flow is None:
            text = HIDDEN if self._refused else WAITS
        elif self.canvas.isolated is not None:
            text = isolated_sentence(self.canvas.isolated, flow, e, self.canvas.decimals)
        else:
            text = shown_sentence(flow, e)
        self.told.setText(text)
        self.canvas.describe(text)

    def figure(self) -> FlowFigure | None:
        """What is in sight, for a picture."""
        flow = self.canvas.flow
        return None if flow is None else FlowFigure(self.canvas.scene, flow, self.context.document.session.named.name)

    def _on_changed(self, before: Session, after: Session) -> None:
        if self.isVisible() and before.experiment is not after.experiment:
            self.refresh()

    def _on_traced(self, trace: Trace) -> None:
        if self.isVisible():
            self.refresh()

    def _on_answered(self, slot: str, answer: object) -> None:
        if slot == SLOT and self.isVisible():
            if isinstance(answer, Flow) and answer.ask.arranged != self.context.feed.arrangement:
                return  # it was drawn otherwise
            self._refused = answer is None
            self.canvas.show_flow(answer if isinstance(answer, Flow) else None)
            self.updateGeometry()

    def _on_setting(self, name: str) -> None:
        if name == "decimals":
            self.canvas.decimals = min(self.context.settings.decimals, MOST_DECIMALS)
            self.canvas.update()
            self._tell()

    def _refresh_if_visible(self) -> None:
        if self.isVisible():
            self.refresh()

    def _keep(self, **choices: object) -> None:
        self.context.document.keep_view(**choices)
        self.refresh()

    def _fit_button(self) -> QToolButton:
        button = QToolButton()
        button.setText("Fit")
        button.setToolTip("Bring every token into sight, if that can be (0); Ctrl and the wheel zoom")
        button.clicked.connect(self.view.fit)
        return button

    def _action(self, text: str, do: object) -> QAction:
        action = QAction(text, self)
        action.triggered.connect(do)
        return action
