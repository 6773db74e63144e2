"""Softmax with an extra 1 in the denominator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.dialects import Dialect
from attn_gui.model.normalisers.normaliser import Normaliser, largest


@dataclass(frozen=True)
class SoftmaxOne(Normaliser):
    """``exp(A_j) / (1 + sum_k exp(A_k))``: a head may attend to nothing much (Miller 2023, "Attention is off by one").

    The same as softmax with a key of score 0 whose value is 0.
    """

    kind: ClassVar[str] = "softmax_one"
    title: ClassVar[str] = "Softmax with 1 +"
    name: ClassVar[str] = "softmax₁"
    formula: ClassVar[str] = "exp(Aᵢⱼ) / (1 + Σₖ exp(Aᵢₖ))"
    about: ClassVar[str] = "Rows may sum to less than 1: a query may attend to nothing much"
    sums_to_one: ClassVar[bool] = False

    def row_state(self, A: Any, xp: Any) -> tuple[Any, ...]:
        top = largest(A, xp, at_least=0.0)
        return top, xp.sum(xp.exp(A - top), axis=-1, keepdims=True) + xp.exp(-top)

    def cells(self, A: Any, row: tuple[Any, ...], xp: Any) -> Any:
        top, total = row
        return xp.exp(A - top) / total

    def beside(self) -> tuple[float, ...]:
        return (0.0,)

    def script(self, d: Dialect) -> str:
        return (
            "def softmax_one(A):\n"
            '    """Softmax with an extra 1 in the denominator."""\n'
            f"    top = {d.reduced('max', 'A')}.clip(min=0)\n"
            f"    powers = {d.xp}.exp(A - top)\n"
            f"    return powers / ({d.reduced('sum', 'powers')} + {d.xp}.exp(-top))"
        )
