"""derive: a cell of a trace, step by step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attn_gui.compute.deriving import gathering, inputs, means, placing, projecting, scoring, weighing
from attn_gui.compute.deriving.chain import Chain
from attn_gui.compute.deriving.inputs import table_of
from attn_gui.compute.deriving.subject import Subject, quoted
from attn_gui.model.derivation import Cell, Derivation, DerivationAsk
from attn_gui.model.stage_shape import OF_KEYS, stage_shape
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Trace

_Derive = Callable[[Subject, Chain, Cell], None]
_STAGES: dict[str, _Derive] = {
    **dict.fromkeys(("X", "context", "values"), inputs.derive_given),
    **dict.fromkeys(("X_in", "context_in"), inputs.derive_placed),
    **dict.fromkeys(("Q_projected", "K_projected", "V"), projecting.derive_projected),
    **dict.fromkeys(("Q", "K"), placing.derive_placed),
    **dict.fromkeys(scoring.ORDER, scoring.derive_scores),
    "N": weighing.derive_weight,
    "head_output": gathering.derive_head_output,
    "concat": gathering.derive_concat,
    "output": gathering.derive_output,
}


def derive(trace: Trace, ask: DerivationAsk) -> Derivation:
    """Where the cell that ``ask`` names comes from, brought within the bounds of ``trace``.

    Looks at single rows of the square stages alone. Raises KeyError for a stage that the experiment has not.
    """
    e, stage = trace.experiment, STAGES[ask.stage]
    rows, columns = stage_shape(e, ask.stage)
    head = ask.head if stage.per_head else 0
    if head == "mean" and not stage.square:
        head = 0
    if head != "mean":
        head = min(head, e.heads - 1)
    cell = Cell(ask.stage, head, min(ask.row, rows - 1), min(ask.column, columns - 1))
    chain = Chain(e.precision)
    # what leaves the range of numbers is shown as such, and nothing to warn of
    with np.errstate(all="ignore"):
        if head == "mean":
            means.derive_mean(Subject(trace, 0), chain, cell)
        else:
            _STAGES[ask.stage](Subject(trace, head), chain, cell)
    return Derivation(cell, _in_words(trace, cell), chain.steps[-1].result, e.precision, tuple(chain.steps))


def _in_words(trace: Trace, cell: Cell) -> str:
    e, stage = trace.experiment, STAGES[cell.stage]
    which = "" if not stage.per_head or e.heads == 1 else ", mean" if cell.head == "mean" else f", head {cell.head + 1}"
    if stage.square:
        return f"{cell.stage} of {quoted(e.tokens.tokens[cell.row])} for {quoted(e.keys.tokens[cell.column])}{which}"
    if cell.stage in ("context", "context_in", "values"):
        token = table_of(Subject(trace, 0), cell.stage).tokens[cell.row]
    else:
        token = (e.keys if cell.stage in OF_KEYS else e.tokens).tokens[cell.row]
    return f"{cell.stage} of {quoted(token)}, dimension {cell.column + 1}{which}"
