"""Scans of a block of queries of one head over all keys: what of their rows is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from itertools import pairwise

import torch

from attn_gui.compute.numbers import to_numpy
from attn_gui.compute.stream.overview import Blocks
from attn_gui.compute.stream.scores import Scores, Segment

LOG2_E = math.log2(math.e)
# exponentials of scores so far above their shift, and sums of very many of them, are still in the range of float32
ROOM = 40.0


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

    Each row is shifted by the largest score of the keys that came first, and by a larger one only if its exponentials
    would grow too large otherwise (the maximum brought forward as in Milakov and Gimelshein 2018, and Rabe and Staats
    2021). Where a score is not finite, ``low`` or ``high`` tells so and nothing else can be relied on.
    """
    working, group = scores.working, factors[1]
    V = scores.inputs.V[head].t()  # [d_v, n_k]
    count = len(range(rows.start, rows.stop, rows.step or 1))
    segments = list(scores.segments(rows, group)) or [Segment(slice(0, 1), True)]
    first_group, last = segments[0].keys.start // group, segments[-1].keys.stop
    groups = -(-last // group) - first_group

    def new(value: float, *shape: int) -> torch.Tensor:
        return torch.full(shape, value, dtype=working, device=scores.device)

    tops, sums = new(-math.inf, groups, count), new(0.0, groups, count)
    least = max(beside, default=-math.inf)
    shift, total = new(least, count), new(sum(math.exp(b - least) for b in beside), count)
    gathered, rest, row_sums = new(0.0, V.shape[0], count), new(-math.inf, count), new(0.0, count)
    buffer = torch.empty(max(scores.grid.segment, group), count, dtype=working, device=scores.device)
    shifted: list[tuple[int, torch.Tensor]] = []  # the first group that a shift holds for
    low = math.inf
    for keys, masked in segments:
        place = slice(keys.start // group - first_group, -(-keys.stop // group) - first_group)
        S = scores.block(head, rows, keys, out=buffer[: keys.stop - keys.start])  # [keys, rows]
        if masked:
            allowed = scores.allowed(head, rows, keys)
            low = min(low, float(torch.where(allowed, S, math.inf).amin()))
            S.masked_fill_(~allowed, -math.inf)
        else:
            low = min(low, float(S.amin()))
        top = _grouped(S, group, torch.amax, tops[place])
        if keys.start == 0 and min(group, S.shape[0]) > 1:
            rest = S[1:group].amax(0)
        row_top = top.amax(0)
        if not shifted or bool((row_top > shift + ROOM).any()):
            before, shift = shift, _finite(torch.maximum(shift, row_top))
            kept = torch.exp(before - shift)
            total, row_sums, gathered = total * kept, row_sums * kept, gathered * kept
            shifted.append((place.start, shift))
        P = S.sub_(shift).mul_(LOG2_E).exp2_()
        row_sums += _grouped(P, group, torch.sum, sums[place]).sum(0)
        gathered.addmm_(V[:, keys], P)
        yield
    after = tops[1:] if first_group == 0 else tops
    if len(after):
        rest = torch.maximum(rest, after.amax(0))
    row_tops = tops.amax(0)
    m = _finite(torch.maximum(row_tops, new(least, count)))
    total = (total + row_sums) * torch.exp(shift - m)
    total = total.masked_fill(total == 0, 1.0)  # of an empty row
    for (start, by), (stop, _) in pairwise([*shifted, (groups, shift)]):
        sums[start:stop] *= torch.exp(by - m) / total
    share = torch.exp(shift - m) / total
    return Scanned(
        rows,
        (m, total),
        row_tops == -math.inf,
        (gathered * share).t(),
        (row_sums * share).cpu().double(),
        torch.exp(torch.stack([row_tops, rest]) - m) / total,
        low,
        float(row_tops.amax()),
        _blocks(first_group, tops, sums, m, total, factors[0]),
    )


def _finite(tops: torch.Tensor) -> torch.Tensor:
    """0 for rows that have nothing allowed so far."""
    return tops.masked_fill(tops == -math.inf, 0.0)


def _blocks(
    first: int, tops: torch.Tensor, sums: torch.Tensor, m: torch.Tensor, total: torch.Tensor, factor: int
) -> Blocks:
    """What an overview has of groups of keys, [groups, rows]."""
    scores = _highest(tops, factor)
    largest = _highest(torch.sub(tops, m).exp_().div_(total), factor)
    # set upright first: it is then added up line by line
    upright = sums.t().contiguous()
    added = _grouped(upright, factor, torch.sum, upright.new_empty(scores.shape))
    allowed = scores > -math.inf
    return Blocks(first, *(to_numpy(part) for part in (scores.masked_fill(~allowed, 0.0), allowed, added, largest)))


def _highest(groups: torch.Tensor, factor: int) -> torch.Tensor:
    """The largest of each ``factor`` rows of ``groups``, [groups, rows]: [blocks, groups]."""
    return torch.nn.functional.max_pool1d(groups[None], factor, ceil_mode=True)[0].t()


def _grouped(block: torch.Tensor, group: int, reduce: Callable[..., torch.Tensor], out: torch.Tensor) -> torch.Tensor:
    """``reduce`` over groups of ``group`` lines of ``block``, [lines, any], put into ``out``, [groups, any]."""
    lines = block.shape[0]
    whole = lines // group
    if whole:
        reduce(block[: whole * group].view(whole, group, -1), 1, out=out[:whole])
    if whole * group < lines:
        reduce(block[whole * group :], 0, out=out[whole])
    return out
