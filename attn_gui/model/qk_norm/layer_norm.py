"""Layer norm of queries and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.dialects import Dialect
from attn_gui.model.qk_norm.qk_norm import QKNorm


@dataclass(frozen=True, eq=False)
class LayerNorm(QKNorm):
    """``(x - mean) / sqrt(var + eps)`` (Ba et al. 2016; ViT-22B, Dehghani et al. 2023)."""

    kind: ClassVar[str] = "layer"
    title: ClassVar[str] = "Layer norm"
    formula: ClassVar[str] = "(x − mean) / √(var + ε)"

    def normalised(self, rows: Any, xp: Any) -> Any:
        centred = rows - xp.mean(rows, axis=-1, keepdims=True)
        return centred / xp.sqrt(xp.mean(centred * centred, axis=-1, keepdims=True) + self.eps)

    def script(self, d: Dialect) -> str:
        return (
            "def normed(rows):\n"
            '    """Layer norm (Ba et al. 2016)."""\n'
            f"    rows = rows - {d.reduced('mean', 'rows')}\n"
            f"    return rows / {d.xp}.sqrt({d.reduced('mean', '(rows * rows)')} + {float(self.eps)})"
        )
