"""Painting the mask by hand: a click toggles a cell, a drag sets every cell it touches, each as one undo step."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from attn_gui.control.document import Document
from attn_gui.control.notices import Notices
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.trace import Head
from attn_gui.views.masks.cells import allowed_in

LABEL = "Paint mask"
TOPIC = "paint"

_strokes = itertools.count(1)


class Stroke:
    """One stroke, from the press of the button to its release: all its cells become the opposite of the first.

    They do so in every head; what the first was is looked up in ``head``. What would be too much for the mask to hold
    is said in ``notices``; the cells painted before it stay, and so does the stroke, which may yet make it less.
    """

    def __init__(self, document: Document, notices: Notices, query: int, key: int, head: Head) -> None:
        self._document = document
        self._notices = notices
        self._refused = False
        before = document.experiment
        self._painted = before.painted
        self._shape = before.n_q, before.n_k
        self._cells: set[tuple[int, int]] = set()
        self._last = (query, key)
        self._merge = f"paint {next(_strokes)}"
        # what is on screen may be older than the document, and have more tokens
        self._possible = query < before.n_q and key < before.n_k
        self._allow = self._possible and not is_allowed(before, query, key, head)
        self._paint({(query, key)})

    def move_to(self, query: int, key: int) -> None:
        """Go on to a cell, setting all that lie on the way."""
        if (query, key) != self._last:
            touched = set(cells_between(self._last, (query, key)))
            self._last = (query, key)
            self._paint(touched)

    def _paint(self, cells: set[tuple[int, int]]) -> None:
        now = self._document.experiment
        touched = {(i, j) for i, j in cells if i < now.n_q and j < now.n_k} - self._cells
        if not self._possible or not touched or (now.n_q, now.n_k) != self._shape:
            return
        self._cells |= touched
        # all of the stroke anew each time, so that its cells become few rectangles
        try:
            painted = self._painted.with_cells(self._cells, self._allow, partial(now.is_ruled, self._allow))
        except ExperimentError as error:
            self._refuse(error)
            return
        self._notices.withdraw(TOPIC)
        self._refused = False
        self._document.apply(LABEL, replace(now, painted=painted), self._merge)

    def _refuse(self, error: ExperimentError) -> None:
        """Say it once, and not with every cell that follows."""
        if not self._refused:
            self._refused = True
            why = f"expected {error.expected}, received {error.received}"
            self._notices.error(f"Painted mask: {why}. What was painted before stays.", TOPIC)


def toggle(document: Document, notices: Notices, query: int, key: int, head: Head) -> None:
    """Toggle one cell as it is in ``head``."""
    Stroke(document, notices, query, key, head)


def is_allowed(experiment: Experiment, query: int, key: int, head: Head) -> bool:
    """Whether the mask lets ``query`` attend to ``key`` in ``head``."""
    return bool(allowed_in(experiment, slice(query, query + 1), slice(key, key + 1), head)[0, 0])


def cells_between(start: tuple[int, int], stop: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The cells on the straight line between two, both included (Bresenham 1965)."""
    (i, j), (i1, j1) = start, stop
    di, dj = abs(i1 - i), -abs(j1 - j)
    si, sj = (1 if i < i1 else -1), (1 if j < j1 else -1)
    error = di + dj
    while True:
        yield i, j
        if (i, j) == (i1, j1):
            return
        doubled = 2 * error
        if doubled >= dj:
            error += dj
            i += si
        if doubled <= di:
            error += di
            j += sj
