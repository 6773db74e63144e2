"""The plain sentence: what the selected query looks at, readable aloud, and the example's note under it."""

from __future__ import annotations

from html import escape

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from attn_gui.model.answers import Row
from attn_gui.model.asks import RowAsk
from attn_gui.model.experiment import Experiment
from attn_gui.views.context import Context
from attn_gui.views.elided_label import ElidedLabel
from attn_gui.views.figures import percent

SLOT = "sentence"
# as many keys as one reads in a line; of more, the largest
SHOWN_KEYS = 8


class SentenceBar(QWidget):
    """Shows ``"is" looks at karina 11%, is 22%, ...`` for the selected query."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.sentence = QLabel("starting torch")
        self.sentence.setTextFormat(Qt.TextFormat.RichText)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.sentence.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        font = self.sentence.font()
        font.setPointSizeF(font.pointSizeF() * 1.2)
        self.sentence.setFont(font)
        self.note = ElidedLabel()
        self.note.setObjectName("muted")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 0, 4, 0)
        layout.setSpacing(4)
        layout.addWidget(self.sentence)
        layout.addWidget(self.note)
        context.feed.answered.connect(self._on_answer)
        context.selection.cell_changed.connect(lambda query, key: self._ask())
        context.selection.head_changed.connect(lambda head: self._ask())
        context.document.changed.connect(lambda before, after: self._show_note())
        context.look.changed.connect(self._ask_anew)
        self._row: Row | None = None
        self._ask()
        self._show_note()

    def _ask(self) -> None:
        selection = self._context.selection
        self._context.feed.ask(SLOT, RowAsk(selection.head, selection.query))

    def _ask_anew(self) -> None:
        if self._row is not None:
            self._on_answer(SLOT, self._row)

    def _on_answer(self, slot: str, answer: object) -> None:
        trace = self._context.feed.trace
        if slot != SLOT or not isinstance(answer, Row) or trace is None:
            return
        self._row = answer
        theme = self._context.look.theme
        plain, rich = sentence(trace.experiment, answer, theme.accent, theme.muted)
        self.sentence.setText(rich)
        self.sentence.setAccessibleName(plain)

    def _show_note(self) -> None:
        note = self._context.document.session.named.note
        self.note.setVisible(bool(note))
        self.note.setText(note)
        self.note.setAccessibleName(note)


def sentence(experiment: Experiment, row: Row, accent: str, muted: str) -> tuple[str, str]:
    """The sentence in plain text and in rich text with the largest weight in ``accent``."""
    query = experiment.tokens.tokens[row.i]
    start = ""
    if experiment.heads > 1:
        start = "On the mean of the heads, " if row.head == "mean" else f"In head {row.head + 1}, "
    if not row.allowed.any():
        words = f"{start}“{query}” may look at nothing: the mask forbids every key."
        return words, escape(words)
    candidates = np.flatnonzero(row.allowed)
    order = candidates[np.argsort(-row.N[candidates], kind="stable")]
    chosen = sorted(order[:SHOWN_KEYS].tolist())
    if len(candidates) > SHOWN_KEYS:
        chosen = order[:SHOWN_KEYS].tolist()
    names = [experiment.keys.tokens[j] for j in chosen]
    shares = [percent(float(row.N[j])) for j in chosen]
    plain = ", ".join(f"{name} {share}" for name, share in zip(names, shares, strict=True))
    pieces = []
    for j, name, share in zip(chosen, names, map(escape, shares), strict=True):
        largest = row.N[j] >= row.N[order[0]] * (1 - 1e-6)
        figure = f"<b style='color:{accent}'>{share}</b>" if largest else share
        pieces.append(f"{escape(name)}&nbsp;{figure}")
    rich = "&nbsp;&nbsp; ".join(pieces)
    rest = len(candidates) - len(chosen)
    if rest:
        left = percent(max(0.0, row.total - float(sum(row.N[j] for j in chosen))))
        plain += f", {rest:,} others {left}"
        rich += f"&nbsp;&nbsp; <span style='color:{muted}'>{rest:,} others {escape(left)}</span>"
    head = f"{escape(start)}<b>“{escape(query)}”</b> looks at&nbsp;&nbsp; "
    return f"{start}“{query}” looks at {plain}.", head + rich
