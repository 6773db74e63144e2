"""What the screen asks of a trace, answered in the worker."""

from __future__ import annotations

from collections.abc import Generator

from attn_gui.compute.picked import read_sum
from attn_gui.compute.picture import picture
from attn_gui.compute.reading import read_cell, read_row, read_row_sums
from attn_gui.compute.statistics import head_statistics
from attn_gui.compute.threads import threads_for
from attn_gui.model.answers import Answer, StageValues
from attn_gui.model.asks import Ask, CellAsk, PictureAsk, RowAsk, RowSumsAsk, StageAsk, StatisticsAsk, SumAsk
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.trace import Head, Trace


def answer(trace: Trace, ask: Ask) -> Generator[float, None, Answer]:
    """The answer to ``ask``, brought within the bounds of ``trace``; None where it has no such stage.

    In short steps where it takes long: yields the part done, 0 to 1.
    """
    if isinstance(ask, StatisticsAsk):
        return (yield from head_statistics(trace))
    e = trace.experiment
    head = min(ask.head, e.heads - 1) if isinstance(ask.head, int) else ask.head
    if isinstance(ask, PictureAsk | StageAsk | SumAsk) and ask.stage not in stages_of(e):
        return None
    with threads_for(e):
        return _answer(trace, ask, head)


_Quick = PictureAsk | StageAsk | CellAsk | RowAsk | RowSumsAsk | SumAsk


def _answer(trace: Trace, ask: _Quick, head: Head) -> Answer:
    e = trace.experiment
    if isinstance(ask, PictureAsk):
        return picture(trace, ask.request(e))
    if isinstance(ask, CellAsk):
        return read_cell(trace, head, min(ask.i, e.n_q - 1), min(ask.j, e.n_k - 1))
    if isinstance(ask, RowAsk):
        return read_row(trace, head, min(ask.i, e.n_q - 1))
    if isinstance(ask, RowSumsAsk):
        return read_row_sums(trace, head)
    if isinstance(ask, SumAsk):
        return read_sum(trace, ask, head)
    if ask.head == "mean" and ask.square:
        values = trace.matrix(ask.stage, "mean").block(slice(0, e.n_q), slice(0, e.n_k))
    else:
        values = trace.stage(ask.stage, head if isinstance(head, int) else 0)
    return StageValues(ask, values)
