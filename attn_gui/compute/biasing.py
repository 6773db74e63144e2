"""The bias of an experiment on a device, block by block."""

from __future__ import annotations

import torch

from attn_gui.compute.indices import Indices
from attn_gui.model.experiment import Experiment


class Biasing:
    """Answers for blocks of what is added to the scores, without ever holding n x n; 0 for appended keys."""

    def __init__(self, experiment: Experiment, indices: Indices) -> None:
        self.nothing = not experiment.scoring.biases
        self._experiment = experiment
        self._indices = indices

    def values(self, heads: slice, rows: slice, keys: slice, working: torch.dtype) -> torch.Tensor:
        """What is added to the scores of queries ``rows`` for ``keys``: [heads, rows, keys]."""
        e = self._experiment
        i, j = self._indices.grid(rows, keys)
        columns = self._indices.columns(heads)
        appended = j >= columns.n_k
        j = torch.where(appended, 0, j)
        total = torch.zeros(
            (heads.stop - heads.start, *torch.broadcast_shapes(i.shape, j.shape)), dtype=working, device=i.device
        )
        for bias in e.scoring.biases:
            total += bias.values(i, j, columns, e.heads).to(working)
        return total.masked_fill_(appended, 0.0)
