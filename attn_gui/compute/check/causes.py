"""Which slip explains the cells of a table that are wrong."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from attn_gui.compute.check.chain import Chain
from attn_gui.compute.check.comparing import Cells, Comparing
from attn_gui.compute.check.setting import Setting
from attn_gui.compute.check.slips import slips
from attn_gui.model.check.checked import Cause
from attn_gui.model.stage_shape import stage_shape, stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.table import Floats
from attn_gui.model.trace import Head

# of the wrong cells and of all answered ones, what a slip has to explain to be named
OF_WRONG, OF_ANSWERED = 2 / 3, 3 / 4
# digits of the wrong cells that it explains: fewer may agree by chance
LEAST_DIGITS = 4


@dataclass(frozen=True, eq=False)
class Start:
    """What a slip may start from: the right numbers, or tables of one's own, which it names."""

    chain: Chain
    own: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Found:
    """A cause, and the stages as they come out with it; None where it is a matter of the table alone."""

    cause: Cause
    chain: Chain | None


@dataclass(frozen=True, eq=False)
class Candidate:
    """values: what a slip makes of the table, [rows, columns]; widened: as :meth:`Comparing.fits`."""

    name: str
    words: str
    values: Floats
    chain: Chain | None = None
    widened: Floats | None = None


def found_cause(
    setting: Setting, stage: str, head: Head, starts: Sequence[Start], comparing: Comparing, wrong: Cells
) -> Generator[float, None, Found | None]:
    """The slip that explains ``wrong``, the cells that neither are right nor follow from earlier tables.

    In short steps; None where none of them does.
    """
    answered = int(comparing.printed.answered.sum())
    least_wrong, least = math.ceil(OF_WRONG * wrong.sum()), math.ceil(OF_ANSWERED * answered)
    best: Found | None = None
    for start in starts:
        usual = start.chain.of(stage, head).numpy()
        # it has to explain more than there is without it
        least = max(least, 1 + int(comparing.fits(usual).sum()))
        for candidate in _candidates(setting, stage, head, start, comparing):
            yield 0.0
            fits = comparing.fits(candidate.values, widened=candidate.widened)
            explained = fits & wrong
            count = int(fits.sum())
            enough = count >= least and explained.sum() >= least_wrong
            if enough and _digits(comparing, explained) >= LEAST_DIGITS and (best is None or count > best.cause.fits):
                best = Found(Cause(candidate.name, candidate.words, count, start.own), candidate.chain)
    return best


def _candidates(setting: Setting, stage: str, head: Head, start: Start, comparing: Comparing) -> Iterator[Candidate]:
    usual = start.chain.of(stage, head)
    for slip in slips(setting, stage):
        chain = start.chain.with_changes(slip.changes)
        values = chain.of(stage, head)
        if values.shape == usual.shape and not torch.equal(values, usual):
            yield Candidate(slip.name, slip.words, values.numpy(), chain)
    if head == "mean":
        with np.errstate(over="ignore"):
            summed = setting.e.heads * usual.numpy()
        yield Candidate("sum_of_heads", "the sum over the heads, not their mean", summed)
    yield from _of_printing(stage, usual.numpy(), comparing)
    yield from _of_others(setting, stage, head, start.chain)


def _of_printing(stage: str, usual: Floats, comparing: Comparing) -> Iterator[Candidate]:
    """Slips of writing down."""
    printed = comparing.printed
    unit = 2 * printed.half_units
    # what leaves the range of numbers fits nothing; to yield in here would be to ignore it elsewhere too
    with np.errstate(invalid="ignore", over="ignore"):
        sums = printed.values.sum(axis=1, keepdims=True)  # [rows, 1], NaN where a cell is blank
        cut = np.where(np.isfinite(usual), np.trunc(usual / unit + np.sign(usual) * 1e-9) * unit, usual)
        percent, unsummed = 100 * usual, np.where(np.isfinite(sums), usual * sums, usual)
        width = np.nan_to_num(usual * printed.half_units.sum(axis=1, keepdims=True))
    # exactly these numbers: half of the last place is not allowed for a second time
    yield Candidate("cut_off", "decimals cut off, not rounded", cut, widened=-printed.half_units * (1 - 1e-6))
    for decimals in range(int(printed.decimals[printed.answered].max(initial=0)) - 1, 0, -1):
        words = f"rounded to {decimals} decimal{'s' if decimals > 1 else ''}"
        yield Candidate("few_decimals", words, np.round(usual, decimals), widened=-printed.half_units * (1 - 1e-6))
    yield Candidate("percent", "percentages", percent)
    yield Candidate("negated", "the sign turned", -usual)
    if stage == "N":
        yield Candidate("rows_not_one", "rows that were not brought to a sum of 1", unsummed, widened=width)


def _of_others(setting: Setting, stage: str, head: Head, chain: Chain) -> Iterator[Candidate]:
    """Numbers of another head or another stage."""
    e = setting.e
    if isinstance(head, int) and e.heads > 1 and STAGES[stage].square:
        yield Candidate("mean_of_heads", "the mean over the heads", chain.of(stage, "mean").numpy())
    if isinstance(head, int) and STAGES[stage].per_head:
        for other in range(e.heads):
            if other != head:
                yield Candidate("other_head", f"the numbers of head {other + 1}", chain.of(stage, other).numpy())
    if head == "mean":
        for other in range(e.heads):
            yield Candidate("one_head", f"the numbers of head {other + 1} alone", chain.of(stage, other).numpy())
    for name in stages_of(e):
        other_head: Head = head if STAGES[name].square or head != "mean" else 0
        if name != stage and stage_shape(e, name) == stage_shape(e, stage):
            words = f"{name}, {STAGES[name].what}"
            yield Candidate("other_stage", words, chain.of(name, other_head).numpy())


def _digits(comparing: Comparing, cells: Cells) -> int:
    """How many digits the answers in ``cells`` have, together."""
    values, decimals = np.abs(comparing.printed.values[cells]), comparing.printed.decimals[cells]
    with np.errstate(divide="ignore"):
        before = np.floor(np.log10(np.where(np.isfinite(values), values, 1.0)))
    whole = np.where(np.isfinite(before), before + 1, 0)
    return int(np.clip(decimals + whole, 1, 17).sum())
