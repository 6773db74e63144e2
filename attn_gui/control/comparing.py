"""Comparing: has a comparison made in the worker, and its figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from attn_gui.control.feed import Feed
from attn_gui.control.worker import Priority, Steps, Worker
from attn_gui.files.csv_matrix import write_matrix
from attn_gui.files.layout import Layout, layout
from attn_gui.model.answers import NotYet
from attn_gui.model.asks import Ask, CellAsk, SumAsk
from attn_gui.model.comparison import Comparison, Figures, Side, frame, in_float64
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision
from attn_gui.model.trace import Trace

if TYPE_CHECKING:
    from attn_gui.compute.comparing.pair import Pair

MAKE, FIGURES, PASS, CSV = "compare", "compare figures", "compare pass", "compare csv"


class SideFeed(Feed):
    """A Feed of a trace that is handed to it. The slots of several have to differ: they share one worker."""

    @property
    def busy(self) -> bool:
        return False

    def show(self, trace: Trace | None) -> None:
        """Answer from ``trace`` from now on, or nothing any more."""
        self.trace = trace
        for slot in self._asks:
            self._worker.cancel(slot)
        if trace is not None:
            self.traced.emit(trace)
            for slot in list(self._asks):
                self._have_answered(slot)

    def ask(self, slot: str, ask: Ask | None) -> None:
        # a cell is read out on both sides at once, by whoever shows the comparison
        if not isinstance(ask, CellAsk | SumAsk):
            super().ask(slot, ask)


class Comparing(QObject):
    """One comparison at a time, in three feeds: ``left``, ``right`` and ``difference``.

    ``changed``: there is another one, or none, or one that has to wait for rows (``waiting``); the feeds have not told
    of it yet. ``figures_changed``: figures of some or of all rows. ``written(path)`` or ``not_written(error)`` ends a
    CSV.
    """

    changed = Signal()
    figures_changed = Signal()
    written = Signal(object)
    not_written = Signal(object)

    def __init__(self, worker: Worker, feed: Feed, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.pair: Pair | None = None
        self.figures: Figures | None = None
        self.waiting = False
        self._worker = worker
        self._feed = feed
        self.asked: Comparison | None = None  # what there is, or is to be
        self.left, self.right, self.difference = (SideFeed(worker, self) for _ in range(3))
        for each in (self.left, self.right, self.difference):
            each.failed.connect(feed.failed)

    def compare(self, comparison: Comparison | None) -> None:
        """Have ``comparison`` made, or let go of the one that there is."""
        if comparison == self.asked:
            return
        self.asked = comparison
        for key in (MAKE, FIGURES, PASS):
            self._worker.cancel(key)
        if comparison is None:
            self._take(None)
            return
        made = self._on_made
        self._worker.submit(MAKE, lambda: _made(comparison), Priority.ASK, made, self._feed.failed.emit)

    def again(self) -> None:
        """Make the comparison anew if there are rows that were not there before."""
        if self.waiting or (self.figures is not None and isinstance(self.figures.cosine, str)):
            asked, self.asked = self.asked, None
            self.compare(asked)

    def write_csv(self, path: Path) -> None:
        """Write the difference, as far as both sides go, to ``path``. Raises RuntimeError before there is one."""
        if self.pair is None:
            raise RuntimeError("there is no difference yet")
        matrix, table = self.pair.matrices[2], common(self.pair.comparison, self.pair.comparison.right.experiment)
        columns = slice(0, matrix.shape[1])
        self._worker.submit(
            CSV,
            lambda: write_matrix(path, table, lambda rows: matrix.block(rows, columns), Precision.FLOAT64),
            Priority.BACKGROUND,
            lambda _: self.written.emit(path),
            self.not_written.emit,
            owed=True,
        )

    def _on_made(self, made: Pair | NotYet) -> None:
        self._take(None if isinstance(made, NotYet) else made, waiting=isinstance(made, NotYet))
        failed = self._feed.failed.emit
        if self.pair is not None:
            pair, tell = self.pair, self._on_figures
            self._worker.submit(FIGURES, lambda: _figures(pair), Priority.REFINE, tell, failed, partly=tell)
        if self.asked is not None:
            trace, head = self.asked.left.trace, self.asked.left.head
            # nobody else goes over the rows of a trace that is not the present one
            if trace is not self._feed.trace and trace.part() < 1:
                self._worker.submit(PASS, lambda: trace.passes([head]), Priority.PASS, lambda _: self.again(), failed)

    def _take(self, pair: Pair | None, *, waiting: bool = False) -> None:
        self.pair, self.waiting = pair, waiting
        self.figures = None
        self.changed.emit()
        shown = (None, None, None) if pair is None else (pair.left, pair.right, pair.difference)
        for feed, trace in zip((self.left, self.right, self.difference), shown, strict=True):
            feed.show(trace)

    def _on_figures(self, figures: Figures) -> None:
        self.figures = figures
        self.figures_changed.emit()
        if figures.done and self.pair is not None and not self.pair.drawn[2].knows_its_ends:
            # the colours end at the largest difference, which only now is known
            self.difference.show(self.pair.difference)


def common(comparison: Comparison, experiment: Experiment) -> Layout:
    """What ``experiment`` calls the rows and columns that both sides have."""
    table = layout(experiment, comparison.stage)
    rows, columns = comparison.shape
    return Layout(table.row_kind, table.column_kind, table.rows[:rows], table.columns[:columns])


def common_drawn(comparison: Comparison, side: Side) -> Layout:
    """The same of what is drawn of a side."""
    found = comparison.drawn(side)
    table = layout(side.experiment if found is None else found.frame, comparison.stage)
    rows, columns = comparison.drawn_shape
    return Layout(table.row_kind, table.column_kind, table.rows[:rows], table.columns[:columns])


def _made(comparison: Comparison) -> Steps:
    # imported here, in the worker: the first paint does not wait for torch
    from attn_gui.compute.comparing.pair import pair

    left, right = (_framed(comparison, side) for side in comparison.sides)
    return (yield from pair(comparison, (left, right, in_float64(right))))


def _framed(comparison: Comparison, side: Side) -> Experiment:
    named, found = common_drawn(comparison, side), comparison.drawn(side)
    return frame(side.experiment if found is None else found.frame, comparison.stage, named.rows, named.columns)


def _figures(pair: Pair) -> Steps:
    from attn_gui.compute.comparing.figures import figures

    return (yield from figures(pair))
