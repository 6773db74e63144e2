"""Precision: what is rounded, and to what."""

from __future__ import annotations

from attn_gui.model.diagnosis import Choice
from attn_gui.model.precision import Precision

_ROUNDINGS = {
    "all": (
        "{name} after every stage",
        "Scores, weights and output are each rounded to {name}; sums inside a stage run in float32.",
        "softmax(q @ k.transpose(-1, -2) * scale, dim=-1, dtype=torch.float32).to({name}) @ v, in {name}",
    ),
    "scores": (
        "{name} scores, softmax in float32",
        "Scores are rounded to {name}; from the softmax on the computation runs in float32.",
        "(q @ k.transpose(-1, -2) * scale).float().softmax(dim=-1) @ v.float(), with q and k in {name}",
    ),
    "ends": (
        "{name} in and out, float32 inside",
        "Queries, keys, values and the result are {name}; nothing between them is rounded.",
        "a fused kernel: scaled_dot_product_attention and flash attention on {name} tensors",
    ),
}


def precision_choice(name: str, rounding: str = "all") -> Choice:
    """The choice of a precision by its name, and of the stages that are rounded to it."""
    if name == Precision.FLOAT32:
        meaning = "The numbers agree as float32 numbers do, and not as float64 numbers would."
        return Choice("precision", name, name, meaning, "q.float() @ k.float().transpose(-1, -2)", Precision.FLOAT32)
    title, meaning, written = (text.format(name=name) for text in _ROUNDINGS[rounding])
    value = Precision(name) if rounding == "all" else None
    return Choice("precision", f"{name} {rounding}", title, meaning, written, value)
