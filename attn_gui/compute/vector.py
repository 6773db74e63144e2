"""Reading a part of one row of a stage that is not square."""

from __future__ import annotations

from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head, Trace
from attn_gui.model.vector import LONGEST, Vector, VectorAsk


def read_vector(trace: Trace, ask: VectorAsk, head: Head) -> Vector:
    """At most LONGEST numbers, the one asked for as near to their middle as the ends of the row allow."""
    of = head if STAGES[ask.stage].per_head and isinstance(head, int) else 0
    rows = trace.stage(ask.stage, of)  # [rows, width]
    row, column = min(ask.row, len(rows) - 1), min(ask.column, rows.shape[1] - 1)
    width = rows.shape[1]
    first = max(0, min(column - LONGEST // 2, width - LONGEST))
    return Vector(VectorAsk(ask.stage, of, row, column), first, rows[row, first : first + LONGEST].copy(), width)
