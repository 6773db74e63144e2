"""Weights of any cells, from their scores and what is kept of their rows."""

from __future__ import annotations

import array_api_compat.torch as xp
import torch

from attn_gui.compute.stream.scores import Scores

Row = tuple[torch.Tensor, ...]
# weighed at a time, so that what comes between stays in a core's own cache
STRIP_CELLS = 1 << 17


def row_state(scores: Scores, head: int, masked: torch.Tensor) -> Row:
    """What the weights of whole rows of scores, [rows, n_k] with -inf where masked, depend on: tensors [rows, 1]."""
    A = masked.to(scores.working)
    sinks = scores.experiment.scoring.sinks
    if sinks is not None:
        A = torch.cat([A, torch.full((len(A), 1), sinks[head], dtype=A.dtype, device=A.device)], dim=1)
    return scores.experiment.scoring.normaliser.row_state(A, xp)


def weigh(
    scores: Scores, masked: torch.Tensor, row: Row, empty: torch.Tensor, out: torch.Tensor | None = None
) -> torch.Tensor:
    """The weights of scores, [rows, keys]; row: tensors [rows, 1], empty: bool [rows, 1]. Or all of them turned.

    masked: with -inf where masked, or with any score, if the weights there are set to 0 afterwards. out: where the
    weights are put, which may be ``masked`` itself.
    """
    N = torch.empty_like(masked, dtype=scores.dtype) if out is None else out
    if scores.experiment.scoring.normaliser.beside() is not None and scores.dtype is scores.working:
        # exponentials over their sum, without memory for what comes between
        top, total = row
        torch.sub(masked, top, out=N).exp_().div_(total)
    else:
        _weigh_in_strips(scores, masked, row, N)
    return N.masked_fill_(empty, 0.0) if empty.any() else N


def _weigh_in_strips(scores: Scores, masked: torch.Tensor, row: Row, N: torch.Tensor) -> None:
    axis = int(masked.stride(1) > masked.stride(0))
    length, other = masked.shape[axis], masked.shape[1 - axis]
    step = max(1, STRIP_CELLS // max(1, other))
    for start in range(0, length, step):
        count = min(step, length - start)
        part, *states = (
            each.narrow(axis, start, count) if each.shape[axis] == length else each for each in (masked, *row)
        )
        found = scores.experiment.scoring.normaliser.cells(part.to(scores.working), tuple(states), xp)
        N.narrow(axis, start, count).copy_(found)
