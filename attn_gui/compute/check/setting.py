"""Setting: what the stages of an experiment are computed from, in float64."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from attn_gui.compute.biasing import Biasing
from attn_gui.compute.indices import Indices
from attn_gui.compute.masking import Mask
from attn_gui.compute.projections import Projections
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision
from attn_gui.model.sources import FromTokens

T = torch.Tensor
WORKING = torch.float64


class Setting:
    """Inputs, mask and bias of ``experiment``.

    allowed: [heads or 1, n_q, n_k] bool, None where every query may attend to every key. bias: [heads, n_q, n_k], None
    where there is none. sinks: [heads, 1, 1] or None.
    """

    def __init__(self, experiment: Experiment) -> None:
        self.e = e = replace(experiment, precision=Precision.FLOAT64, hidden=frozenset())
        device = torch.device("cpu")
        self.projections = Projections(e, device)
        indices = Indices(e, device)
        mask, bias = Mask(e, device, indices), Biasing(e, indices)
        heads, rows, keys = slice(0, e.heads), slice(0, e.n_q), slice(0, e.n_k)
        self.allowed: T | None = None if mask.everything else mask.allowed(heads, rows, keys)
        self.bias: T | None = None if bias.nothing else bias.values(heads, rows, keys, WORKING)
        sinks = e.scoring.sinks
        self.sinks = None if sinks is None else self.tensor(np.array(sinks))[:, None, None]

    def tensor(self, array: np.ndarray[Any, Any]) -> T:
        return self.projections.tensor(array)

    def given(self, part: str) -> T | None:
        """What was given of the stage ``part``; None where it is computed."""
        parts = {} if isinstance(self.e.source, FromTokens) else self.e.source.parts()
        return self.tensor(parts[part]) if part in parts else None

    def weight(self, name: str) -> T | None:
        """A matrix or a bias; None where there is none."""
        return self.projections.weight(name)
