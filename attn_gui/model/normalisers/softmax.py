"""Softmax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.dialects import Dialect
from attn_gui.model.normalisers.normaliser import Normaliser, exponentials


@dataclass(frozen=True)
class Softmax(Normaliser):
    """``exp(A_j) / sum_k exp(A_k)`` (Vaswani et al. 2017)."""

    kind: ClassVar[str] = "softmax"
    title: ClassVar[str] = "Softmax"
    name: ClassVar[str] = "softmax"
    formula: ClassVar[str] = "exp(Aᵢⱼ) / Σₖ exp(Aᵢₖ)"
    about: ClassVar[str] = "Each row sums to 1"

    def weights(self, A: Any, xp: Any) -> Any:
        powers, _ = exponentials(A, xp)
        return powers / xp.sum(powers, axis=-1, keepdims=True)

    def script(self, d: Dialect) -> str:
        if d.is_torch:
            return ""
        return (
            "def softmax(A):\n"
            f"    powers = np.exp(A - {d.reduced('max', 'A')})\n"
            f"    return powers / {d.reduced('sum', 'powers')}"
        )
