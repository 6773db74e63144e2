"""Text that was typed or pasted into a token table, as a change of the experiment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attn_gui.model import edits
from attn_gui.model.edits import Side
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.views.clipboard import Block, Refused, read_numbers
from attn_gui.views.token_columns import column_values, natural, read_column_text, with_column_values


def write_block(
    experiment: Experiment, side: Side, width: int, columns: Sequence[str], row: int, column: int, block: Block
) -> Experiment:
    """``experiment`` with ``block`` written from (row, column) on; itself if nothing differs.

    Column 0 holds names, 1 to ``width`` the embeddings, those after it ``columns``. Raises :class:`Refused`, or
    ValueError for columns that do not go together.
    """
    if column == 0:
        experiment = _with_names(experiment, side, row, block)
    experiment = _with_numbers(experiment, side, width, row, column, block)
    for at, name in enumerate(columns, start=width + 1 - column):
        if 0 <= at < len(block[0]):
            experiment = _with_column(experiment, side, name, row, at, block)
    return experiment


def _with_names(experiment: Experiment, side: Side, row: int, block: Block) -> Experiment:
    tokens = edits.sequence(experiment, side).tokens
    names: dict[int, str] = {}
    for r, line in enumerate(block):
        name = line[0]
        if name == "":
            raise Refused(r, 0, "a token needs a name")
        if name is not None and name != tokens[row + r]:
            names[row + r] = name
    if not names:
        return experiment
    for table in _tables_of(experiment, side):
        experiment = edits.rename_tokens(experiment, table, list(names), list(names.values()))
    return experiment


def _tables_of(experiment: Experiment, side: Side) -> tuple[Side, ...]:
    """The tables with the tokens of ``side``: separate values are those of the present keys."""
    keys: Side = "context" if experiment.variant.is_cross else "tokens"
    return (keys, "values") if experiment.values is not None and side in (keys, "values") else (side,)


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


def _with_column(experiment: Experiment, side: Side, name: str, row: int, at: int, block: Block) -> Experiment:
    present = column_values(experiment, side, name)
    values, by_itself = present.copy(), natural(experiment, side, name)
    for r, line in enumerate(block):
        text = line[at]
        if text is None:
            continue
        try:
            values[row + r] = read_column_text(name, text, row + r, by_itself)
        except ValueError as error:
            raise Refused(r, at, str(error)) from error
    if np.array_equal(values, present):
        return experiment
    try:
        return with_column_values(experiment, side, name, values)
    except ExperimentError as error:
        raise ValueError(f"expected {error.expected}, received {error.received}") from error
