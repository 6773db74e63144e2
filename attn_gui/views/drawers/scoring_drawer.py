"""ScoringDrawer: every step from queries and keys to weights, in the order in which they are done."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from attn_gui.model.session import Session
from attn_gui.views.context import Context
from attn_gui.views.drawers.columns import Columns
from attn_gui.views.drawers.drawer import Drawer
from attn_gui.views.scoring.bias_group import BiasGroup
from attn_gui.views.scoring.group import GAP, Group
from attn_gui.views.scoring.groups import NormaliserGroup, NormGroup, PositionGroup
from attn_gui.views.scoring.kv_group import KVGroup
from attn_gui.views.scoring.rotary_group import RotaryGroup
from attn_gui.views.scoring.sink_group import SinkGroup
from attn_gui.views.scoring.temperature_group import TemperatureGroup


class ScoringDrawer(Drawer):
    """A group for each step; each change is one undo step."""

    title = "Scoring"
    row_height = 4

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.kv = KVGroup(context)
        self.position = PositionGroup(context)
        self.norm = NormGroup(context)
        self.rotary = RotaryGroup(context)
        self.temperature = TemperatureGroup(context)
        self.bias = BiasGroup(context)
        self.normaliser = NormaliserGroup(context)
        self.sinks = SinkGroup(context)
        self.groups: list[Group] = [
            self.kv,
            self.position,
            self.norm,
            self.rotary,
            self.temperature,
            self.bias,
            self.normaliser,
            self.sinks,
        ]
        inside = QWidget()
        around = QVBoxLayout(inside)
        around.setContentsMargins(0, 0, 0, 0)
        columns = Columns(GAP)
        for group in self.groups:
            columns.addWidget(group)
        around.addLayout(columns)
        around.addStretch(1)
        self._inside = inside
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(inside)
        self.fill(body=area)
        context.document.changed.connect(self._on_changed)
        self.refresh()

    def refresh(self) -> None:
        for group in self.groups:
            group.show_experiment(self.context.document.experiment)
            group.show_whether_idle(self.context.document.experiment)
        # what scrolls tells nobody that it has grown
        self.updateGeometry()

    def body_height(self, width: int) -> int:
        return self._inside.heightForWidth(width)

    def _on_changed(self, before: Session, after: Session) -> None:
        if self.isVisible() and before.experiment is not after.experiment:
            self.refresh()
