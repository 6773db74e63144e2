"""Layer norm of queries and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

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
