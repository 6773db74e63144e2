"""The line of why: where the weight of the selected cell comes from, step by step, with its real numbers."""

from __future__ import annotations

import math
from html import escape
from pathlib import Path

import numpy as np
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from attn_gui.files.derivation_text.line import number as signed
from attn_gui.files.derivation_text.line import pieces
from attn_gui.model.answers import Reading
from attn_gui.model.arranging import arranged
from attn_gui.model.asks import CellAsk
from attn_gui.model.derivation import Cell, Derivation, DerivationAsk
from attn_gui.model.derivation.writing import writing, written
from attn_gui.model.experiment import Experiment
from attn_gui.model.normalisers.softmax_one import SoftmaxOne
from attn_gui.model.precision import Precision
from attn_gui.views.context import Context
from attn_gui.views.cut_text import beginning
from attn_gui.views.figures import common_decimals, figure, shown
from attn_gui.views.masks.words import forbidden_by
from attn_gui.views.sentence_bar import out_of_range

SLOT = "why"
# terms of q . k written out; of longer vectors the largest ones
SHOWN_TERMS = 4
SHOWN_HEADS = 8
# what is rounded to less than the decimals shown is said to be
WIDE = (Precision.FLOAT64, Precision.FLOAT32)


class WhyLine(QFrame):
    """Shows the arithmetic behind selection.query, selection.key; ``open_steps`` has all of its steps shown.

    Where heatmaps draw one number for the pieces of words, it is that number's.
    """

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.setObjectName("panel")
        self.line = QLabel()
        self.line.setTextFormat(Qt.TextFormat.RichText)
        self.line.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.line.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        # always two lines: the panels above must not jump as one goes from cell to cell
        self.line.setFixedHeight(2 * self.line.fontMetrics().lineSpacing() + 4)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.setSpacing(12)
        layout.addWidget(self.line)
        self.open_steps = QAction("All &steps", self)
        self.open_steps.setToolTip("Every step to this weight, with links to where each number came from (Enter)")
        self.open_steps.setStatusTip("Every step to the selected weight, with its real numbers")
        self.open_steps.triggered.connect(self._open_steps)
        button = QToolButton()
        button.setDefaultAction(self.open_steps)
        button.setAccessibleName("All steps to this weight")
        layout.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        # its own double click would select a word
        self.line.installEventFilter(self)
        self._answer: Reading | Derivation | None = None
        context.feed.answered.connect(self._on_answer)
        context.selection.cell_changed.connect(lambda query, key: self._ask())
        context.selection.head_changed.connect(lambda head: self._ask())
        context.arranging.changed.connect(self._ask)
        context.feed.traced.connect(lambda trace: self._ask())
        context.settings.changed.connect(lambda name: self._show())
        context.look.changed.connect(self._show)
        self._ask()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open_steps()
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.line and event.type() == QEvent.Type.MouseButtonDblClick:
            self._open_steps()
            return True
        return super().eventFilter(watched, event)

    def _open_steps(self) -> None:
        selection = self._context.selection
        cell = Cell("N", selection.head, selection.query, selection.key)
        selection.ask_why(cell, self._context.arranging.arrangement)

    def _ask(self) -> None:
        selection, arrangement = self._context.selection, self._context.arranging.arrangement
        place = selection.head, selection.query, selection.key
        found = arranged(self._experiment, arrangement)
        merged = found is not None and found.merges_at(selection.query, selection.key)
        self._context.feed.ask(SLOT, DerivationAsk("N", *place, arrangement) if merged else CellAsk(*place))

    @property
    def _experiment(self) -> Experiment:
        trace = self._context.feed.trace
        return self._context.document.experiment if trace is None else trace.experiment

    def _on_answer(self, slot: str, answer: object) -> None:
        if slot == SLOT:
            # there is none of what an exercise hides
            self._answer = answer if isinstance(answer, Reading | Derivation) else None
            self._show()

    def _show(self) -> None:
        e, answer = self._experiment, self._answer
        if self._context.feed.trace is None or answer is None:
            self.line.setText("")
            self.line.setToolTip("")
            self.line.setAccessibleName("")
            return
        decimals = self._context.settings.decimals
        if isinstance(answer, Derivation):
            steps = merged_derivation(answer, decimals)
        elif answer.i < e.n_q and answer.j < e.n_k:
            origin = self._context.document.session.named.origin
            where = "" if origin is None else f" in {beginning(Path(origin.path).name)}"
            steps = derivation(e, answer, decimals, where)
        else:
            return
        theme = self._context.look.theme
        head = f"<b style='color:{theme.accent}'>Why {escape(steps[0], quote=False)}?</b>&nbsp;&nbsp; "
        head += f"{escape(steps[1], quote=False)}<br>"
        arrow = f" <span style='color:{theme.muted}'>&nbsp;›&nbsp;</span> "
        self.line.setText(head + arrow.join(escape(step, quote=False) for step in steps[2:]))
        self.line.setToolTip("" if len(steps) < 3 else " › ".join(steps[2:]))
        self.line.setAccessibleName(f"Why {steps[0]}? " + "; ".join(steps[1:]))


