"""Per-token columns beside the embeddings: which of them a table shows, and how they are written and read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attn_gui.model import edits
from attn_gui.model.columns import COLUMNS, NO_PARENT, Values, column_of
from attn_gui.model.edits import Side
from attn_gui.model.experiment import Experiment
from attn_gui.model.parts import LARGEST_WHOLE
from attn_gui.views.clipboard import quoted_short, read_numbers

# the view choice that shows positions even while nothing reads them
POSITIONS = "positions"
# what a query never is asked for
_OF_KEYS = ("pad", "parent")

_YES = ("1", "true", "yes", "x", "pad")
_NO = ("0", "false", "no", "")


def shown_columns(experiment: Experiment, side: Side, positions: bool) -> dict[str, Values]:
    """The columns of a token table that something reads, each [n], as they count; ``positions``: those in any case."""
    e, cross = experiment, experiment.variant.is_cross
    if side == "values" or (side == "context" and not cross):
        return {}
    read = set(e.reads)
    if positions or e.scoring.rotary is not None or e.scoring.position.kind != "none":
        read.add("position")
    if side == "tokens" and cross:
        read.difference_update(_OF_KEYS)
    return {name: column_values(e, side, name) for name in COLUMNS if name in read}


def column_values(experiment: Experiment, side: Side, name: str) -> Values:
    """The column ``name`` of a token table, [n]; a position that nobody gave is the place after the cache."""
    given = edits.sequence(experiment, side).columns
    return given[name] if name in given else natural(experiment, side, name)


def natural(experiment: Experiment, side: Side, name: str) -> Values:
    """The column ``name`` of a token table as it is while nobody gives it values, [n]."""
    count = len(edits.sequence(experiment, side))
    if name != "position":
        return column_of(name).default(count)
    start = 0 if side == "past" else experiment.offset
    places: Values = np.arange(start, start + count)
    return places


def with_column_values(experiment: Experiment, side: Side, name: str, values: Values) -> Experiment:
    """With the column ``name`` of a token table replaced; raises ExperimentError."""
    of = edits.sequence(experiment, side)
    if np.array_equal(values, natural(experiment, side, name)):
        rest = {other: column for other, column in of.columns.items() if other != name}
        return edits.with_side(experiment, side, replace(of, columns=rest))
    return edits.with_side(experiment, side, of.with_column(name, values))


def column_text(name: str, value: int) -> str:
    """A value as it is shown and typed: a parent by its row, none as nothing."""
    if COLUMNS[name].counted:
        return "" if value == NO_PARENT else str(value + 1)
    return str(int(value))


def read_column_text(name: str, text: str, place: int, by_itself: Values) -> int:
    """The value that ``text`` says of the token at ``place``; nothing says the one of ``by_itself``, [n].

    Raises ValueError with the reason.
    """
    word = text.strip().lower()
    if COLUMNS[name].marks:
        if word not in _YES + _NO:
            raise ValueError(f"{quoted_short(text)} is neither yes nor no (1 or 0)")
        return int(word in _YES)
    if not word:
        return int(by_itself[place])
    number = read_numbers([[text]])[0][0]
    if number is None or number != int(number):
        raise ValueError(f"{quoted_short(text)} is not a whole number")
    if COLUMNS[name].counted:
        if not 1 <= number <= len(by_itself):
            raise ValueError(f"{quoted_short(text)} is no row: there are 1 to {len(by_itself)}")
        return int(number) - 1
    if not COLUMNS[name].least <= number <= LARGEST_WHOLE:
        raise ValueError(f"{quoted_short(text)} is not a number from {COLUMNS[name].least} to {LARGEST_WHOLE}")
    return int(number)
