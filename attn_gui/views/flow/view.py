"""FlowView: the canvas with a scroll bar for either column; which tokens are in sight, and how large."""

from __future__ import annotations

import math
from dataclasses import replace

from PySide6.QtCore import QPointF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QKeySequence, QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QScrollBar, QWidget

from attn_gui.model.experiment import Experiment
from attn_gui.views.context import Context
from attn_gui.views.flow.canvas import Canvas
from attn_gui.views.flow.places import HEADER, HIGHEST_ROW, ROW, WINDOW_ROW, Places, Side, least_pitch, whole_pitch

ZOOM = 1.25
# scroll bars that come and go change the size that they depend on; it settles at once, or never
SETTLING = 3
# eighths of a degree of one notch, and tokens that it scrolls
NOTCH, TOKENS_A_NOTCH = 120.0, 3


class FlowView(QWidget):
    """``sight_changed`` tells that other tokens are in sight.

    The wheel scrolls both columns, over the names of one that column; with Ctrl it zooms at the pointer.
    """

    sight_changed = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.canvas = Canvas(context.look, context.selection, context.feed.framed(context.document.experiment))
        self._laying_out = False
        self._pitch: float | None = None  # None: every token is in sight, if that can be
        self.bars: dict[Side, QScrollBar] = {"query": _bar("Queries"), "key": _bar("Keys")}
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.bars["query"])
        row.addWidget(self.canvas, 1)
        row.addWidget(self.bars["key"])
        for bar in self.bars.values():
            bar.valueChanged.connect(self._on_scrolled)
        self.canvas.sight_wanted.connect(self.bring_into_sight)
        self.canvas.resized.connect(self._on_resized)
        self.zoom_in = self._action("Zoom &in", ["+", "="], lambda: self._zoom(ZOOM))
        self.zoom_out = self._action("Zoom &out", ["-"], lambda: self._zoom(1 / ZOOM))
        self.fit_all = self._action("&Fit", ["0"], self.fit)
        self.extra: list[QAction] = []
        self._selection = context.selection
        context.selection.cell_changed.connect(self._on_selected)

    @property
    def places(self) -> Places:
        return self.canvas.places

    def show_experiment(self, experiment: Experiment) -> None:
        """Lay out the tokens of ``experiment``."""
        before = self.canvas.experiment
        self.canvas.show_experiment(experiment)
        self._lay_out(self.places.top_q, self.places.top_k)
        if (before.n_q, before.n_k) != (experiment.n_q, experiment.n_k):
            self._find_selected()

    def fit(self) -> None:
        """Bring every token into sight, if that can be."""
        self._pitch = None
        self._lay_out(self.places.top_q, self.places.top_k)

    def bring_into_sight(self, side: Side, index: int) -> None:
        top, rows = self.places.top(side), self.places.rows
        wanted = min(top, index) if index < top else max(top, index + 1 - rows)
        self._scroll_to({side: wanted})

    def wheelEvent(self, event: QWheelEvent) -> None:
        notches = (event.angleDelta().y() or event.angleDelta().x()) / NOTCH
        at = self.canvas.mapFrom(self, event.position())
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._zoom(ZOOM**notches, at)
        else:
            places = self.places
            sides: list[Side] = ["query", "key"]
            if at.x() < places.left or at.x() > places.right:
                sides = ["query" if at.x() < places.left else "key"]
            step = notches * TOKENS_A_NOTCH * max(1.0, ROW / places.pitch)
            self._scroll_to({side: places.top(side) - step for side in sides})
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions(self.extra)
        menu.addSeparator()
        menu.addActions([self.zoom_in, self.zoom_out, self.fit_all])
        menu.popup(event.globalPos())

    def _zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Make tokens ``factor`` times as high, leaving what lies at the point ``at``, or at the top, where it is."""
        places, height = self.places, float(self.canvas.height())
        below = 0.0 if at is None else max(0.0, at.y() - HEADER)
        pitch = max(least_pitch(height), min(places.pitch * factor, HIGHEST_ROW))
        fixed = (places.top(side) + below / places.pitch - below / pitch for side in ("query", "key"))
        whole = whole_pitch(height, max(places.n_q, places.n_k))
        # in and out again is where one was, to within rounding
        self._pitch = None if whole is not None and pitch < whole * 1.001 else pitch
        self._lay_out(*fixed)

    def _lay_out(self, top_q: float, top_k: float) -> None:
        if self._laying_out:
            return  # a bar that comes or goes has changed the width, which is read once they stand
        self._laying_out = True
        try:
            for _ in range(SETTLING):
                self._lay_out_once(top_q, top_k)
                if (self.places.width, self.places.height) == (self.canvas.width(), self.canvas.height()):
                    break
        finally:
            self._laying_out = False

    def _lay_out_once(self, top_q: float, top_k: float) -> None:
        e, canvas = self.canvas.experiment, self.canvas
        height = float(canvas.height())
        pitch = self._pitch or whole_pitch(height, max(e.n_q, e.n_k)) or WINDOW_ROW
        pitch = max(pitch, least_pitch(height))
        laid = Places(e.n_q, e.n_k, float(canvas.width()), height, pitch, canvas.labels)
        tops = {"query": top_q, "key": top_k}
        ends = {side: max(0, math.ceil((laid.count(side) - laid.rows) * pitch - 1e-6)) for side in self.bars}
        for side, bar in self.bars.items():
            bar.setVisible(ends[side] > 0)
        laid = replace(laid, width=float(canvas.width()))
        for side, bar in self.bars.items():
            with QSignalBlocker(bar):
                bar.setRange(0, ends[side])
                bar.setPageStep(max(1, int(laid.rows * pitch)))
                bar.setSingleStep(max(1, round(pitch)))
                bar.setValue(round(tops[side] * pitch))
        self._show(laid)

    def _scroll_to(self, tops: dict[Side, float]) -> None:
        for side, top in tops.items():
            self.bars[side].setValue(round(top * self.places.pitch))

    def _on_scrolled(self) -> None:
        self._show(self.places)

    def _show(self, laid: Places) -> None:
        before = self.places
        tops = {side: bar.value() / laid.pitch for side, bar in self.bars.items()}
        self.canvas.show_places(replace(laid, top_q=tops["query"], top_k=tops["key"]))
        if any(before.in_sight(side) != self.places.in_sight(side) for side in self.bars):
            self.sight_changed.emit()

    def _on_resized(self) -> None:
        self._lay_out(self.places.top_q, self.places.top_k)
        self._find_selected()

    def _find_selected(self) -> None:
        """Bring the selected tokens to the middle where they are out of sight."""
        places, tops = self.places, dict[Side, float]()
        selected: dict[Side, int] = {"query": self._selection.query, "key": self._selection.key}
        for side, index in selected.items():
            seen = places.top(side) <= index <= places.top(side) + places.rows - 1
            if index < places.count(side) and not seen:
                tops[side] = index + 0.5 - places.rows / 2
        self._scroll_to(tops)

    def _on_selected(self, query: int, key: int) -> None:
        cell: dict[Side, int] = {"query": query, "key": key}
        for side, index in cell.items():
            if index < self.places.count(side):
                self.bring_into_sight(side, index)

    def _action(self, text: str, keys: list[str], do: object) -> QAction:
        action = QAction(text, self)
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.triggered.connect(do)
        self.addAction(action)
        return action


def _bar(name: str) -> QScrollBar:
    bar = QScrollBar(Qt.Orientation.Vertical)
    bar.setAccessibleName(f"Scroll: {name.lower()}")
    bar.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    bar.hide()
    return bar
