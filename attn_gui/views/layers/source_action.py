"""SourceAction: copies how what is selected is had from the file that it was opened from."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence

from attn_gui.model.source_expression import NO_FILE, source_expression
from attn_gui.views.context import Context

TOPIC = "clipboard"


class SourceAction(QAction):
    """Of the queries and keys that are picked by their labels, or else of the selected cell; off without a file."""

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__("Copy as &source expression", parent)
        self._context = context
        self.setShortcut(QKeySequence("Ctrl+Alt+C"))
        self.triggered.connect(self._copy)
        context.document.changed.connect(lambda before, after: self._refresh())
        self._refresh()

    def text_of_selection(self) -> str:
        """The expression, "" where there is none."""
        selection = self._context.selection
        queries, keys = selection.queries, selection.keys
        if not queries and not keys:
            queries, keys = frozenset({selection.query}), frozenset({selection.key})
        return source_expression(self._context.document.session.named, "N", selection.head, queries, keys)

    def _copy(self) -> None:
        text = self.text_of_selection()
        if text:
            QGuiApplication.clipboard().setText(text)
            self._context.notices.info(f"Copied {'; '.join(text.splitlines())}", TOPIC)
        else:
            self._context.notices.warn(f"{NO_FILE}: there is no expression for it", TOPIC)

    def _refresh(self) -> None:
        known = bool(self.text_of_selection())
        self.setEnabled(known)
        self.setStatusTip("Such as np.load('attn.npy')[12, 7, 34:50]" if known else NO_FILE)
