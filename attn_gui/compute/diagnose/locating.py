"""Where a convention departs: the first cell, in the order of stages, heads, rows and columns."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import torch

from attn_gui.compute.diagnose.comparing import Pair
from attn_gui.compute.diagnose.inputs import Block
from attn_gui.compute.diagnose.search import Search
from attn_gui.compute.diagnose.state import State
from attn_gui.compute.diagnose.trials import Chosen, Judged
from attn_gui.model.diagnosis import Convention, Departure, Miss
from attn_gui.model.question import Question

# parts of a State in their order, and the stage that each is
STAGES = {
    "Q": "Q",
    "K": "K",
    "V": "V",
    "raw": "raw",
    "scaled": "scaled",
    "clear": "A",
    "A": "A_masked",
    "N": "N",
    "head_output": "head_output",
}


@dataclass(frozen=True)
class _Cell:
    """A cell of a pair, by its place in the whole stage."""

    head: int
    row: int
    column: int
    found: float
    expected: float


def miss(search: Search, judged: Judged, question: Question) -> Generator[int, None, Miss | None]:
    """How far a convention gets against the given numbers, block by block; None where it reproduces them."""
    at = len(judged.verdicts) - 1
    departing, cells, largest = 0, 0, 0.0
    first: _Cell | None = None
    final: State | None = None
    for block, state, pair in search.pairs(judged.chosen, at):
        with search.computing():
            difference = pair.difference
            departs = difference > pair.tolerance
            departing, cells = departing + int(departs.sum()), cells + difference.numel()
            largest, final = max(largest, float(difference.amax())), state
            cell = _first(pair, departs, block, block.rows)
        if cell is not None and (first is None or (cell.head, cell.row) < (first.head, first.row)):
            first = cell
        yield 0
    if first is None or final is None:
        return None
    name = [name for name, _ in question.given()][at]
    departure = _departure(_stage(name, final, question), first)
    return Miss(convention(search, judged.chosen), largest, departing, cells, departure)


def convention(search: Search, chosen: Chosen) -> Convention:
    """``chosen`` with what the level of the search adds to it."""
    return Convention(chosen if search.level.choice is None else (*chosen, search.level.choice))


def between(search: Search, chosen: Chosen, question: Question) -> Departure | None:
    """The first stage and cell where ``chosen`` departs from the standard; None where no stage does."""
    block = search.block_for(chosen)
    theirs, ours = search.state(chosen, block), search.state((), block)
    for part, stage in STAGES.items():
        found, expected = getattr(theirs, part), getattr(ours, part)
        if found is None or expected is None:
            continue
        with search.computing():
            pair = Pair(found, expected, search.theirs.tolerance(part, ours))
            rows = None if part in ("K", "V") else block.rows
            cell = _first(pair, pair.difference > pair.tolerance, block, rows)
        if cell is not None:
            return _departure(stage, cell)
    return None


def _first(pair: Pair, departs: torch.Tensor, block: Block, rows: torch.Tensor | None) -> _Cell | None:
    """The first departing cell, ``rows`` being the places of the rows; None where none departs."""
    flat = departs.flatten()
    if not bool(flat.any()):
        return None
    index = int(flat.to(torch.uint8).argmax())
    height, width = departs.shape[1:]
    head, row, column = index // (height * width), index // width % height, index % width
    found, expected = (float(values.expand(departs.shape)[head, row, column]) for values in (pair.found, pair.expected))
    return _Cell(block.heads.start + head, row if rows is None else int(rows[row]), column, found, expected)


def _stage(name: str, state: State, question: Question) -> str:
    if name == "weights":
        return "N_mean" if question.mean else "N"
    if name == "scores":
        return "A" if state.allowed is None or state.late else "A_masked"
    if state.projected:
        return "output"
    return "concat" if question.joined else "head_output"


def _departure(stage: str, cell: _Cell) -> Departure:
    numbers = cell.found, cell.expected
    if stage == "N_mean":
        return Departure("N", None, cell.row, cell.column, None, *numbers)
    if stage in ("raw", "scaled", "A", "A_masked", "N"):
        return Departure(stage, cell.head, cell.row, cell.column, None, *numbers)
    if stage in ("K", "V"):
        return Departure(stage, cell.head, None, cell.row, cell.column, *numbers)
    return Departure(stage, None if stage == "output" else cell.head, cell.row, None, cell.column, *numbers)
