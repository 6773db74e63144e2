"""Per-token columns: what masks and positions may know of a token besides its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_gui.model.errors import ExperimentError
from attn_gui.model.table import floats

Values = NDArray[Any]

NO_PARENT = -1
NO_WORD = -1


@dataclass(frozen=True)
class Column:
    """One kind of column: the numpy type of its values, and what it says of a token.

    marks: whether it only marks tokens; counted: whether its values are places, written from 1 on screen.
    """

    name: str
    dtype: type[np.generic]
    about: str
    marks: bool = False
    counted: bool = False
    least: int = 0

    def default(self, length: int) -> Values:
        """The values of tokens that nobody has given any, [length]."""
        if self.name == "position":
            return closed(np.arange(length), self.dtype)
        return closed(np.full(length, min(self.least, 0)), self.dtype)

    def checked(self, values: ArrayLike, length: int) -> Values:
        """``values`` as a read-only column of ``length`` tokens; raises ExperimentError."""
        given = np.asarray(values)
        if given.shape != (length,):
            raise ExperimentError(f"column {self.name}", f"shape ({length},)", f"{given.shape}")
        if not self.marks and given.dtype.kind not in "iu":
            whole = floats(given, f"column {self.name}")
            if given.dtype.kind == "b" or not np.array_equal(whole, np.trunc(whole)):
                raise ExperimentError(f"column {self.name}", "whole numbers", str(given.dtype))
        column = closed(given, self.dtype)
        if not self.marks and length and column.min() < self.least:
            raise ExperimentError(f"column {self.name}", f"{self.least} or more", str(column.min()))
        if self.name == "parent":
            _check_parents(column)
        return column

    def rearranged(self, values: Values, order: Sequence[int | None]) -> Values:
        """The column after tokens moved: place r now holds what was at ``order[r]``, or a new token (None)."""
        result = np.array(self.default(len(order)))
        kept = [(now, was) for now, was in enumerate(order) if was is not None]
        if not kept:
            return closed(result, self.dtype)
        now, was = (list(places) for places in zip(*kept, strict=True))
        if self.name == "parent":
            result[now] = _moved_parents(values, was, now)
        elif self.name != "position" or not np.array_equal(values, self.default(len(values))):
            result[now] = values[was]
        return closed(result, self.dtype)


COLUMNS = {
    column.name: column
    for column in (
        Column("pad", np.bool_, "Padding: marked tokens are masked as keys", marks=True),
        Column("segment", np.int64, "Document: a token attends to tokens of the same number"),
        Column("parent", np.int64, "The token's parent in the tree, by its row", counted=True, least=NO_PARENT),
        Column("position", np.int64, "Position: where the token stands, counted from 0"),
        Column("special", np.bool_, "Special: a token of the tokenizer and not of the text", marks=True),
        Column("word", np.int64, "The word that the piece belongs to", counted=True, least=NO_WORD),
    )
}


def column_of(name: str) -> Column:
    """The kind of column called ``name``; raises ExperimentError."""
    if name not in COLUMNS:
        raise ExperimentError("column", " or ".join(COLUMNS), repr(name))
    return COLUMNS[name]


def closed(values: ArrayLike, dtype: type[np.generic]) -> Values:
    """A read-only array of its own."""
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


def _check_parents(parents: Values) -> None:
    """A tree has no token that is its own ancestor."""
    if len(parents) and parents.max() >= len(parents):
        raise ExperimentError("column parent", f"a token from 1 to {len(parents)}", str(parents.max() + 1))
    # twice as many steps up each time: who is not above a root by then goes round in a circle
    above = parents
    for _ in range(len(parents).bit_length()):
        above = np.where(above >= 0, above[above], NO_PARENT)
    if (above >= 0).any():
        token = int(above[above >= 0].min()) + 1
        raise ExperimentError("column parent", "a tree", f"token {token} among its own ancestors")


def _moved_parents(parents: Values, was: Sequence[int], now: Sequence[int]) -> list[int]:
    """Each kept token's nearest ancestor that is kept, by its new place."""
    places = dict(zip(was, now, strict=True))
    moved = []
    for token in was:
        above = int(parents[token])
        while above != NO_PARENT and above not in places:
            above = int(parents[above])
        moved.append(places.get(above, NO_PARENT))
    return moved
