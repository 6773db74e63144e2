"""The plain sentence: what the selected query looks at, readable aloud, and the example's note under it."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from attn_gui.model.answers import Row
from attn_gui.model.asks import RowAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision
from attn_gui.views.context import Context
from attn_gui.views.cut_text import beginning, first_lines
from attn_gui.views.figures import percentages, shown
from attn_gui.views.nothing_yet import nothing_yet

SLOT = "sentence"
# as many keys as one reads in a line, or fewer where it has no room for them; of more, the largest
SHOWN_KEYS = 8
# letters of a name; a longer one is cut, and whole in the tool tip
LONGEST_NAME = 24
NOTE_LINES = 2
# characters; more are not to be seen in these lines
LONGEST_NOTE = 4_000
SIDE = 4
# of numbers with two decimals
LEAST = 0.01
ROUNDING = 1e-5
NOTE_GAP = 4


class NoteFolding:
    """How the note gives way."""

    def __init__(self, bar: SentenceBar) -> None:
        self._bar = bar
        self.folded = False

    @property
    def spare(self) -> int:
        note = self._bar.note
        return note.maximumHeight() + NOTE_GAP if note.text() else 0

    def fold(self, pixels: int) -> int:
        self.folded = pixels > 0
        self._bar.note.setVisible(bool(self._bar.note.text()) and not self.folded)
        return self.spare if self.folded else 0


class SentenceBar(QWidget):
    """Shows ``"is" looks at karina 11%, is 22%, ...`` for the selected query."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.sentence = QLabel(nothing_yet(context.feed))
        self.sentence.setTextFormat(Qt.TextFormat.RichText)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.sentence.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        font = self.sentence.font()
        font.setPointSizeF(font.pointSizeF() * 1.2)
        self.sentence.setFont(font)
        self.note = QLabel()
        self.note.setObjectName("muted")
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setWordWrap(True)
        # of more lines than there is room for, the last are out of sight, and none is cut
        self.note.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._note = ""
        self.note_folding = NoteFolding(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SIDE, 0, SIDE, 0)
        layout.setSpacing(NOTE_GAP)
        layout.addWidget(self.sentence)
        layout.addWidget(self.note)
        # of the tokens or words that the heatmaps draw
        self._feed, self._selection = context.arranged.feed, context.arranged.selection
        self._feed.traced.connect(lambda trace: self._forget())
        self._feed.answered.connect(self._on_answer)
        context.feed.failed.connect(lambda error: self._on_failure())
        self._selection.cell_changed.connect(lambda query, key: self._ask())
        self._selection.head_changed.connect(lambda head: self._ask())
        context.document.changed.connect(lambda before, after: self._show_note())
        context.look.changed.connect(self._ask_anew)
        self._row: Row | None = None
        self._ask()
        self._show_note()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._size_note()
        self._ask_anew()

    def _size_note(self) -> None:
        width = max(1, self.width() - 2 * SIDE)
        self.note.setText(first_lines(self._note, self.note.font(), width, NOTE_LINES))
        # a height that depends on the width would not count when the window is short of room
        metrics = self.note.fontMetrics()
        room = QRect(0, 0, width, 1 << 16)
        needed = metrics.boundingRect(room, Qt.TextFlag.TextWordWrap, self.note.text()).height()
        self.note.setFixedHeight(min(needed, NOTE_LINES * metrics.lineSpacing()))

    def _ask(self) -> None:
        self._feed.ask(SLOT, RowAsk(self._selection.head, self._selection.query))

    def _forget(self) -> None:
        # of tokens that are no longer there, or no longer drawn
        self._row = None

    def _on_failure(self) -> None:
        if self._context.feed.trace is None:
            self.sentence.setText(nothing_yet(self._context.feed))

    def _ask_anew(self) -> None:
        if self._row is not None:
            self._on_answer(SLOT, self._row)

    def _on_answer(self, slot: str, answer: object) -> None:
        trace = self._feed.trace
        if slot != SLOT or not isinstance(answer, Row) or trace is None:
            return
        self._row = answer
        theme, frame = self._context.look.theme, self._feed.experiment
        plain, rich = sentence(trace.experiment, answer, theme.accent, theme.muted, frame=frame)
        self.sentence.setText(rich)
        keys = SHOWN_KEYS
        while keys > 1 and self.sentence.sizeHint().width() > self.width() - 2 * SIDE:
            keys -= 1
            self.sentence.setText(sentence(trace.experiment, answer, theme.accent, theme.muted, keys, frame)[1])
        self.sentence.setAccessibleName(plain)
        self.sentence.setToolTip(f"<p>{escape(plain)}</p>" if "…" in rich or keys < SHOWN_KEYS else "")

    def _show_note(self) -> None:
        note = beginning(self._context.document.session.named.note, LONGEST_NOTE)
        self.note.setVisible(bool(note) and not self.note_folding.folded)
        self._note = note
        self.note.setToolTip(f"<p>{escape(note)}</p>" if note else "")
        self.note.setAccessibleName(note)
        self._size_note()


