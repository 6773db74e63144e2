"""Scans of a block of queries of one head over all keys: what of their rows is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass

import torch

from attn_gui.compute.numbers import to_numpy
from attn_gui.compute.stream.overview import Blocks
from attn_gui.compute.stream.scores import Scores

LOG2_E = math.log2(math.e)


@dataclass(frozen=True, eq=False)
class Scanned:
    """Of queries ``rows``: their states, outputs and what pictures of them need.

    row: what the normaliser needs of each row, tensors [rows]. empty: queries that may attend to nothing. output:
    [rows, d_v]. sums: of the rows of N, float64 [rows]. tops: each row's largest weight, and the largest without the
    first key, [2, rows]. low, high: of all allowed scores. blocks: what an overview has of them.
    """

    rows: slice
    row: tuple[torch.Tensor, ...]
    empty: torch.Tensor
    output: torch.Tensor
    sums: torch.Tensor
    tops: torch.Tensor
    low: float
    high: float
    blocks: Blocks


def scan(
    scores: Scores, head: int, rows: slice, beside: tuple[float, ...], factors: tuple[int, int]
) -> Generator[None, None, Scanned]:
    """Weights that are exponentials over their sum, in one sweep over the keys; yields between segments.

    The maximum m of each row and the sum l of its exponentials are brought forward from segment to segment (Milakov and
    Gimelshein 2018; Rabe and Staats 2021), the sums of groups with them. Where a score is not finite, ``low`` or
    ``high`` tells so and nothing else can be relied on.
    """
    e, working, group = scores.experiment, scores.working, factors[1]
    V = scores.inputs.V[head].t()  # [d_v, n_k]
    count = len(range(rows.start, rows.stop, rows.step or 1))
    groups = -(-e.n_k // group)

    def new(value: float, *shape: int) -> torch.Tensor:
        return torch.full(shape, value, dtype=working, device=scores.device)

    tops, sums = new(-math.inf, groups, count), new(0.0, groups, count)
    least = max(beside, default=-math.inf)
    m, total = new(least, count), new(sum(math.exp(b - least) for b in beside), count)
    gathered, rest = new(0.0, V.shape[0], count), new(-math.inf, count)
    buffer = torch.empty(max(scores.grid.segment, group), count, dtype=working, device=scores.device)
    shifts: list[tuple[slice, torch.Tensor, torch.Tensor]] = []
    low = math.inf
    for keys, masked in scores.segments(rows, group):
        place = slice(keys.start // group, -(-keys.stop // group))
        S = scores.block(head, rows, keys, out=buffer[: keys.stop - keys.start])  # [keys, rows]
        if masked:
            allowed = scores.allowed(head, rows, keys)
            low = min(low, float(torch.where(allowed, S, math.inf).amin()))
            S = S.masked_fill_(~allowed, -math.inf)
        else:
            low = min(low, float(S.amin()))
        top = _grouped(S, group, torch.amax, tops[place])
        if keys.start == 0 and min(group, len(S)) > 1:
            rest = S[1:group].amax(0)
        new_m = torch.maximum(m, top.amax(0))
        shift = new_m.masked_fill(new_m == -math.inf, 0.0)
        P = S.sub_(shift).mul_(LOG2_E).exp2_()
        part = _grouped(P, group, torch.sum, sums[place])
        kept = torch.exp(m - shift)
        added = part.sum(0)
        total = total.mul_(kept).add_(added)
        gathered.mul_(kept).addmm_(V[:, keys], P)
        shifts.append((place, shift, added))
        m = new_m
        yield
    if groups > 1:
        rest = torch.maximum(rest, tops[1:].amax(0))
    row_tops = tops.amax(0)
    empty = row_tops == -math.inf
    m = m.masked_fill(m == -math.inf, 0.0)
    total = total.masked_fill(total == 0, 1.0)  # of an empty row
    row_sums = torch.zeros(count, dtype=torch.float64)
    for place, shift, added in shifts:
        share = torch.exp(shift - m) / total
        sums[place] *= share
        row_sums += (added * share).cpu()
    blocks = _blocks(tops, sums, m, total, factors[0])
    return Scanned(
        rows,
        (m, total),
        empty,
        (gathered / total).t(),
        row_sums,
        torch.exp(torch.stack([row_tops, rest]) - m) / total,
        low,
        float(row_tops.amax()),
        blocks,
    )


def _blocks(tops: torch.Tensor, sums: torch.Tensor, m: torch.Tensor, total: torch.Tensor, factor: int) -> Blocks:
    """What an overview has of groups of keys, [groups, rows]."""
    scores = _highest(tops, factor)
    largest = _highest(torch.sub(tops, m).exp_().div_(total), factor)
    # set upright first: it is then added up line by line
    upright = sums.t().contiguous()
    added = _grouped(upright, factor, torch.sum, upright.new_empty(scores.shape))
    allowed = scores > -math.inf
    return Blocks(*(to_numpy(part) for part in (scores.masked_fill(~allowed, 0.0), allowed, added, largest)))


def _highest(groups: torch.Tensor, factor: int) -> torch.Tensor:
    """The largest of each ``factor`` rows of ``groups``, [groups, rows]: [blocks, groups]."""
    return torch.nn.functional.max_pool1d(groups[None], factor, ceil_mode=True)[0].t()


def _grouped(block: torch.Tensor, group: int, reduce: Callable[..., torch.Tensor], out: torch.Tensor) -> torch.Tensor:
    """``reduce`` over groups of ``group`` lines of ``block``, [lines, any], put into ``out``, [groups, any]."""
    whole = len(block) // group
    if whole:
        reduce(block[: whole * group].view(whole, group, -1), 1, out=out[:whole])
    if whole * group < len(block):
        reduce(block[whole * group :], 0, out=out[whole])
    return out
