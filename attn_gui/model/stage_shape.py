"""Which stages an experiment has, the shape of each, and what its axes count."""

from __future__ import annotations

from attn_gui.model.experiment import Experiment, GivenQKV
from attn_gui.model.stages import STAGES

OF_KEYS = ("context", "K", "V")


def stages_of(experiment: Experiment) -> tuple[str, ...]:
    """The stages that ``experiment`` has, in the order of the computation."""
    absent = set() if experiment.variant.is_cross else {"context"}
    if isinstance(experiment.source, GivenQKV):
        absent |= {"X", "context"}
    return tuple(name for name in STAGES if name not in absent)


def stage_shape(experiment: Experiment, stage: str) -> tuple[int, int]:
    """Rows and columns of ``stage``, of one head where it is per head."""
    e = experiment
    if STAGES[stage].square:
        return e.n_q, e.n_k
    widths = {"X": e.tokens.width, "context": e.keys.width, "Q": e.d_k, "K": e.d_k, "concat": e.heads * e.d_v}
    width = widths.get(stage, e.d_v)
    if stage == "output":
        W_O = None if e.weights is None else e.weights.W_O
        width = e.heads * e.d_v if W_O is None else W_O.width
    return (e.n_k if stage in OF_KEYS else e.n_q), width


def stage_axes(experiment: Experiment, stage: str) -> tuple[str, str]:
    """What the rows and the columns of ``stage`` are: ``("tokens", "d_k")``."""
    if STAGES[stage].square:
        return "queries", "keys"
    rows = "context" if stage in OF_KEYS and experiment.variant.is_cross else "tokens"
    columns = {
        "X": "d_model",
        "context": "d_context",
        "Q": "d_k",
        "K": "d_k",
        "concat": "heads · d_v",
        "output": "d_out",
    }
    return rows, columns.get(stage, "d_v")