def out_of_range(experiment: Experiment) -> str:
    """Why a number is none, and what to do about it."""
    if not experiment.has_scores:
        return "it was given so"
    if not all(np.isfinite(array).all() for array in experiment.arrays()):
        return "numbers that it comes from are not finite themselves"
    widest = experiment.precision is Precision.FLOAT64
    remedy = "use smaller numbers" if widest else "choose a larger precision under More"
    return f"a score left the range of {experiment.precision}; {remedy}"


def sentence(
    experiment: Experiment,
    row: Row,
    accent: str,
    muted: str,
    most: int = SHOWN_KEYS,
    frame: Experiment | None = None,
) -> tuple[str, str]:
    """The sentence, with at most ``most`` keys, in plain text and in rich text with the largest weights in ``accent``.

    Few keys stand in their order, of many the largest first. A name that occurs twice has its place behind it. The
    names stand in quotes, all of them, unless every key of the text is a plain word. What lies on keys that are not
    drawn is told after the others. Where rows need not sum to 1 it ends with what this one sums to.

    frame: whose tokens are called as the row and the keys are drawn, where these are not those of ``experiment``.
    """
    drawn = experiment if frame is None else frame
    tokens = drawn.keys.tokens
    query = beginning(drawn.tokens.tokens[row.i])
    start = ""
    if experiment.heads > 1:
        start = "On the mean of the heads, " if row.head == "mean" else f"In head {row.head + 1}, "
    candidates = np.flatnonzero(row.allowed)
    if not len(candidates) and not row.hidden:
        every = "every key that is not hidden" if row.hidden_keys else "every key"
        words = f"{start}“{query}” may look at nothing: the mask forbids {every}."
        return words, escape(words)
    if not np.isfinite(row.N[candidates]).all() or not math.isfinite(row.hidden):
        words = f"{start}“{query}” looks at what is not a number: {out_of_range(experiment)}."
        return words, escape(words)
    # a single one left over would be hidden to save no room
    few = len(candidates) <= most + 1
    chosen = candidates.tolist() if few else _largest(row.N, candidates, most)
    top = float(row.N[candidates].max(initial=0)) * (1 - 1e-6)
    weights = [float(row.N[j]) for j in chosen]
    rest = len(candidates) - len(chosen)
    others = row.total - row.hidden - math.fsum(weights) if rest else 0.0
    *shares, left, unseen = _figures([*weights, others, row.hidden], row.total)
    plain, rich = [], []
    quoted = not all(map(str.isalpha, tokens))
    for j, share in zip(chosen, shares, strict=True):
        name, seen = (f"“{text}”" if quoted else text for text in (beginning(tokens[j]), _cut(tokens[j])))
        place = str(j + 1) if tokens.count(tokens[j]) > 1 else ""
        figure = f"<b style='color:{accent}'>{escape(share)}</b>" if row.N[j] >= top else escape(share)
        plain.append(f"{name} {f'({place}) ' if place else ''}{share}")
        rich.append(f"{escape(seen)}{f'<sub>{place}</sub>' if place else ''}&nbsp;{figure}")
    further = [f"{rest:,} others {left}"] if rest else []
    if row.hidden_keys:
        further.append(f"{row.hidden_keys:,} hidden token{'s' if row.hidden_keys > 1 else ''} {unseen}")
    plain += further
    rich += [f"<span style='color:{muted}'>{escape(words)}</span>" for words in further]
    head = f"{escape(start)}<b>“{escape(_cut(query))}”</b> looks at&nbsp;&nbsp; "
    total = "" if experiment.sums_to_one else f" (row sums to {_sum(row.total)})"
    end = f"&nbsp;&nbsp; <span style='color:{muted}'>{escape(total.strip())}</span>" if total else ""
    return f"{start}“{query}” looks at {', '.join(plain)}{total}.", head + "&nbsp;&nbsp; ".join(rich) + end


def _figures(weights: list[float], total: float) -> list[str]:
    """Weights as percentages where they are parts of one whole, and as numbers where they are not."""
    # what is left of a sum may come out a little below 0
    least = -ROUNDING * max(1.0, total)
    parts = [0.0 if least < weight < 0 else weight for weight in weights]
    if total <= 1 + LEAST / 2 and min(parts) >= 0:
        return percentages(parts)
    return [_sum(part) for part in parts]


def _largest(N: NDArray[Any], candidates: NDArray[np.intp], count: int) -> list[int]:
    """The ``count`` keys of the largest weights, the largest first, and of equal ones those that come first."""
    weights = N[candidates]
    least = np.partition(weights, -count)[-count]
    picked = candidates[weights >= least]
    ordered: list[int] = picked[np.argsort(-N[picked], kind="stable")][:count].tolist()
    return ordered


def _cut(token: str) -> str:
    return token if len(token) <= LONGEST_NAME else f"{token[: LONGEST_NAME - 1]}…"


def _sum(total: float) -> str:
    """A sum in two figures after the point, as many as percentages have, and never 0 where it is not."""
    return "<0.01" if 0 < total < LEAST / 2 else shown(total, 2)
