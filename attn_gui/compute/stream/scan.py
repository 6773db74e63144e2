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
    new = {"dtype": working, "device": scores.device}
    tops = torch.full((groups, count), -math.inf, **new)  # type: ignore[call-overload]
    sums = torch.zeros((groups, count), **new)  # type: ignore[call-overload]
    allowed = torch.zeros((groups, count), dtype=torch.bool, device=scores.device)
    least = max(beside, default=-math.inf)
    m = torch.full((count,), least, **new)  # type: ignore[call-overload]
    total = torch.full((count,), sum(math.exp(b - least) for b in beside), **new)  # type: ignore[call-overload]
    gathered = torch.zeros((V.shape[0], count), **new)  # type: ignore[call-overload]
    first_group = torch.full((count,), -math.inf, **new)  # type: ignore[call-overload]
    buffer = torch.empty((max(scores.grid.segment, group), count), **new)  # type: ignore[call-overload]
    shifts: list[tuple[slice, torch.Tensor]] = []
    low = math.inf
    for keys, masked in scores.segments(rows, group):
        length = keys.stop - keys.start
        place = slice(keys.start // group, -(-keys.stop // group))
        S = scores.block(head, rows, keys, out=buffer[:length])  # [keys, rows]
        if masked:
            cells = scores.allowed(head, rows, keys)
            low = min(low, float(torch.where(cells, S, math.inf).amin()))
            S = S.masked_fill_(~cells, -math.inf)
            allowed[place] = _grouped(cells, group, torch.any)
        else:
            low = min(low, float(S.amin()))
            allowed[place] = True
        top = tops[place] = _grouped(S, group, torch.amax)
        if keys.start == 0 and group > 1 and length > 1:
            first_group = S[1 : min(group, length)].amax(0)
        new_m = torch.maximum(m, top.amax(0))
        shift = new_m.masked_fill(new_m == -math.inf, 0.0)
        P = S.sub_(shift).mul_(LOG2_E).exp2_()
        part = sums[place] = _grouped(P, group, torch.sum)
        kept = torch.exp(m - shift)
        total = total.mul_(kept).add_(part.sum(0))
        gathered.mul_(kept).addmm_(V[:, keys], P)
        shifts.append((place, shift))
        m = new_m
        yield
    empty = ~allowed.any(0)
    rest = torch.maximum(first_group, tops[1:].amax(0)) if groups > 1 else first_group
    m = m.masked_fill(m == -math.inf, 0.0)
    total = total.masked_fill(empty & (total == 0), 1.0)
    for place, shift in shifts:
        sums[place] *= torch.exp(shift - m) / total
    largest = torch.exp(tops - m) / total
    if empty.any():
        sums.masked_fill_(empty, 0.0)
        largest.masked_fill_(empty, 0.0)
        gathered.masked_fill_(empty, 0.0)
    return Scanned(
        rows,
        (m, total),
        empty,
        (gathered / total).t(),
        sums.sum(0, dtype=torch.float64),
        torch.stack([largest.amax(0), torch.exp(rest - m) / total]).masked_fill_(empty, 0.0),
        low,
        float(tops.amax()),
        _blocks(tops, allowed, sums, largest, factors[0]),
    )


def _blocks(
    tops: torch.Tensor, allowed: torch.Tensor, sums: torch.Tensor, largest: torch.Tensor, factor: int
) -> Blocks:
    """Groups of keys, [groups, rows], brought down along the rows as well."""
    some = _folded(allowed, factor, torch.any)
    scores = _folded(tops, factor, torch.amax).masked_fill_(~some, 0.0)
    parts = (scores, some, _folded(sums, factor, torch.sum), _folded(largest, factor, torch.amax))
    return Blocks(*(to_numpy(part) for part in parts))


def _folded(groups: torch.Tensor, factor: int, reduce: Callable[..., torch.Tensor]) -> torch.Tensor:
    """``reduce`` over blocks of ``factor`` rows of ``groups``, [groups, rows]: [blocks, groups]."""
    # set upright first: it is then added up line by line
    return _grouped(groups.t().contiguous(), factor, reduce)


def _grouped(block: torch.Tensor, group: int, reduce: Callable[..., torch.Tensor]) -> torch.Tensor:
    """``reduce`` over groups of ``group`` lines of ``block``, [lines, any]: [groups, any]."""
    whole = len(block) // group
    parts = []
    if whole:
        parts.append(reduce(block[: whole * group].view(whole, group, -1), 1))
    if whole * group < len(block):
        parts.append(reduce(block[whole * group :], 0)[None])
    return parts[0] if len(parts) == 1 else torch.cat(parts)
