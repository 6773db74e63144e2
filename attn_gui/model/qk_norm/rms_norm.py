"""RMS norm of queries and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.dialects import Dialect
from attn_gui.model.qk_norm.qk_norm import QKNorm


@dataclass(frozen=True, eq=False)
class RMSNorm(QKNorm):
    """``x / sqrt(mean(x**2) + eps)`` (Zhang and Sennrich 2019; Qwen 3, Gemma 3)."""

    kind: ClassVar[str] = "rms"
    title: ClassVar[str] = "RMS norm"
    formula: ClassVar[str] = "x / √(mean(x²) + ε)"

    def normalised(self, rows: Any, xp: Any) -> Any:
        return rows / xp.sqrt(xp.mean(rows * rows, axis=-1, keepdims=True) + self.eps)

    def script(self, d: Dialect) -> str:
        return (
            "def normed(rows):\n"
            '    """RMS norm (Zhang and Sennrich 2019)."""\n'
            f"    return rows / {d.xp}.sqrt({d.reduced('mean', '(rows * rows)')} + {float(self.eps)})"
        )
