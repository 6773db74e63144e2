"""The usual ways to normalise queries and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.qk_norm.qk_norm import QKNorm


@dataclass(frozen=True, eq=False)
class RMSNorm(QKNorm):
    """``x / sqrt(mean(x**2) + eps)`` (Zhang and Sennrich 2019; Qwen 3, Gemma 3)."""

    kind: ClassVar[str] = "rms"
    title: ClassVar[str] = "RMS norm"
    formula: ClassVar[str] = "x / √(mean(x²) + ε)"

    def normalised(self, rows: Any, xp: Any) -> Any:
        return rows / xp.sqrt(xp.mean(rows * rows, axis=-1, keepdims=True) + self.eps)


@dataclass(frozen=True, eq=False)
class LayerNorm(QKNorm):
    """``(x - mean) / sqrt(var + eps)`` (Ba et al. 2016; ViT-22B, Dehghani et al. 2023)."""

    kind: ClassVar[str] = "layer"
    title: ClassVar[str] = "Layer norm"
    formula: ClassVar[str] = "(x − mean) / √(var + ε)"

    def normalised(self, rows: Any, xp: Any) -> Any:
        centred = rows - xp.mean(rows, axis=-1, keepdims=True)
        return centred / xp.sqrt(xp.mean(centred * centred, axis=-1, keepdims=True) + self.eps)


@dataclass(frozen=True, eq=False)
class L2Norm(QKNorm):
    """``x / max(|x|, eps)`` (Henry et al. 2020): scores become cosines."""

    kind: ClassVar[str] = "l2"
    title: ClassVar[str] = "Length 1"
    formula: ClassVar[str] = "x / |x|"

    def normalised(self, rows: Any, xp: Any) -> Any:
        length = xp.sqrt(xp.sum(rows * rows, axis=-1, keepdims=True))
        return rows / xp.where(length > self.eps, length, xp.full_like(length, self.eps))
