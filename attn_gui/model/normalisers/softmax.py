"""Softmax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.dialects import Dialect
from attn_gui.model.normalisers.normaliser import Normaliser, largest


@dataclass(frozen=True)
class Softmax(Normaliser):
    """``exp(A_j) / sum_k exp(A_k)`` (Vaswani et al. 2017)."""

    kind: ClassVar[str] = "softmax"
    title: ClassVar[str] = "Softmax"
    name: ClassVar[str] = "softmax"
    formula: ClassVar[str] = "exp(Aᵢⱼ) / Σₖ exp(Aᵢₖ)"
    about: ClassVar[str] = "Each row sums to 1"

    def row_state(self, A: Any, xp: Any) -> tuple[Any, ...]:
        top = largest(A, xp)
        return top, xp.sum(xp.exp(A - top), axis=-1, keepdims=True)

    def cells(self, A: Any, row: tuple[Any, ...], xp: Any) -> Any:
        top, total = row
        return xp.exp(A - top) / total

    def beside(self) -> tuple[float, ...]:
        return ()

    def script(self, d: Dialect) -> str:
        if d.is_torch:
            return ""
        return (
            "def softmax(A):\n"
            f"    powers = np.exp(A - {d.reduced('max', 'A')})\n"
            f"    return powers / {d.reduced('sum', 'powers')}"
        )
