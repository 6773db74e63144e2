"""What the screen asks of a trace, answered in the worker."""

from __future__ import annotations

from collections.abc import Generator

from attn_gui.compute.arranging import ArrangedAsk, arranged_answer
from attn_gui.compute.check import check_steps
from attn_gui.compute.deriving import derive, derive_merged
from attn_gui.compute.flowing import flow
from attn_gui.compute.picked import read_sum
from attn_gui.compute.picture import picture, refined
from attn_gui.compute.reading import read_block, read_cell, read_row, read_row_sums
from attn_gui.compute.statistics import head_statistics
from attn_gui.compute.threads import threads_for
from attn_gui.compute.vector import read_vector
from attn_gui.model.answers import Answer, NotYet, StageValues
from attn_gui.model.arranging import arranged
from attn_gui.model.asks import (
    ArrangedCellAsk,
    Ask,
    BlockAsk,
    CellAsk,
    PictureAsk,
    RowAsk,
    RowSumsAsk,
    StageAsk,
    StatisticsAsk,
    SumAsk,
)
from attn_gui.model.check import CheckAnswer, CheckAsk
from attn_gui.model.derivation import DerivationAsk
from attn_gui.model.errors import HiddenStage
from attn_gui.model.flow import FlowAsk
from attn_gui.model.picture import Picture
from attn_gui.model.stage_shape import FROM_OUTPUTS, stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head, Trace
from attn_gui.model.vector import VectorAsk

# answered by the trace alone, which refuses what is hidden; while anything is, nothing else is answered
_BY_THE_TRACE = (
    PictureAsk,
    StageAsk,
    BlockAsk,
    ArrangedCellAsk,
    CellAsk,
    RowAsk,
    RowSumsAsk,
    SumAsk,
    StatisticsAsk,
    FlowAsk,
    DerivationAsk,
)


def answer(trace: Trace, ask: Ask) -> Generator[float, None, Answer]:
    """The answer to ``ask``, brought within the bounds of ``trace``; None where it has no such stage, or hides it.

    In short steps where it takes long: yields the part done, 0 to 1.
    """
    if trace.experiment.hidden and not isinstance(ask, (*_BY_THE_TRACE, CheckAsk)):
        return None
    try:
        return (yield from _answered(trace, ask))
    except HiddenStage:
        return None


def _answered(trace: Trace, ask: Ask) -> Generator[float, None, Answer]:
    e = trace.experiment
    if _waits(trace, ask):
        return NotYet()
    if isinstance(ask, StatisticsAsk):
        return (yield from head_statistics(trace))
    if isinstance(ask, CheckAsk):
        if e.hidden.intersection(table.stage for table in ask.tables):
            return None
        return CheckAnswer(ask, (yield from check_steps(trace, ask.tables)))
    if isinstance(ask, FlowAsk):
        return (yield from flow(trace, ask))
    head = min(ask.head, e.heads - 1) if isinstance(ask.head, int) else ask.head
    if isinstance(
        ask, PictureAsk | StageAsk | BlockAsk | SumAsk | ArrangedCellAsk | DerivationAsk | VectorAsk
    ) and ask.stage not in stages_of(e):
        return None
    if isinstance(ask, ArrangedAsk) and (found := arranged(e, ask.arranged)) is not None:
        return (yield from arranged_answer(trace, ask, head, found))
    if isinstance(ask, ArrangedCellAsk):
        return None  # of an experiment before, which was drawn otherwise
    if isinstance(ask, PictureAsk) and STAGES[ask.stage].square:
        yield from trace.matrix(ask.stage, head).begun(ask.pooling)
    with threads_for(e):
        return _answer(trace, ask, head)


def refine(trace: Trace, ask: PictureAsk) -> Generator[float | Picture, None, Picture]:
    """Better pictures for ``ask`` than there were at once, in short steps; the last is as good as can be had now."""
    return (yield from refined(trace, ask.request(trace.experiment)))


def _waits(trace: Trace, ask: Ask) -> bool:
    """Whether the answer takes rows that are not there yet."""
    if isinstance(ask, StatisticsAsk):
        return trace.part() < 1
    if isinstance(ask, RowSumsAsk):
        return (trace.part() if ask.head == "mean" else trace.part(min(ask.head, trace.experiment.heads - 1))) < 1
    return isinstance(ask, StageAsk | DerivationAsk | VectorAsk) and ask.stage in FROM_OUTPUTS and trace.part() < 1


_Quick = PictureAsk | StageAsk | BlockAsk | CellAsk | RowAsk | RowSumsAsk | SumAsk | DerivationAsk | VectorAsk


def _answer(trace: Trace, ask: _Quick, head: Head) -> Answer:
    e = trace.experiment
    if isinstance(ask, PictureAsk):
        return picture(trace, ask.request(e))
    if isinstance(ask, BlockAsk):
        return read_block(trace, ask, head)
    if isinstance(ask, CellAsk):
        return read_cell(trace, head, min(ask.i, e.n_q - 1), min(ask.j, e.n_k - 1))
    if isinstance(ask, RowAsk):
        return read_row(trace, head, min(ask.i, e.n_q - 1))
    if isinstance(ask, RowSumsAsk):
        return read_row_sums(trace, head)
    if isinstance(ask, SumAsk):
        return read_sum(trace, ask, head)
    if isinstance(ask, DerivationAsk):
        found = arranged(e, ask.arranged) if STAGES[ask.stage].square else None
        if found is not None and found.merges_at(ask.row, ask.column):
            return derive_merged(trace, ask, head, found)
        return derive(trace, ask)
    if isinstance(ask, VectorAsk):
        return read_vector(trace, ask, head)
    return StageValues(ask, trace.stage(ask.stage, head if isinstance(head, int) else 0))