def merged_derivation(answer: Derivation, decimals: int) -> list[str]:
    """The same of a number that is made of those of several tokens: how it is added up."""
    steps = [signed(written(answer.value, decimals)), answer.what]
    for step in answer.steps:
        steps.append(f"{step.name}: {''.join(piece.text for piece in pieces(writing(step, decimals)))}")
    return steps


def derivation(experiment: Experiment, reading: Reading, decimals: int, where: str = "") -> list[str]:
    """The weight, then the steps that lead to it, as text. What is exactly 0 is 0, what is only nearly so is not.

    where: " in attn.npy", for what was given.
    """

    def number(value: float) -> str:
        return figure(value, decimals)

    query, key = (beginning(t) for t in (experiment.tokens.tokens[reading.i], experiment.keys.tokens[reading.j]))
    steps = [number(reading.N), f"“{query}” → “{key}”"]
    if reading.head == "mean":
        heads = [number(float(weight)) for weight in reading.each_head[:SHOWN_HEADS]]
        more = len(reading.each_head) - len(heads)
        listed = " + ".join(heads) + (f" + {more} more" if more else "")
        return [*steps, f"mean over heads ({listed}) ÷ {len(reading.each_head)}"]
    if not reading.allowed:
        by = forbidden_by(reading.because)
        return [*steps, f"masked {by}, so its weight is 0", f"without the mask its score would be {number(reading.A)}"]
    if not experiment.has_scores:
        return [*steps, f"weight given{where}, not computed"]
    if not math.isfinite(reading.N):
        return [*steps, out_of_range(experiment)]
    steps += _scored(experiment, reading, decimals, where)
    rounded = "" if experiment.precision in WIDE else f" in {experiment.precision}"
    *before, last = _weighed(experiment, reading, decimals)
    return [*steps, *before, f"{last} = {number(reading.N)}{rounded}"]


def _scored(experiment: Experiment, reading: Reading, decimals: int, where: str) -> list[str]:
    """The steps to the score."""

    def number(value: float) -> str:
        return figure(value, decimals)

    scoring, steps = experiment.scoring, []
    if not experiment.has_queries:
        before = reading.A - reading.bias if scoring.biases else reading.A
        steps.append(f"score {number(before)} given{where}")
    else:
        steps += _computed(experiment, reading, decimals)
    if scoring.biases:
        sign = "+" if reading.bias > 0 else ""
        steps.append(f"bias {sign}{_short(reading.bias, decimals)} = {number(reading.A)}")
    return steps


def _computed(experiment: Experiment, reading: Reading, decimals: int) -> list[str]:
    """The steps from the two vectors to the score before a bias."""
    scoring, steps = experiment.scoring, []
    steps.append(f"q·k = {_terms(reading, decimals)} = {_short(reading.raw, decimals)}")
    by = f"÷ √{experiment.d_k}" if scoring.scale is None else f"× {_short(scoring.scale, decimals)}"
    cooled = "" if scoring.temperature == 1 else f" ÷ {_short(scoring.temperature, decimals)}"
    steps.append(f"{by}{cooled} = {figure(reading.scaled, decimals)}")
    if scoring.softcap is not None:
        steps.append(f"softcap {_short(scoring.softcap, decimals)} = {figure(reading.capped, decimals)}")
    return steps


def _weighed(experiment: Experiment, reading: Reading, decimals: int) -> list[str]:
    """The steps from score to weight, the last without its result."""
    normaliser, sink = experiment.scoring.normaliser, reading.sink
    if math.isnan(reading.total):  # its weights are no shares of exponentials
        # what has parameters says them; of the others each looks at the whole row, and not at this score alone
        told = normaliser.written("it") if any(normaliser.parameters()) else normaliser.name
        return [told if sink is None else f"{told} with sink {_short(sink, decimals)}"]
    exponential = "exp"
    if reading.shift:
        largest = "row maximum" if reading.shift == reading.row_maximum else "sink"
        exponential = f"exp(it − {largest} {shown(reading.shift, decimals)})"
    row = "1 + the row's sum" if normaliser.kind == SoftmaxOne.kind else "the row's sum"
    if sink is not None:
        row += f" with the sink's {shown(math.exp(sink - reading.shift), decimals)}"
    return [
        f"{exponential} = {shown(reading.exponential, decimals)}",
        f"÷ {shown(reading.total, decimals)} ({row})",
    ]


def _terms(reading: Reading, decimals: int) -> str:
    q, k, products = reading.q, reading.k, reading.products
    places = common_decimals(np.concatenate([q, k]), decimals, least=0)
    size = len(products)
    if size <= SHOWN_TERMS:
        chosen = list(range(size))
    else:
        chosen = sorted(np.argsort(-np.abs(products), kind="stable")[: SHOWN_TERMS - 1].tolist())
    text = " + ".join(f"{_factor(q[t], places)}×{_factor(k[t], places)}" for t in chosen)
    if len(chosen) < size:
        with np.errstate(invalid="ignore", over="ignore"):
            rest = float(products.sum() - products[chosen].sum())
        text += f" + {size - len(chosen)} more ({figure(rest, decimals)})"
    return text


def _factor(value: float, places: int) -> str:
    text = figure(float(value), places)
    return f"({text})" if value < 0 else text


def _short(value: float, decimals: int) -> str:
    return figure(value, common_decimals([value], decimals, least=0))
