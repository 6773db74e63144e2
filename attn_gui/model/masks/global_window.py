"""Global tokens with a window around everybody else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.masks.rule import Columns, MaskRule
from attn_gui.model.parts import whole


@dataclass(frozen=True)
class GlobalWindow(MaskRule):
    """The first ``tokens`` see all and are seen by all; the others see ``window`` keys on either side.

    (Longformer, Beltagy et al. 2020; BigBird, Zaheer et al. 2020.) With a causal mask beside it, the attention sinks
    of StreamingLLM (Xiao et al. 2023).
    """

    kind: ClassVar[str] = "global_window"
    title: ClassVar[str] = "Global + window"
    formula: ClassVar[str] = "|i − j| ≤ W, or i < G, or j < G"
    about: ClassVar[str] = "The first tokens see all and are seen by all; others see their neighbours"
    usual: ClassVar[bool] = False
    tokens: int = whole(1, "Global tokens", hint="So many first tokens see all and are seen by all")
    window: int = whole(1, "Window", hint="So many keys on either side of a query")

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        at = i + columns.offset
        near = (at - j <= self.window) & (j - at <= self.window)
        return near | (at < self.tokens) | (j < self.tokens)

    def expression(self) -> str:
        near = f"(abs(i + offset - j) <= {self.window})"
        return f"{near} | (i + offset < {self.tokens}) | (j < {self.tokens})"
