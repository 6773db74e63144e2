"""What mask rules and biases look at, on a device."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray

from attn_gui.compute.numbers import summed
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Columns


class Indices:
    """Indices and per-token columns of an experiment as tensors; what was brought to the device once stays there."""

    def __init__(self, experiment: Experiment, device: torch.device) -> None:
        self._numpy = experiment.columns()
        self._device = device
        self._floats = summed(experiment.precision)
        self._brought: dict[int, tuple[NDArray[Any], torch.Tensor]] = {}

    def grid(self, rows: slice, columns: slice) -> tuple[torch.Tensor, torch.Tensor]:
        """The indices of queries ``rows``, [rows, 1], and keys ``columns``, [1, columns]; ``rows`` may have a step."""
        i = torch.arange(rows.start, rows.stop, rows.step or 1, device=self._device)[:, None]
        j = torch.arange(columns.start, columns.stop, device=self._device)[None, :]
        return i, j

    def columns(self, heads: slice) -> Columns:
        """What a rule may look at besides, for a block of heads, [heads, 1, 1]."""
        numpy = self._numpy
        return Columns(
            numpy.n_q,
            numpy.n_k,
            numpy.offset,
            {name: self.here(column) for name, column in numpy.key.items()},
            {name: self.here(column) for name, column in numpy.query.items()},
            torch.arange(heads.start, heads.stop, device=self._device)[:, None, None],
            self.here,
        )

    def here(self, array: NDArray[Any]) -> torch.Tensor:
        """``array`` on the device, where it stays; floats in the type that sums run in."""
        # kept beside its tensor: while it lives, no other array can have its id
        found = self._brought.get(id(array))
        if found is None:
            dtype = self._floats if array.dtype.kind == "f" else None
            found = self._brought[id(array)] = (array, torch.tensor(array, dtype=dtype, device=self._device))
        return found[1]
