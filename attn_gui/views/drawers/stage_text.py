"""What a stage is, in a formula of the experiment at hand, its shape and its precision."""

from __future__ import annotations

from attn_gui.model.experiment import Experiment
from attn_gui.model.sources import GivenQKV
from attn_gui.model.stage_shape import stage_axes, stage_shape
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head


def formula(e: Experiment, stage: str) -> str:
    """How ``stage`` comes about in ``e``: what it has no part in is left out."""
    if stage in ("Q", "K", "V"):
        if isinstance(e.source, GivenQKV):
            return f"{stage}, given"
        X = "X'" if stage != "Q" and e.variant.is_cross else "X"
        return f"{stage} = {X} W_{stage}{_plus(e, f'b_{stage}')}"
    scaled = "Q Kᵀ / √d_k" if e.scoring.scale is None else f"{e.scoring.scale:g} · Q Kᵀ"
    capped = "scaled" if e.scoring.softcap is None else f"{e.scoring.softcap:g} · tanh(scaled / {e.scoring.softcap:g})"
    joined = e.weights is not None and e.weights.W_O is not None
    formulas = {
        "raw": "Q Kᵀ",
        "scaled": f"scaled = {scaled}",
        "capped": f"capped = {capped}",
        "A": f"A = {scaled if e.scoring.softcap is None else capped}",
        "A_masked": "A, −∞ where masked",
        "N": "N = softmax(A)",
        "head_output": "N V",
        "concat": "concat = the heads’ N V side by side",
        "output": f"output = concat W_O{_plus(e, 'b_O')}" if joined else "output = N V" if e.heads == 1 else "concat",
    }
    return formulas.get(stage, STAGES[stage].formula)


def told(e: Experiment, stage: str, head: Head) -> str:
    """The formula, the shape with what its axes count, the precision, and which head it is of."""
    (rows, columns), (row_axis, column_axis) = stage_shape(e, stage), stage_axes(e, stage)
    parts = [formula(e, stage), f"{rows} × {columns} ({row_axis} × {column_axis}), {e.precision}"]
    if STAGES[stage].per_head and e.heads > 1:
        if head == "mean" and STAGES[stage].square:
            parts.append("mean over heads")
        elif head == "mean":
            parts.append("head 1: only scores and weights have a mean")
        else:
            parts.append(f"head {min(head, e.heads - 1) + 1}")
    return "  ·  ".join(parts)


def _plus(e: Experiment, bias: str) -> str:
    return f" + {bias}" if e.weights is not None and e.weights.get(bias) is not None else ""
