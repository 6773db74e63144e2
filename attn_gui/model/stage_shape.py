"""Which stages an experiment has, the shape of each, and what its axes count."""

from __future__ import annotations

from attn_gui.model.errors import HiddenStage
from attn_gui.model.experiment import Experiment
from attn_gui.model.sources import FromTokens, called, were_given
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head

# what takes every row of every head
FROM_OUTPUTS = ("head_output", "concat", "output")
OF_KEYS = ("context", "context_in", "values", "K_projected", "K", "V")


def stages_of(experiment: Experiment) -> tuple[str, ...]:
    """The stages that ``experiment`` has, in the order of the computation, without those that it hides."""
    return tuple(name for name in computed_stages_of(experiment) if name not in experiment.hidden)


def computed_stages_of(experiment: Experiment) -> tuple[str, ...]:
    """The stages that ``experiment`` has, also those that an exercise hides."""
    e, absent = experiment, set()
    if not isinstance(e.source, FromTokens):
        absent |= {"X", "context"}
    if not e.has_queries:
        absent |= {"Q_projected", "K_projected", "Q", "K", "raw", "scaled", "capped"}
    if not e.has_scores:
        absent |= {"A", "A_masked"}
    if not e.has_values:
        absent |= {"V", "head_output", "concat", "output"}
    if not e.variant.is_cross and e.past is None:
        absent |= {"context", "context_in"}
    if e.values is None:
        absent.add("values")
    if e.scoring.position.kind == "none":
        absent |= {"X_in", "context_in"}
    if e.scoring.qk_norm is None and e.scoring.rotary is None:
        absent |= {"Q_projected", "K_projected"}
    if not e.scoring.biases:
        absent.add("bias")
    return tuple(name for name in STAGES if name not in absent)


def stage_shape(experiment: Experiment, stage: str) -> tuple[int, int]:
    """Rows and columns of ``stage``, of one head where it is per head."""
    e = experiment
    if STAGES[stage].square:
        return e.n_q, e.n_k
    rows = e.n_k if stage in OF_KEYS else e.n_q
    if stage in ("context", "context_in", "values"):
        rows -= len(e.appended)
    widths = {
        "X": e.tokens.width,
        "X_in": e.tokens.width,
        "context": e.present_keys.width,
        "context_in": e.present_keys.width,
        "values": e.value_rows.width,
        "Q_projected": e.d_k,
        "K_projected": e.d_k,
        "Q": e.d_k,
        "K": e.d_k,
        "concat": e.heads * e.d_v,
    }
    width = widths.get(stage, e.d_v)
    if stage == "output":
        W_O = None if e.weights is None else e.weights.W_O
        width = e.heads * e.d_v if W_O is None else W_O.width
    return rows, width


def stage_axes(experiment: Experiment, stage: str) -> tuple[str, str]:
    """What the rows and the columns of ``stage`` are: ``("tokens", "d_k")``."""
    if STAGES[stage].square:
        return "queries", "keys"
    keys = "context" if experiment.variant.is_cross else "tokens" if experiment.past is None else "keys"
    rows = keys if stage in OF_KEYS else "tokens"
    columns = {
        "X": "d_model",
        "X_in": "d_model",
        "context": "d_context",
        "context_in": "d_context",
        "values": "d_values",
        "Q_projected": "d_k",
        "K_projected": "d_k",
        "Q": "d_k",
        "K": "d_k",
        "concat": "heads · d_v",
        "output": "d_out",
    }
    return rows, columns.get(stage, "d_v")


def missing(experiment: Experiment, name: str) -> str:
    """Why ``experiment`` has no stage called ``name``, in a sentence; empty where it has it."""
    e = experiment
    if name in computed_stages_of(e):
        return ""
    if not isinstance(e.source, FromTokens):
        of_outputs = name in ("V", *FROM_OUTPUTS)
        if of_outputs:
            return f"The {called(e.source)} were given without values: there is nothing for them to gather."
        if STAGES[name].square or name in ("Q", "K", "Q_projected", "K_projected"):
            if not e.has_scores:
                return "The weights were given: what scores they come from, nobody knows."
            return "The scores were given: what queries and keys they come from, nobody knows."
        return f"{were_given(e.source)}, and no embeddings."
    return "This experiment has no such step."


def check_stage(experiment: Experiment, name: str) -> None:
    """Raise KeyError, which says which stages there are, unless ``experiment`` has the one called ``name``.

    Raises HiddenStage for one that it has and hides.
    """
    if name in experiment.hidden:
        raise HiddenStage(name)
    if name not in (names := stages_of(experiment)):
        raise KeyError(f"{name!r} is no stage of this experiment, which has {', '.join(names)}")


def square_key(experiment: Experiment, name: str, head: Head) -> tuple[str, Head]:
    """A stage of queries x keys and a head of ``experiment``, counted from 0; raises KeyError or IndexError."""
    if name not in STAGES or not STAGES[name].square:
        names = ", ".join(stage.name for stage in STAGES.values() if stage.square)
        raise KeyError(f"{name!r} is no stage of queries x keys; these are {names}")
    check_stage(experiment, name)
    return name, head if head == "mean" else range(experiment.heads)[head]
