"""Rotary tables as other programs hand them over: with one column a pair, or with each pair's number twice."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from attn_gui.model.errors import ExperimentError
from attn_gui.model.rotary.imported import ImportedRotary
from attn_gui.model.table import Floats, frozen

SHAPE = "shape (positions, pairs), or (positions, width) with each pair's number twice"


def rotary_of(cos: ArrayLike, sin: ArrayLike, *, layout: str = "halves", d_k: int | None = None) -> ImportedRotary:
    """The rotary position that ``cos`` and ``sin`` describe.

    cos, sin: [positions, width / 2], one column a pair of dimensions; or [positions, width] as the rotary embeddings
    of transformers give them, where the two halves are equal (``cat(freqs, freqs)``) or the columns are equal two by
    two (``repeat_interleave``): each pair is taken once, and its dimensions are those whose columns were equal. Axes of
    length 1 before these are dropped.
    layout: which dimensions are pairs where the tables do not say it. d_k: the size of a head, where it is known.
    Raises ExperimentError for other shapes, for what are no numbers, and for more columns than ``d_k`` has pairs.
    """
    tables = [_table("cos", cos), _table("sin", sin)]
    columns = tables[0].shape[1]
    if tables[1].shape != tables[0].shape:
        raise ExperimentError("sin", f"the shape of cos, {tables[0].shape}", f"shape {tables[1].shape}")
    once = {"halves": slice(0, columns // 2), "interleaved": slice(0, columns, 2)}
    again = {"halves": slice(columns // 2, columns), "interleaved": slice(1, columns, 2)}
    twice = [way for way in once if columns % 2 == 0 and all(_equal(t[:, once[way]], t[:, again[way]]) for t in tables)]
    if twice:
        # where all columns are equal both are true
        layout = layout if layout in twice else twice[0]
        tables = [frozen(table[:, once[layout]]) for table in tables]
    elif d_k is not None and 2 * columns > d_k:
        expected = f"a column for each pair of a head's {d_k} dimensions, at most {d_k // 2}, or each of them twice"
        raise ExperimentError("cos and sin", expected, f"{columns} of which neither halves nor neighbours are equal")
    return ImportedRotary(layout, cos=tables[0], sin=tables[1])


def _table(name: str, given: ArrayLike) -> Floats:
    numbers = np.asarray(given)
    if numbers.dtype.kind not in "fiu":
        raise ExperimentError(name, "numbers", f"an array of {numbers.dtype}")
    while numbers.ndim > 2 and len(numbers) == 1:
        numbers = numbers[0]
    if numbers.ndim != 2 or not numbers.size:
        raise ExperimentError(name, SHAPE, f"shape {np.shape(given)}")
    return frozen(numbers)


def _equal(first: Floats, second: Floats) -> bool:
    return np.array_equal(first, second, equal_nan=True)
