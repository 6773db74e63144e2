"""Strokes: lines as they are drawn, as thick as their weights; those too thin to be seen so are fainter instead."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np
import shiboken6
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from attn_gui.model.flow import Flow
from attn_gui.views.flow.places import Places

# weights within a factor of 2 ** (1 / STEPS) are drawn with one pen; below 2 ** -OCTAVES all with the faintest
STEPS, OCTAVES = 8, 16
# a line of exactly one pixel takes Qt ten times as long as one a little wider if it is opaque, else a fifth of it
THIN = 1.01
FAINTEST = 0.16
# of many lines only the heaviest are smooth: Qt takes ten times as long for them
MOST_SMOOTH = 1000


class Strokes:
    """Lines of ``flow``, all of them or those at the places ``chosen``, sorted by the pens that they take."""

    def __init__(self, flow: Flow, places: Places, chosen: NDArray[Any] | None = None) -> None:
        every = slice(None) if chosen is None else chosen
        levels = (
            np.floor(np.log2(flow.weight[every] / flow.ask.heaviest) * STEPS).clip(-STEPS * OCTAVES, 0).astype(np.intp)
        )
        head = flow.head[every]
        # the faintest first, so that the heavy ones lie on top; those of one pen together
        order = np.argsort(levels * len(flow.ask.groups) + head, kind="stable")
        self._levels, self._heads = levels[order], head[order]
        # [lines, 4]: x and y of the beginning, of the end, as a QLineF has them
        self.ends = np.empty((len(order), 4))
        self.ends[:, 0], self.ends[:, 2] = places.left, places.right
        self.ends[:, 1] = places.y("query", 0) + flow.query[every][order] * places.pitch
        self.ends[:, 3] = places.y("key", 0) + flow.key[every][order] * places.pitch
        self._one, self._full = places.one, full_strength(flow, places)

    def draw(self, painter: QPainter, colours: Sequence[QColor], ground: QColor | None) -> None:
        """Draw each line in the colour of its head; on ``ground``, or over what is there where that is None."""
        painter.save()
        changes = np.flatnonzero((np.diff(self._levels) != 0) | (np.diff(self._heads) != 0)) + 1
        count = len(self.ends)
        for first, stop in pairwise([0, *changes.tolist(), count] if count else []):
            weight = min(1.0, 2 ** ((int(self._levels[first]) + 0.5) / STEPS))
            colour = colours[int(self._heads[first])]
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, count - stop < MOST_SMOOTH)
            painter.setPen(pen(colour, ground, weight * self._one, weight / self._full))
            # read where they lie: to make as many QLineF in Python takes longer than to draw them
            lines = cast(QLineF, shiboken6.wrapInstance(self.ends[first:stop].ctypes.data, QLineF))
            painter.drawLines(lines, stop - first)
        painter.restore()


def full_strength(flow: Flow, places: Places) -> float:
    """The part of the heaviest weight there may be, from which on lines are not fainter than others."""
    heaviest = float(flow.weight[0]) / flow.ask.heaviest if len(flow.weight) else 1.0
    return min(heaviest, 1 / places.one)


def pen(colour: QColor, ground: QColor | None, thickness: float, strength: float) -> QPen:
    """Of ``thickness`` pixels, at least one, and of a part ``strength`` of ``colour``.

    The rest is ``ground``, which Qt draws much faster, or what is there.
    """
    part = min(1.0, FAINTEST + (1 - FAINTEST) * strength)
    thinnest = THIN
    if part < 1 and ground is not None:
        colour = mixed(ground, colour, part)
    elif part < 1:
        colour, thinnest = QColor(colour), 1.0
        colour.setAlphaF(part)
    return QPen(colour, max(thinnest, thickness), Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)


def mixed(first: QColor, second: QColor, part: float) -> QColor:
    """``first`` with ``part``, 0 to 1, of ``second``."""
    pairs = (first.red(), second.red()), (first.green(), second.green()), (first.blue(), second.blue())
    return QColor(*(round(one + (other - one) * part) for one, other in pairs))
