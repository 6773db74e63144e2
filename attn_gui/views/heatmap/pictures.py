"""Pictures: asks for what a heatmap has in sight, and keeps what has come."""

from __future__ import annotations

import math

from PySide6.QtCore import QObject, Signal

from attn_gui.control.feed import Feed
from attn_gui.model.asks import PictureAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.picture import ColourMapping, Picture
from attn_gui.model.trace import Head, Pooling
from attn_gui.views.heatmap.grid import Grid

# of a part, as much again is asked for on every side, so that moving about shows no gaps
MARGIN = 0.5
LARGEST_SIDE = 4096


class Pictures(QObject):
    """``changed(before)``: there is a new picture; ``before`` is the one it takes the place of, or None."""

    changed = Signal(object)

    def __init__(self, feed: Feed, slot: str, stage: str, *, diverging: bool, parent: QObject) -> None:
        super().__init__(parent)
        self._feed = feed
        self._slot = slot
        self.stage = stage
        self.diverging = diverging
        self.head: Head = 0
        self.mapping: ColourMapping = "linear"
        self.pooling: Pooling = "max"
        self.experiment: Experiment | None = None
        self.latest: Picture | None = None
        self._whole: Picture | None = None
        self._asked: PictureAsk | None = None
        self._cell: tuple[float, float] = (0.0, 0.0)
        feed.answered.connect(self._on_answer)

    @property
    def layers(self) -> list[Picture]:
        """What to draw, from below: the whole matrix where the latest picture is only a part of it."""
        layers = [] if self._whole is None or self._whole is self.latest else [self._whole]
        return layers if self.latest is None else [*layers, self.latest]

    def look_at(self, grid: Grid, ratio: float) -> None:
        """Ask for what ``grid`` has in sight, at ``ratio`` device pixels a pixel, unless it was asked for already."""
        cell = grid.cell_height * ratio, grid.cell_width * ratio
        area = max(1, math.ceil(grid.height * ratio)), max(1, math.ceil(grid.width * ratio))
        window, size = self._needed(grid, cell, area)
        asked = PictureAsk(self.stage, self.head, window, size, self.pooling, self.mapping, self.diverging)
        if asked != self._asked:
            self._asked, self._cell = asked, cell
            self._feed.ask(self._slot, asked)

    @property
    def ask(self) -> PictureAsk:
        """What is asked for."""
        return self._asked or PictureAsk(
            self.stage, self.head, pooling=self.pooling, mapping=self.mapping, diverging=self.diverging
        )

    def _needed(
        self, grid: Grid, cell: tuple[float, float], area: tuple[int, int]
    ) -> tuple[tuple[int, int, int, int] | None, tuple[int, int]]:
        """The window and the size to ask for."""
        size = min(area[0], LARGEST_SIDE), min(area[1], LARGEST_SIDE)
        if self.experiment is None:
            return None, size
        shape = grid.n_q, grid.n_k
        seen = grid.queries.start, grid.queries.stop, grid.keys.start, grid.keys.stop
        if _fits(shape, size) or (seen[1] - seen[0], seen[3] - seen[2]) == shape:
            kept = self._asked
            # while every cell has its pixel, a change of size changes nothing
            if kept is not None and kept.window is None and _fits(shape, size) and _fits(shape, kept.size):
                size = kept.size
            return None, size
        kept = self._asked
        if kept is not None and kept.window is not None and _contains(kept.window, seen):
            top, bottom, left, right = kept.window
            if self._cell == cell or _fits((bottom - top, right - left), kept.size):
                return kept.window, kept.size
        top, bottom = _widened(seen[0], seen[1], grid.n_q)
        left, right = _widened(seen[2], seen[3], grid.n_k)
        height = min(LARGEST_SIDE, math.ceil((bottom - top) * cell[0]))
        width = min(LARGEST_SIDE, math.ceil((right - left) * cell[1]))
        return (top, bottom, left, right), (max(1, height), max(1, width))

    def _on_answer(self, slot: str, answer: object) -> None:
        experiment = self._feed.experiment
        if slot != self._slot or not isinstance(answer, Picture) or experiment is None:
            return
        before = self.latest
        shape = experiment.n_q, experiment.n_k
        self.latest = answer
        if _covers(answer, shape):
            self._whole = answer
        elif self._whole is not None and not self._belongs(answer, shape):
            self._whole = None
        self.experiment = experiment
        self.changed.emit(before)

    def _belongs(self, answer: Picture, shape: tuple[int, int]) -> bool:
        """Whether the picture kept of the whole may lie under ``answer``."""
        if self._whole is None:
            return False
        whole, part = self._whole.request, answer.request
        return _covers(self._whole, shape) and (whole.stage, whole.head, whole.mapping) == (
            part.stage,
            part.head,
            part.mapping,
        )


def _covers(picture: Picture, shape: tuple[int, int]) -> bool:
    """Whether ``picture`` is one of a whole matrix of ``shape``; its last blocks may reach a little beyond it."""
    axes = zip((picture.request.rows, picture.request.columns), picture.index.shape, shape, strict=True)
    return all(start == 0 and length <= stop < length + stop / cells for (start, stop), cells, length in axes)


def _fits(cells: tuple[int, int], size: tuple[int, int]) -> bool:
    return cells[0] <= size[0] and cells[1] <= size[1]


def _contains(window: tuple[int, int, int, int], seen: tuple[int, int, int, int]) -> bool:
    return window[0] <= seen[0] and seen[1] <= window[1] and window[2] <= seen[2] and seen[3] <= window[3]


def _widened(start: int, stop: int, count: int) -> tuple[int, int]:
    more = math.ceil((stop - start) * MARGIN)
    return max(0, start - more), min(count, stop + more)
