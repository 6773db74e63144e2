"""Scans of a block of queries of one head over all keys: what of their rows is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch

from attn_gui.compute.numbers import filled, to_numpy, without_subnormals
from attn_gui.compute.stream.overview import Blocks
from attn_gui.compute.stream.rooms import Room
from attn_gui.compute.stream.scores import Scores, Segment

LOG2_E = math.log2(math.e)
# exponentials of scores so far above their shift, and sums of very many of them, are still in the range of float32;
# and so are those of scores so far below 0
ROOM, DEPTH = 40.0, 80.0
# a power of two in the range of float32: a row is only moved by more where it has nothing yet
MOST = 126.0
Put = Callable[[Blocks], None]
# a part of the scores and where, bool, it is masked
Blocked = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True, eq=False)
class Scanned:
    """Of queries ``rows``: their states, outputs and what pictures of them need.

    row: what the normaliser needs of each row, tensors [rows]. empty: queries that may attend to nothing. output:
    [rows, d_v]. sums: of the rows of N, float64 [rows]. tops: each row's largest weight, and the largest without the
    first key, [2, rows]. low, high: of all allowed scores.
    """

    rows: slice
    row: tuple[torch.Tensor, ...]
    empty: torch.Tensor
    output: torch.Tensor
    sums: torch.Tensor
    tops: torch.Tensor
    low: float
    high: float


def scan(
    scores: Scores, head: int, rows: slice, beside: tuple[float, ...], factors: tuple[int, int], put: Put
) -> Generator[None, None, Scanned]:
    """Weights that are exponentials over their sum, in one sweep over the keys; yields between segments.

    While all scores are near 0, none is shifted. Else each row is, by the largest score of the keys that came first,
    and by a larger one only if its exponentials would grow too large otherwise (the maximum brought forward as in
    Milakov and Gimelshein 2018, and Rabe and Staats 2021). Where a score is not finite, ``low`` or ``high`` tells so
    and nothing else can be relied on. ``put`` is given what an overview of blocks of ``factors`` cells has of them.
    """
    with scores.rooms.lent() as room:
        return (yield from _scan(scores, head, rows, beside, factors, put, room))


def _scan(
    scores: Scores, head: int, rows: slice, beside: tuple[float, ...], factors: tuple[int, int], put: Put, room: Room
) -> Generator[None, None, Scanned]:
    working, group = scores.working, factors[1]
    V = scores.inputs.V[head].t()  # [d_v, n_k]
    count = len(range(rows.start, rows.stop, rows.step or 1))
    segments = list(scores.segments(rows, group)) or [Segment(slice(0, 1), (slice(0, 1),))]
    first_group, last = segments[0].keys.start // group, segments[-1].keys.stop
    groups = -(-last // group) - first_group

    def new(value: float, *shape: int) -> torch.Tensor:
        return torch.full(shape, value, dtype=working, device=scores.device)

    # every group lies in one segment
    tops, sums = room.tensor("tops", groups, count), room.tensor("sums", groups, count)
    least = max(beside, default=-math.inf)
    gathered = new(0.0, V.shape[0], count)
    shifts: list[tuple[int, torch.Tensor]] = []  # as powers of two; the first group that each holds for
    minus = limit = new(0.0, count)
    highest, others = [], []  # of each segment; without the first key
    low, any_masked, near = math.inf, False, False
    for keys, masked in segments:
        place = slice(keys.start // group - first_group, -(-keys.stop // group) - first_group)
        S = scores.block(head, rows, keys, out=room.tensor("scores", keys.stop - keys.start, count))  # [keys, rows]
        any_masked = any_masked or bool(masked)
        blocked = [
            (S[part.start - keys.start : part.stop - keys.start], ~scores.allowed(head, rows, part)) for part in masked
        ]
        for part, cells in blocked:
            filled(part, cells, math.inf)
        lowest = float(S.amin())
        low = min(low, lowest)
        for part, cells in blocked:
            filled(part, cells, -math.inf)
        top = _grouped(S, group, torch.amax, tops[place])
        highest.append(top.amax(0))
        others.append(_highest_but_first(S, top, group) if keys.start == 0 else highest[-1])
        if not shifts or bool((highest[-1] > limit).any()):
            so_far = torch.stack(highest).amax(0).clamp_(min=least)
            begun, near_before = so_far > -math.inf, near
            near = low >= -DEPTH and float(so_far.amax()) <= ROOM
            shift = new(0.0, count) if near else _finite(so_far)
            # a row that has nothing so far is shifted by what comes first
            minus, limit = shift * -LOG2_E, torch.where(begun, shift + ROOM, -math.inf)
            if not (near and near_before):
                if shifts:
                    gathered *= torch.exp2((minus - shifts[-1][1]).clamp_(max=MOST))
                shifts.append((place.start, minus))
        with without_subnormals():  # which add nothing to a sum that is 1 or more
            P = _powers(S, minus, blocked, near and lowest >= -DEPTH)
            _grouped(P, group, torch.sum, sums[place])
            gathered.addmm_(V[:, keys], P)
        yield
    ends = torch.stack([torch.stack(each).amax(0) for each in (highest, others)])  # [2, rows]
    m = _finite(ends[0].clamp(min=least))
    spans = [
        (sums[start:stop], _between(by, m)) for (start, by), (stop, _) in pairwise([*shifts, (groups, shifts[-1][1])])
    ]
    row_sums = torch.stack([part.sum(0) * factor for part, factor in spans]).sum(0)
    total = row_sums + sum(torch.exp(b - m) for b in beside)
    total.masked_fill_(total == 0, 1.0)  # of an empty row
    for part, factor in spans:
        part *= factor / total
    largest = torch.exp(ends - m) / total
    put(_blocks(first_group, tops, sums, m, total, factors[0], any_masked, room))
    return Scanned(
        rows,
        (m, total),
        ends[0] == -math.inf,
        gathered.mul_(spans[-1][1] / total).t(),
        (row_sums / total).cpu().double(),
        largest,
        low,
        float(ends[0].amax()),
    )


def _powers(S: torch.Tensor, minus: torch.Tensor, blocked: Sequence[Blocked], near: bool) -> torch.Tensor:
    """Exponentials of scores that are moved by ``minus``, a power of two of each row; ``S``, [keys, rows], itself.

    near: ``minus`` is 0 and no score is far from 0. What is blocked is -inf in S.
    """
    if not near:
        return torch.add(minus, S, alpha=LOG2_E, out=S).exp2_()
    for part, _ in blocked:  # exponentials of -inf take ten times as long
        part.clamp_(min=-DEPTH)
    S.exp_()
    for part, cells in blocked:
        filled(part, cells, 0.0)
    return S


def _between(minus: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
    """What brings exponentials that were moved by ``minus``, a power of two, to those of scores less ``m``, [rows]."""
    scale = torch.tensor(LOG2_E, dtype=m.dtype).double()  # rounded as it was for them
    # not every device has numbers so exact
    return torch.exp2((-minus.cpu().double() - m.cpu().double() * scale).clamp_(max=MOST)).to(m)


def _finite(tops: torch.Tensor) -> torch.Tensor:
    """0 for rows that have nothing allowed so far."""
    return tops.masked_fill(tops == -math.inf, 0.0)


def _blocks(
    first: int,
    tops: torch.Tensor,
    sums: torch.Tensor,
    m: torch.Tensor,
    total: torch.Tensor,
    factor: int,
    any_masked: bool,
    room: Room,
) -> Blocks:
    """What an overview has of groups of keys, [groups, rows], in memory of ``room``; ``tops`` is written over."""

    scores, added = _highest(tops, factor), _added(sums, factor, room)
    allowed = scores > -math.inf if any_masked else scores.new_ones((), dtype=torch.bool).expand(scores.shape)
    if any_masked:
        scores.masked_fill_(~allowed, 0.0)
    largest = _highest(tops.sub_(m).exp_().div_(total), factor)
    return Blocks(first, *(to_numpy(part) for part in (scores, allowed, added, largest)))


def _highest(groups: torch.Tensor, factor: int) -> torch.Tensor:
    """The largest of each ``factor`` columns of ``groups``, [groups, rows]: [blocks, groups]."""
    return torch.nn.functional.max_pool1d(groups[None], factor, ceil_mode=True)[0].t()


def _added(groups: torch.Tensor, factor: int, room: Room) -> torch.Tensor:
    """The sum of each ``factor`` columns of ``groups``, [groups, rows]: [blocks, groups]; a power of two."""
    for step in range(factor.bit_length() - 1):
        count, width = groups.shape
        out = room.tensor(f"added {step}", count, -(-width // 2))
        torch.add(groups[:, : width - 1 : 2], groups[:, 1::2], out=out[:, : width // 2])
        if width % 2:
            out[:, -1] = groups[:, -1]
        groups = out
    return groups.t()


def _highest_but_first(S: torch.Tensor, top: torch.Tensor, group: int) -> torch.Tensor:
    """The largest of ``S``, [keys, rows], and of its groups, ``top``, but for its first key: [rows]."""
    parts = [part for part in (S[1:group], top[1:]) if len(part)]
    return torch.stack([part.amax(0) for part in parts]).amax(0) if parts else torch.full_like(top[0], -math.inf)


def _grouped(block: torch.Tensor, group: int, reduce: Callable[..., torch.Tensor], out: torch.Tensor) -> torch.Tensor:
    """``reduce`` over groups of ``group`` lines of ``block``, [lines, any], put into ``out``, [groups, any]."""
    lines = block.shape[0]
    whole = lines // group
    if whole:
        reduce(block[: whole * group].view(whole, group, -1), 1, out=out[:whole])
    if whole * group < lines:
        reduce(block[whole * group :], 0, out=out[whole])
    return out
