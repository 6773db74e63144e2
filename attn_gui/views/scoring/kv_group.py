"""KV heads: how many heads keys and values have."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget

from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.kv_heads import kv_head_choices, with_kv_heads
from attn_gui.views.context import Context
from attn_gui.views.scoring.group import Group
from attn_gui.views.top_bar import Dropdown


class KVGroup(Group):
    """As many as there are heads, or fewer, each shared by several (grouped-query), or one (multi-query)."""

    title = "KV heads"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.count = Dropdown("KV heads")
        self.told = QLabel()
        self.told.setObjectName("muted")
        self.told.setWordWrap(True)
        self.column.addWidget(self.count)
        self.column.addWidget(self.told)
        self.finish()
        self.count.chosen.connect(self._choose)

    def show_experiment(self, experiment: Experiment) -> None:
        e = experiment
        choices = [(count, str(count), None) for count, reason in kv_head_choices(e) if reason is None]
        self.count.show_choices(choices, e.kv_heads)
        self.count.setEnabled(e.heads > 1 and e.has_values)
        self.told.setText(_told(e))

    def _choose(self, count: int) -> None:
        e = self.context.document.experiment
        if count == e.kv_heads:
            return
        try:
            self.apply(f"KV heads: {count}", with_kv_heads(e, count))
        except ExperimentError as error:
            self.refused(error)


def _told(e: Experiment) -> str:
    if not e.has_values:
        return "There are no values that heads could share"
    if e.heads == 1:
        return "With several heads, keys and values can be shared among them"
    if e.kv_heads == e.heads:
        return "Each head has keys and values of its own"
    if e.kv_heads == 1:
        return "Multi-query: all heads share one set of keys and values"
    return f"Grouped-query: {e.heads // e.kv_heads} heads share each set of keys and values"
