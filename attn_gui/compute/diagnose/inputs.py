"""What every convention starts from, on a device: brought there once for a level, and cut to a block of queries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute import budget
from attn_gui.compute.biasing import Biasing
from attn_gui.compute.diagnose.levels import HALVES, Level
from attn_gui.compute.indices import Indices
from attn_gui.compute.masking import Mask
from attn_gui.compute.numbers import stored, summed
from attn_gui.compute.projections import Projections
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision


class Inputs:
    """Queries, keys and values before norm and rotary positions, mask and bias of an experiment at a level.

    Q: [heads, n_q, d_k]; K, V: [kv_heads, n_k, d_k or d_v]. rounded: the type that stages are rounded to; working: the
    type that sums run in; exact: the type that numbers are compared in. tokens: how many of the keys are tokens',
    before those that are appended. Raises TooLarge where A and N would not fit in memory.
    """

    def __init__(self, experiment: Experiment, level: Level, device: str) -> None:
        self.device = torch.device(device)
        # without rounding, float64 is the nearest to the exact values; MPS has none
        exact = Precision.FLOAT32 if self.device.type == "mps" else Precision.FLOAT64
        precision = level.precision if level.precision in HALVES else exact
        e = self.experiment = replace(experiment, precision=precision)
        budget.check(e, self.device)
        self.level = level
        self.tokens = e.n_k - len(e.appended)
        inputs = self.projections = Projections(e, self.device)
        group = e.heads // e.kv_heads
        self.Q = torch.stack([inputs.of_head("Q_projected", head) for head in range(e.heads)])
        self.K = torch.stack([inputs.of_head("K_projected", head) for head in range(0, e.heads, group)])
        self.V = torch.stack([inputs.of_head("V", head) for head in range(0, e.heads, group)])
        self.W_O, self.b_O = inputs.weight("W_O"), inputs.weight("b_O")
        self.rounded, self.exact = stored(precision), stored(exact)
        if level.rounding == "ends":
            self.Q, self.K, self.V = (part.to(self.exact) for part in (self.Q, self.K, self.V))
            self.W_O, self.b_O = (None if part is None else part.to(self.exact) for part in (self.W_O, self.b_O))
        self.working = summed(exact if level.rounding == "ends" else precision)
        indices = Indices(e, self.device)
        mask = Mask(e, self.device, indices)
        every_head, every_row = slice(0, e.heads), slice(0, e.n_q)
        self.allowed = (
            None if mask.everything else mask.allowed(every_head, every_row, slice(0, e.n_k))
        )  # [1 or heads, n_q, n_k]
        bias = Biasing(e, indices)
        self.bias = (
            None if bias.nothing else bias.values(every_head, every_row, slice(0, e.n_k), self.working)
        )  # [heads, n_q, n_k]

    def tensor(self, array: NDArray[np.floating]) -> torch.Tensor:
        """Numbers to compare with, or to compute with, in the most exact type."""
        return torch.tensor(array, dtype=self.exact, device=self.device)


class Block:
    """Some queries of some heads: ``rows`` are the queries' indices, ``heads`` a slice, by default of all."""

    def __init__(self, inputs: Inputs, rows: torch.Tensor, heads: slice | None = None) -> None:
        e = inputs.experiment
        self.inputs = inputs
        self.rows = rows
        self.heads = slice(0, e.heads) if heads is None else heads
        self.has_every_row = len(rows) == e.n_q
        self._cuts: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    @property
    def cells(self) -> int:
        """Of A."""
        return (self.heads.stop - self.heads.start) * len(self.rows) * self.inputs.experiment.n_k

    def cut(self, array: torch.Tensor) -> torch.Tensor:
        """The block's part of ``array``, [1 or heads, n_q, columns], one of those that every convention looks at."""
        # kept beside its part: while it lives, no other array can have its id
        known = self._cuts.get(id(array))
        if known is None:
            part = self.of_heads(array)
            known = self._cuts[id(array)] = array, part if self.has_every_row else part[:, self.rows]
        return known[1]

    def of_heads(self, array: torch.Tensor) -> torch.Tensor:
        """The block's heads of ``array``, [heads, ..]; an axis of length 1 stays."""
        return array if len(array) == 1 else array[self.heads]
