"""What acts on an experiment: what comes before that which was given does not."""

from __future__ import annotations

from attn_gui.model.experiment import Experiment
from attn_gui.model.sources import FromTokens, GivenQKV, GivenScores, called

# by what was given, what would act before it
_BEFORE_SCORES = frozenset({"qk_norm", "rotary", "scale", "temperature", "softcap"})
_BEFORE_WEIGHTS = _BEFORE_SCORES | {"mask", "biases", "normaliser", "sinks"}


def idle(experiment: Experiment, what: str) -> str:
    """Why ``what``, a field of Scoring or ``mask``, does not act on ``experiment``, in a sentence; empty where it does.

    Raised in words too, as ExperimentError, where an experiment is made with it all the same.
    """
    source = experiment.source
    if isinstance(source, FromTokens):
        return ""
    if what == "position":
        what = called(source) if isinstance(source, GivenQKV) else f"The {called(source)}"
        return f"{what} were given: there are no embeddings to add positions to."
    before = _BEFORE_SCORES if isinstance(source, GivenScores) else _BEFORE_WEIGHTS
    if isinstance(source, GivenQKV) or what not in before:
        return ""
    return f"The {called(source)} were given: it would act before them."
