"""Both heatmaps side by side, as the window has them, and what they should look like by an independent reckoning."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.tokens import TokenSequence
from attn_gui.views.context import Context
from attn_gui.views.heatmap.heatmap import Heatmap
from attn_gui.views.heatmap_panel import HeatmapPanel


class Pair(QWidget):
    """The panels of A and N on one context, laid out and, once :meth:`show_experiment` returns, computed."""

    def __init__(self, qtbot: QtBot, context: Context, size: tuple[int, int] = (1000, 440)) -> None:
        super().__init__()
        self._qtbot = qtbot
        self.context = context
        context.settings.reduced_motion = True
        self.A, self.N = HeatmapPanel(context, "A"), HeatmapPanel(context, "N")
        self.A.share_columns(self.N)
        row = QHBoxLayout(self)
        row.addWidget(self.A, 1)
        row.addWidget(self.N, 1)
        context.document.changed.connect(lambda before, after: self._count(after.experiment))
        self._count(context.document.experiment)
        qtbot.addWidget(self)
        self.resize(*size)
        self.show()
        qtbot.waitExposed(self)

    def show_experiment(self, experiment: Experiment) -> None:
        """Open ``experiment`` and wait until it is on screen."""
        self.context.document.open(Session((NamedExperiment("test", experiment),)), None)
        self.context.document.start()
        self.settle()

    def settle(self) -> None:
        """Until nothing is computed or asked for any more."""
        context = self.context

        def settled() -> bool:
            trace = context.feed.trace
            # what a layout asks for comes with the next turn of the event loop
            QApplication.processEvents()
            return trace is not None and trace.experiment is context.document.experiment and not context.worker.busy

        self._qtbot.waitUntil(settled, timeout=30_000)
        self._qtbot.wait(1)
        self._qtbot.waitUntil(settled, timeout=30_000)

    def _count(self, experiment: Experiment) -> None:
        self.context.bands.set_count(experiment.n_q)
        self.context.selection.fit(experiment)


def random_experiment(n_q: int, n_k: int | None = None, seed: int = 0, **fields: object) -> Experiment:
    """Standard normal embeddings; with ``n_k`` a cross-attention."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_q, 6))
    context = None
    if n_k is not None:
        context = TokenSequence.of([f"k{j}" for j in range(n_k)], random.standard_normal((n_k, 6)))
    return Experiment.from_tokens([f"q{i}" for i in range(n_q)], X, context=context, **fields)


def reference(experiment: Experiment) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A (before the mask), N and what is allowed of a single head with identity weights, in plain numpy."""
    X, Y = experiment.tokens.embeddings.array(), experiment.keys.embeddings.array()
    A = X @ Y.T / np.sqrt(X.shape[1])
    allowed = experiment.allowed(slice(0, experiment.n_q), slice(0, experiment.n_k))
    masked = np.where(allowed, A, -np.inf)
    top = masked.max(axis=1, keepdims=True)
    raised = np.where(allowed, np.exp(masked - np.where(np.isfinite(top), top, 0)), 0.0)
    total = raised.sum(axis=1, keepdims=True)
    return A, np.divide(raised, total, out=np.zeros_like(raised), where=total > 0), allowed


def grabbed(heatmap: Heatmap) -> QImage:
    """What the matrix's area looks like."""
    return heatmap.plot.canvas.grab().toImage()


def place(heatmap: Heatmap, i: int, j: int, dx: float = 0.5, dy: float = 0.5) -> QPoint:
    """A point of a cell in the plot's coordinates, ``dx``, ``dy`` of the way across it."""
    plot, bands, columns = heatmap.plot, heatmap.context.bands, heatmap.plot.columns
    width = plot.area.width() / (columns.right - columns.left)
    x = plot.area.left() + (j + dx - columns.left) * width
    y = bands.header + (i + dy - bands.top) * bands.pitch
    return QPoint(int(x), int(y))


def is_one_of(colour: QColor, table: np.ndarray, index: float, off: int = 1) -> bool:
    """Whether ``colour`` is that of ``index`` in ``table``, or of a neighbour (rounding)."""
    rgb = (colour.red(), colour.green(), colour.blue())
    nearest = round(index)
    return any(tuple(table[k, :3]) == rgb for k in range(max(0, nearest - off), min(253, nearest + off) + 1))


Wait = Callable[[], None]
LEFT = Qt.MouseButton.LeftButton
