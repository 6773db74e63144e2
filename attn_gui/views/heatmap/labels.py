"""Labels of tokens: how they read, how long they are, and where along an axis they have room."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF

from attn_gui.views.cut_text import beginning

PADDING = 8
MARK = 3
# pixels that labels one above the other, and one beside the other, need at least
LEAST_HEIGHT = 15
LEAST_WIDTH = 44
# pixels more between rows where only some of them have a label: an axis of few is read at a glance
AIR = 9
TICK = 4
MEASURED, MANY = 64, 4096

_SHOWN = str.maketrans({"\n": "↵", "\r": "↵", "\t": "⇥"})


def token_text(token: str) -> str:
    """``token`` on one line, with blanks shown where there is nothing else; of a very long one its beginning."""
    text = beginning(token)
    return text.translate(_SHOWN) if token.strip() else "␣" * len(text)


def longest_text(metrics: QFontMetricsF, labels: Sequence[str]) -> float:
    """Pixels that the longest of ``labels`` needs."""
    if len(labels) > MANY:
        # of very many only those of the most characters are looked at
        lengths = np.fromiter(map(len, labels), np.intp, len(labels))
        labels = [labels[i] for i in np.argpartition(lengths, -MANY)[-MANY:]]
    candidates = sorted(set(labels), key=len)[-MEASURED:]
    return max((metrics.horizontalAdvance(token_text(label)) for label in candidates), default=0.0)


def stride(size: float, least: float) -> int:
    """Every how-many-th label to draw, 1, 2, 5, 10, ..., where each has ``size`` pixels and needs ``least``."""
    step, factors = 1, (2, 2.5, 2)
    k = 0
    while step * size < least:
        step = int(step * factors[k % 3])
        k += 1
    return step


def spaced(size: float, least: float) -> int:
    """As :func:`stride`, with AIR between labels of rows where not each is drawn."""
    return 1 if size >= least else max(2, stride(size, least + AIR))


@lru_cache(maxsize=8192)
def elided(text: str, width: int, font: str) -> str:
    """``text`` in ``font`` (:meth:`QFont.toString`), cut to ``width`` pixels."""
    return font_metrics(font).elidedText(text, Qt.TextElideMode.ElideRight, width)


@lru_cache(maxsize=8)
def font_metrics(font: str) -> QFontMetricsF:
    """Those of ``font`` (:meth:`QFont.toString`)."""
    parsed = QFont()
    parsed.fromString(font)
    return QFontMetricsF(parsed)


class Span(NamedTuple):
    """Pixels along one axis."""

    start: float
    size: float

    def near(self, other: Span, gap: float) -> bool:
        """Whether less than ``gap`` pixels are between the two."""
        return self.start - gap < other.start + other.size and other.start < self.start + self.size + gap


NOWHERE = Span(-math.inf, 0)


def pixels_between(start: float, stop: float) -> Span:
    """In whole pixels, one at least."""
    first = round(start)
    return Span(first, max(round(stop) - first, 1))


def line_in_sight(span: Span, first: float, last: float) -> bool:
    """Whether a line of text in the middle of ``span`` lies wholly between two heights."""
    middle, half = span.start + span.size / 2, LEAST_HEIGHT / 2
    return middle - half >= first - 1 and middle + half <= last + 1


def within(span: Span, size: float, limit: float) -> Span:
    """``span`` stretched to ``size`` about its middle, and moved within 0 to ``limit``."""
    return Span(max(0.0, min(span.start + span.size / 2 - size / 2, limit - size)), size)
