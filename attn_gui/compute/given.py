"""Blocks of what was given, brought to a device in the precision of the experiment, a part at a time."""

from __future__ import annotations

import torch

from attn_gui.compute.numbers import from_numpy, stored
from attn_gui.model.experiment import Experiment
from attn_gui.model.given import Given
from attn_gui.model.sources import GivenScores, GivenWeights


class GivenCells:
    """Scores or weights that were given: blocks of them are looked up where others are computed."""

    def __init__(self, experiment: Experiment, device: torch.device) -> None:
        source = experiment.source
        self._array: Given | None = None
        if isinstance(source, GivenScores | GivenWeights):
            self._array = source.A if isinstance(source, GivenScores) else source.N
        self.scores = isinstance(source, GivenScores)
        self.weights = isinstance(source, GivenWeights)
        self._dtype, self._device = stored(experiment.precision), device

    def block(self, heads: slice | int, rows: slice, keys: slice) -> torch.Tensor:
        """Of ``heads``, [heads, rows, keys], or of one, [rows, keys]; ``rows`` may have a step."""
        assert self._array is not None
        return from_numpy(self._array[heads, rows, keys], self._dtype, self._device)


def by_head(array: Given, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """The whole of ``array``, [heads, n, size], converted head by head."""
    whole = torch.empty(array.shape, dtype=dtype, device=device)
    for head, part in enumerate(array):
        whole[head] = from_numpy(part, dtype, device)
    return whole
