"""The gains of a QK-norm: learned factors of queries and keys, which there may be or not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment


def has_gains(experiment: Experiment) -> bool:
    """Whether queries or keys have gains."""
    norm = experiment.scoring.qk_norm
    return norm is not None and (norm.gain_q is not None or norm.gain_k is not None)


def with_gains(experiment: Experiment, present: bool) -> Experiment:
    """With gains of queries and keys, ones where there were none, or without any; raises ExperimentError."""
    norm = experiment.scoring.qk_norm
    if norm is None:
        raise ExperimentError("gains", "a QK-norm that they belong to", "none")
    ones = np.ones(experiment.d_k)
    gain_q, gain_k = ((ones if gain is None else gain) if present else None for gain in (norm.gain_q, norm.gain_k))
    scoring = replace(experiment.scoring, qk_norm=replace(norm, gain_q=gain_q, gain_k=gain_k))
    return replace(experiment, scoring=scoring)
