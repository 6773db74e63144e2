"""What the stops of a walk are called."""

from __future__ import annotations

from attn_gui.model.experiment import Experiment
from attn_gui.model.stage_shape import OF_KEYS
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head
from attn_gui.views.cut_text import beginning

LONGEST = 24

_NAMES = {
    "X": ("X", "Embeddings"),
    "context": ("X'", "Embeddings of the keys"),
    "values": ("X''", "Embeddings of the values"),
    "X_in": ("+ P", "Positions added"),
    "context_in": ("+ P'", "Positions of the keys added"),
    "Q": ("Q", "Queries"),
    "K": ("K", "Keys"),
    "V": ("V", "Values"),
    "raw": ("QKᵀ", "Scores: q · k"),
    "capped": ("softcap", "Softcap"),
    "A": ("bias", "Bias added"),
    "A_masked": ("mask", "Mask"),
    "concat": ("concat", "Heads side by side"),
    "output": ("W_O", "Output: concat W_O"),
}


def short(experiment: Experiment, stage: str) -> str:
    """What stands under the tick of ``stage``."""
    return _names(experiment, stage)[0]


def title(experiment: Experiment, stage: str) -> str:
    """What ``stage`` is called, in words."""
    return _names(experiment, stage)[1]


def where(experiment: Experiment, stage: str, head: Head, cell: tuple[int, int]) -> str:
    """Which number of ``stage``, at ``cell`` (row, column), is looked at."""
    e, (row, column) = experiment, cell
    which = ""
    if STAGES[stage].per_head and e.heads > 1:
        which = f", mean of {e.heads} heads" if head == "mean" else f", head {head + 1}"
    if STAGES[stage].square:
        return f"{_quoted(e.tokens.tokens[row])} → {_quoted(e.keys.tokens[column])}{which}"
    token = _quoted((e.keys if stage in OF_KEYS else e.tokens).tokens[row])
    if stage == "concat":
        of, dimension = divmod(column, e.d_v)
        return f"{token}, head {of + 1}, dimension {dimension + 1}"
    inputs = {"X": e.tokens, "X_in": e.tokens, "context": e.key_rows, "context_in": e.key_rows, "values": e.value_rows}
    name = inputs[stage].dimension_name(column) if stage in inputs else f"dimension {column + 1}"
    return f"{token}, {name}{which}"


def _quoted(token: str) -> str:
    return f"“{beginning(token, LONGEST)}”"


def _names(e: Experiment, stage: str) -> tuple[str, str]:
    scoring = e.scoring
    if stage == "scaled":
        plain = scoring.scale is None and scoring.temperature == 1
        return ("÷ √d_k", "Scale: ÷ √d_k") if plain else ("scale", "Scale")
    if stage == "N" and not e.has_scores:
        return "N", "Weights as given"
    if stage == "A" and not e.has_queries:
        return "A", "Scores as given" + (", bias added" if scoring.biases else "")
    if stage == "N":
        return scoring.normaliser.name, f"Weights: {scoring.normaliser.name}"
    if stage == "head_output":
        return "N V", "Output: N V" if not e.variant.is_multi_head else "Head output: N V"
    if stage in ("Q_projected", "K_projected"):
        given = e.weights is None
        letter, what = stage[0], "Queries" if stage[0] == "Q" else "Keys"
        return (letter if given else f"W_{letter}"), f"{what} as {'given' if given else 'projected'}"
    if stage in ("Q", "K"):
        done = [
            word
            for word, part in (("normalised", scoring.qk_norm), ("turned by position", scoring.rotary))
            if part is not None
        ]
        if done:
            symbol, name = _NAMES[stage]
            return symbol, f"{name}, {' and '.join(done)}"
    return _NAMES[stage]
