"""Text that was typed or pasted into a token table, as a change of the experiment."""

from __future__ import annotations

import numpy as np

from attn_gui.model import edits
from attn_gui.model.edits import Side
from attn_gui.model.experiment import Experiment
from attn_gui.views.clipboard import Block, Refused, quoted_short, read_numbers

_YES = ("1", "true", "yes", "x", "pad")
_NO = ("0", "false", "no", "")


def write_block(experiment: Experiment, side: Side, width: int, row: int, column: int, block: Block) -> Experiment:
    """``experiment`` with ``block`` written from (row, column) on; itself if nothing differs.

    Column 0 holds names, 1 to ``width`` the embeddings, the next one the padding marks. Raises :class:`Refused`.
    """
    if column == 0:
        experiment = _with_names(experiment, side, row, block)
    experiment = _with_numbers(experiment, side, width, row, column, block)
    pad = width + 1 - column
    return _with_pad(experiment, side, row, pad, block) if 0 <= pad < len(block[0]) else experiment


def _with_names(experiment: Experiment, side: Side, row: int, block: Block) -> Experiment:
    tokens = edits.sequence(experiment, side).tokens
    names: dict[int, str] = {}
    for r, line in enumerate(block):
        name = line[0]
        if name == "":
            raise Refused(r, 0, "a token needs a name")
        if name is not None and name != tokens[row + r]:
            names[row + r] = name
    return edits.rename_tokens(experiment, side, list(names), list(names.values())) if names else experiment


def _with_numbers(experiment: Experiment, side: Side, width: int, row: int, column: int, block: Block) -> Experiment:
    first, last = max(1, column), min(column + len(block[0]), width + 1)
    if first >= last:
        return experiment
    if (first, last) != (column, column + len(block[0])):
        block = [[c if first <= column + k < last else None for k, c in enumerate(line)] for line in block]
    numbers = np.array(read_numbers(block), dtype=np.float64)[:, first - column : last - column]  # None is NaN
    present = edits.sequence(experiment, side).embeddings.rows(row, row + len(block))[:, first - 1 : last - 1]
    rows, columns = np.nonzero(~np.isnan(numbers) & (numbers != present))
    if not rows.size:
        return experiment
    return edits.set_cells(experiment, side, rows + row, columns + first - 1, numbers[rows, columns])


def _with_pad(experiment: Experiment, side: Side, row: int, at: int, block: Block) -> Experiment:
    present = edits.sequence(experiment, side).pad
    flags: dict[int, bool] = {}
    for r, line in enumerate(block):
        text = line[at]
        if text is None:
            continue
        word = text.strip().lower()
        if word not in _YES + _NO:
            raise Refused(r, at, f"{quoted_short(text)} is neither yes nor no (1 or 0)")
        if (word in _YES) != present[row + r]:
            flags[row + r] = word in _YES
    return edits.set_column(experiment, side, "pad", list(flags), list(flags.values())) if flags else experiment
