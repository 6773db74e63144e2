"""What a heatmap shows: the request for a picture, and the picture."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from attn_gui.model.trace import Head, Pooling

Array = np.ndarray[Any, Any]
ColourMapping = Literal["linear", "log", "row maximum", "fixed 0..1", "without first key"]

# index images use 0..253 for values
LAST_COLOUR = 253
MASKED = 254
NON_FINITE = 255

LOG_FLOOR = 1e-4


@dataclass(frozen=True)
class PictureRequest:
    """A window of an n_q x n_k stage, to be drawn with at most ``size`` (height, width) cells.

    diverging: colours centred on 0 (A, differences), else from 0 or the smallest value up (N).
    """

    stage: str
    head: Head
    rows: tuple[int, int]
    columns: tuple[int, int]
    size: tuple[int, int]
    pooling: Pooling = "max"
    mapping: ColourMapping = "linear"
    diverging: bool = False


@dataclass(frozen=True, eq=False)
class Picture:
    """One finished image of a window.

    index: uint8 [h, w], 0..LAST_COLOUR from ``low`` to ``high``, MASKED or NON_FINITE.
    values: what each cell of ``index`` stands for, [h, w]: exact where ``exact``, pooled otherwise. A masked cell holds
    what the stage holds there (-inf for A_masked, 0 for N), a pooled one without any allowed cell 0.
    low, high: the values at the ends of the colour scale. request: rows and columns are those that it covers, up to one
    block beyond the matrix. sampled: some of it stands for a sample of the queries. finer: a better one can be had.
    """

    request: PictureRequest
    index: Array
    values: Array
    low: float
    high: float
    exact: bool
    sampled: bool = False
    finer: bool = False

    @cached_property
    def has_signs(self) -> bool:
        """Whether any cell is masked or not finite."""
        return bool(self.index.max() > LAST_COLOUR)
