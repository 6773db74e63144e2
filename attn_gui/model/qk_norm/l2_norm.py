"""Queries and keys of length 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.dialects import Dialect
from attn_gui.model.qk_norm.qk_norm import QKNorm


@dataclass(frozen=True, eq=False)
class L2Norm(QKNorm):
    """``x / max(|x|, eps)`` (Henry et al. 2020): scores become cosines."""

    kind: ClassVar[str] = "l2"
    title: ClassVar[str] = "Length 1"
    formula: ClassVar[str] = "x / |x|"

    def normalised(self, rows: Any, xp: Any) -> Any:
        length = xp.sqrt(xp.sum(rows * rows, axis=-1, keepdims=True))
        return rows / xp.where(length > self.eps, length, xp.full_like(length, self.eps))

    def script(self, d: Dialect) -> str:
        length = f"{d.xp}.sqrt({d.reduced('sum', '(rows * rows)')})"
        return (
            "def normed(rows):\n"
            '    """Length 1 (Henry et al. 2020)."""\n'
            f"    return rows / {length}.clip(min={float(self.eps)})"
        )
