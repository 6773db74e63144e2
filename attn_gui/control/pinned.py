"""Pinned: the trace that was put aside, to be compared with whatever comes."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.model.experiment import Experiment
from attn_gui.model.trace import Trace


class Pinned(QObject):
    """Keeps the trace, so that nothing is computed again; over undo, examples and files, until it is let go of."""

    changed = Signal()

    def __init__(self, feed: Feed, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.trace: Trace | None = None
        self.name = ""
        self._feed = feed
        self._document = document
        self._wanted: tuple[Experiment, str] | None = None
        feed.traced.connect(self._on_traced)

    def pin(self) -> None:
        """Keep the present experiment in place of another one; if it is still being computed, once it is there."""
        self._wanted = self._document.experiment, self._document.session.named.name
        if self._feed.trace is not None:
            self._on_traced(self._feed.trace)

    def unpin(self) -> None:
        """Let go of it."""
        self._wanted = None
        if self.trace is not None:
            self.trace, self.name = None, ""
            self.changed.emit()

    def _on_traced(self, trace: Trace) -> None:
        if self._wanted is not None and trace.experiment is self._wanted[0]:
            self.trace, self.name = trace, self._wanted[1]
            self._wanted = None
            self.changed.emit()
