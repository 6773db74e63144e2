"""Entmax with alpha = 1.5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.dialects import Dialect
from attn_gui.model.normalisers.normaliser import Normaliser, largest


@dataclass(frozen=True)
class Entmax15(Normaliser):
    """``max(A / 2 - tau, 0)**2`` with tau such that the row sums to 1 (Peters et al. 2019, algorithm 2)."""

    kind: ClassVar[str] = "entmax15"
    title: ClassVar[str] = "Entmax 1.5"
    name: ClassVar[str] = "entmax₁.₅"
    formula: ClassVar[str] = "max(Aᵢⱼ / 2 − τᵢ, 0)²"
    about: ClassVar[str] = "Between softmax and sparsemax: each row sums to 1, and the smallest weights are exactly 0"

    def row_state(self, A: Any, xp: Any) -> tuple[Any, ...]:
        top = largest(A, xp)
        z = _halved(A, top, xp)
        falling = xp.sort(z, axis=-1, descending=True)
        count = xp.arange(1, A.shape[-1] + 1, dtype=A.dtype, device=A.device)
        mean = xp.cumulative_sum(falling, axis=-1) / count
        spread = xp.cumulative_sum(falling * falling, axis=-1) - count * mean * mean
        room = (1 - spread) / count
        taus = mean - xp.sqrt(xp.where(room > 0, room, xp.zeros_like(room)))
        support = xp.sum(xp.astype(taus <= falling, A.dtype), axis=-1, keepdims=True)
        tau = xp.sum(taus * xp.astype(count == support, A.dtype), axis=-1, keepdims=True)
        above = xp.where(z <= tau, xp.zeros_like(z), z - tau)
        # a step of Newton's method: many weights together would show how tau was rounded
        excess = xp.sum(above * above, axis=-1, keepdims=True) - 1
        return top, tau, excess / (2 * xp.sum(above, axis=-1, keepdims=True))

    def cells(self, A: Any, row: tuple[Any, ...], xp: Any) -> Any:
        top, tau, step = row
        z = _halved(A, top, xp)
        moved = z - tau - step
        return xp.where((z <= tau) | (moved < 0), xp.zeros_like(z), moved * moved)

    def script(self, d: Dialect) -> str:
        return (
            "def entmax15(A):\n"
            '    """max(A / 2 - tau, 0)**2 with tau such that the row sums to 1 (Peters et al. 2019)."""\n'
            f"    z = ((A - {d.reduced('max', 'A')}) / 2).clip(min=-2)  # what lies lower gets nothing\n"
            f"    falling = {d.falling('z')}\n"
            f"    count = {d.xp}.arange(1, A.shape[-1] + 1, dtype=A.dtype)\n"
            "    mean = falling.cumsum(-1) / count\n"
            "    spread = (falling * falling).cumsum(-1) - count * mean * mean\n"
            f"    taus = mean - {d.xp}.sqrt(((1 - spread) / count).clip(min=0))\n"
            f"    support = {d.reduced('sum', '(taus <= falling)')}.clip(min=1)\n"
            f"    above = (z - {d.picked('taus', 'support - 1')}).clip(min=0)\n"
            "    return above * above"
        )


def _halved(A: Any, top: Any, xp: Any) -> Any:
    """Half of how far scores lie below the largest, -2 at most: tau is at least -1."""
    return xp.where(A - top <= -4, xp.full_like(A, -2.0), (A - top) / 2)
