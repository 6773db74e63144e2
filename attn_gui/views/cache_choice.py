"""CacheChoice: how many of the keys are the cache, as in decoding."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from attn_gui.model.cache import most_past, with_past
from attn_gui.model.errors import ExperimentError
from attn_gui.views.context import Context
from attn_gui.views.text_field import why
from attn_gui.views.whole_field import WholeField


class CacheChoice(QWidget):
    """Moves tokens between the present ones and the cache before them; no key changes by it."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.count = WholeField()
        self.count.setSpecialValueText("none")
        self.count.setAccessibleName("Tokens in the cache")
        self.count.setToolTip("So many tokens are keys of the cache: others look at them, and they look no longer")
        self.reason = QLabel()
        self.reason.setWordWrap(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self.count)
        row.addWidget(self.reason, 1)
        self.count.valueChanged.connect(self._choose)
        context.document.changed.connect(lambda before, after: self._refresh())
        self._refresh()

    def _refresh(self) -> None:
        e = self._context.document.experiment
        most = most_past(e)
        with QSignalBlocker(self.count):
            self.count.setRange(0, most)
            self.count.setSuffix(" token" if e.offset == 1 else " tokens")
        self.count.show_whole(e.offset)
        reason = "Values have embeddings of their own" if e.values is not None else ""
        if most == 0:
            reason = "There is one key, and one must be present"
        self.count.setEnabled(not reason)
        self._say(reason, "muted")

    def _choose(self, count: int) -> None:
        e = self._context.document.experiment
        try:
            self._context.document.apply("Tokens in the cache", with_past(e, count), "cache")
        except ExperimentError as error:
            self._say(why(error), "error")

    def _say(self, text: str, name: str) -> None:
        if name != self.reason.objectName():
            self.reason.setObjectName(name)
            self.reason.style().polish(self.reason)
        self.reason.setText(text)
        self.count.setAccessibleDescription(text)
