"""Sigmoid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.dialects import Dialect
from attn_gui.model.normalisers.normaliser import Normaliser
from attn_gui.model.parts import number


@dataclass(frozen=True)
class Sigmoid(Normaliser):
    """``1 / (1 + exp(-(A + b)))``, each cell by itself (Ramapuram et al. 2024, who advise b = -ln n_k)."""

    kind: ClassVar[str] = "sigmoid"
    title: ClassVar[str] = "Sigmoid"
    name: ClassVar[str] = "sigmoid"
    formula: ClassVar[str] = "1 / (1 + exp(−(Aᵢⱼ + b)))"
    about: ClassVar[str] = "Each weight by itself: a row may sum to anything"
    sums_to_one: ClassVar[bool] = False
    sinks: ClassVar[bool] = False
    shift: float = number(0.0, "b", hint="Added to every score; −ln(number of keys) keeps rows near 1")

    def written(self, scores: str) -> str:
        sign = "−" if self.shift < 0 else "+"
        return super().written(f"{scores} {sign} {abs(self.shift):g}" if self.shift else scores)

    def cells(self, A: Any, row: tuple[Any, ...], xp: Any) -> Any:
        z = A + self.shift
        # the exponential of a number below 0 cannot overflow
        small = xp.exp(-xp.abs(z))
        return xp.where(z >= 0, 1 / (1 + small), small / (1 + small))

    def script(self, d: Dialect) -> str:
        z = f"A + {float(self.shift)}" if self.shift else "A"
        if d.is_torch:
            return f"def sigmoid(A):\n    return torch.sigmoid({z})"
        return (
            "def sigmoid(A):\n"
            '    """1 / (1 + exp(-A)), each cell by itself; no exponential overflows."""\n'
            f"    z = {z}\n"
            "    small = np.exp(-np.abs(z))\n"
            "    return np.where(z >= 0, 1 / (1 + small), small / (1 + small))"
        )
