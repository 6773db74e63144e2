"""Sparsemax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.dialects import Dialect
from attn_gui.model.normalisers.normaliser import Normaliser, largest


@dataclass(frozen=True)
class Sparsemax(Normaliser):
    """``max(A - tau, 0)`` with tau such that the row sums to 1 (Martins and Astudillo 2016, algorithm 1)."""

    kind: ClassVar[str] = "sparsemax"
    title: ClassVar[str] = "Sparsemax"
    name: ClassVar[str] = "sparsemax"
    formula: ClassVar[str] = "max(Aᵢⱼ − τᵢ, 0)"
    about: ClassVar[str] = "Each row sums to 1, and small weights are exactly 0"

    def row_state(self, A: Any, xp: Any) -> tuple[Any, ...]:
        top = largest(A, xp)
        z = _below(A, top, xp)
        falling = xp.sort(z, axis=-1, descending=True)
        sums = xp.cumulative_sum(falling, axis=-1)
        count = xp.arange(1, A.shape[-1] + 1, dtype=A.dtype, device=A.device)
        support = xp.sum(xp.astype(1 + count * falling > sums, A.dtype), axis=-1, keepdims=True)
        at_support = xp.astype(count == support, A.dtype)
        tau = (xp.sum(sums * at_support, axis=-1, keepdims=True) - 1) / support
        above = xp.where(z <= tau, xp.zeros_like(z), z - tau)
        # many weights together would show how tau was rounded: what is wrong with their sum is shared out among them
        count = xp.sum(xp.astype(above > 0, A.dtype), axis=-1, keepdims=True)
        return top, tau, (1 - xp.sum(above, axis=-1, keepdims=True)) / count

    def cells(self, A: Any, row: tuple[Any, ...], xp: Any) -> Any:
        top, tau, share = row
        z = _below(A, top, xp)
        weights = z - tau + share
        return xp.where((z <= tau) | (weights < 0), xp.zeros_like(z), weights)

    def script(self, d: Dialect) -> str:
        return (
            "def sparsemax(A):\n"
            '    """max(A - tau, 0) with tau such that the row sums to 1 (Martins and Astudillo 2016)."""\n'
            f"    z = (A - {d.reduced('max', 'A')}).clip(min=-2)  # what lies lower gets nothing\n"
            f"    falling = {d.falling('z')}\n"
            "    sums = falling.cumsum(-1)\n"
            f"    count = {d.xp}.arange(1, A.shape[-1] + 1, dtype=A.dtype)\n"
            f"    support = {d.reduced('sum', '(1 + count * falling > sums)')}.clip(min=1)\n"
            f"    tau = ({d.picked('sums', 'support - 1')} - 1) / {d.cast('support', 'A.dtype')}\n"
            "    return (z - tau).clip(min=0)"
        )


def _below(A: Any, top: Any, xp: Any) -> Any:
    """How far scores lie below the largest, -2 at most: more than 1 below it there is no weight."""
    return xp.where(A - top <= -2, xp.full_like(A, -2.0), A - top)
