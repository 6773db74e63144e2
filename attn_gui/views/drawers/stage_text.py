"""What a stage is, in a formula of the experiment at hand, its shape and its precision."""

from __future__ import annotations

from attn_gui.model.experiment import Experiment
from attn_gui.model.sources import FromTokens
from attn_gui.model.stage_shape import stage_axes, stage_shape
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head
from attn_gui.views import formulas

BETWEEN = "  ·  "


def formula(e: Experiment, stage: str) -> str:
    """How ``stage`` comes about in ``e``: what it has no part in is left out."""
    if stage in ("Q", "K", "V", "Q_projected", "K_projected"):
        return _of_projection(e, stage)
    scoring = e.scoring
    scaled = formulas.scaled(scoring, "Q Kᵀ", " · ", " / ")
    cap = "" if scoring.softcap is None else formulas.figure(scoring.softcap)
    capped = f"{cap} · tanh(scaled / {cap})" if cap else "scaled"
    joined = e.weights is not None and e.weights.W_O is not None
    added = f", P = {scoring.position.formula or scoring.position.title}"
    cached = "" if e.past is None else f"cache, {'context' if e.variant.is_cross else 'X'}"
    written = {
        "context": f"X' = {cached}" if cached else "X'",
        "X_in": f"X + P{added}",
        "context_in": f"X' + P{added}",
        "raw": "Q Kᵀ",
        "scaled": f"scaled = {scaled}",
        "capped": f"capped = {capped}",
        "bias": f"bias = {' + '.join(bias.formula or bias.title for bias in scoring.biases)}",
        "A": f"A = {(capped if cap else scaled) if e.has_queries else 'given'}{' + bias' if scoring.biases else ''}",
        "A_masked": "A, −∞ where masked" if formulas.is_masked(e) else "A, nothing is masked",
        "N": formulas.weights(e),
        "head_output": "N V",
        "concat": "concat = the heads’ N V side by side",
        "output": f"output = concat W_O{_plus(e, 'b_O')}" if joined else "output = N V" if e.heads == 1 else "concat",
    }
    return written.get(stage, STAGES[stage].formula)


def projection(e: Experiment, letter: str) -> str:
    """``X W_Q + b_Q``: what queries, keys or values are projected from, and by what."""
    rows = "X" if letter == "Q" or not (e.variant.is_cross or e.past is not None) else "X'"
    if letter == "V" and e.values is not None:
        rows = "X''"
    elif e.scoring.position.kind != "none":
        rows = f"({rows} + P)"
    return f"{rows} W_{letter}{_plus(e, f'b_{letter}')}"


def _of_projection(e: Experiment, stage: str) -> str:
    """Of Q, K and V before and after the QK-norm and rotary positions."""
    letter = stage[0]
    start = f"{letter} given" if not isinstance(e.source, FromTokens) else projection(e, letter)
    norm, rotary = e.scoring.qk_norm, e.scoring.rotary
    made = start
    if stage in ("Q", "K") and (norm is not None or rotary is not None):
        made = f"{letter}_projected"
        if norm is not None:
            gain = norm.gain_q if letter == "Q" else norm.gain_k
            made = f"{norm.title}({made}){'' if gain is None else ' · gain'}"
        if rotary is not None:
            made = f"rotary({made})"
    count = 0 if letter == "Q" else len(e.appended)
    what = {"K": "key", "V": "value"}.get(letter, "")
    then = f", then {count} appended {what}{'s' if count > 1 else ''}" if count else ""
    return f"{stage}, given{then}" if made == f"{letter} given" else f"{stage} = {made}{then}"


def told(e: Experiment, stage: str, head: Head) -> str:
    """The formula, the shape with what its axes count, the precision, and which head it is of."""
    (rows, columns), (row_axis, column_axis) = stage_shape(e, stage), stage_axes(e, stage)
    parts = [formula(e, stage), f"{rows:,} × {columns:,} ({row_axis} × {column_axis}), {e.precision}"]
    if STAGES[stage].per_head and e.heads > 1:
        if head == "mean" and STAGES[stage].square:
            parts.append("mean over heads")
        elif head == "mean":
            parts.append("head 1: only scores and weights have a mean")
        else:
            parts.append(f"head {min(head, e.heads - 1) + 1}")
    return BETWEEN.join(parts)


def _plus(e: Experiment, bias: str) -> str:
    return f" + {bias}" if e.weights is not None and e.weights.get(bias) is not None else ""
