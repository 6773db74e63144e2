"""Weights of any cells, from their scores and what is kept of their rows."""

from __future__ import annotations

import array_api_compat.torch as xp
import torch

from attn_gui.compute.stream.scores import Scores

Row = tuple[torch.Tensor, ...]


def row_state(scores: Scores, head: int, masked: torch.Tensor) -> Row:
    """What the weights of whole rows of scores, [rows, n_k] with -inf where masked, depend on: tensors [rows, 1]."""
    A = masked.to(scores.working)
    sinks = scores.experiment.scoring.sinks
    if sinks is not None:
        A = torch.cat([A, torch.full((len(A), 1), sinks[head], dtype=A.dtype, device=A.device)], dim=1)
    return scores.experiment.scoring.normaliser.row_state(A, xp)


def weigh(scores: Scores, masked: torch.Tensor, row: Row, empty: torch.Tensor) -> torch.Tensor:
    """The weights of scores, [rows, keys] with -inf where masked; row: tensors [rows, 1], empty: bool [rows, 1]."""
    N = scores.experiment.scoring.normaliser.cells(masked.to(scores.working), row, xp)
    if empty.any():
        N = N.masked_fill(empty, 0.0)
    weights: torch.Tensor = N.to(scores.dtype)
    return weights
