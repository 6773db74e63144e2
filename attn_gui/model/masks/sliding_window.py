"""Sliding windows: keys near the query's own place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.masks.rule import Columns, MaskRule, within
from attn_gui.model.parts import flag, whole


@dataclass(frozen=True)
class SlidingWindow(MaskRule):
    """The ``window`` previous keys and the query's own: W + 1 keys (ONNX and flash attention).

    With ``two_sided`` the ``window`` following keys as well (Longformer's local attention).
    """

    kind: ClassVar[str] = "sliding_window"
    title: ClassVar[str] = "Sliding window"
    formula: ClassVar[str] = "i − W ≤ j ≤ i"
    about: ClassVar[str] = "A query may attend to its own place and to so many keys before it"
    window: int = whole(1, "Window", hint="A query may attend to this many previous keys, and to its own")
    two_sided: bool = flag(False, "both sides", hint="As many following keys as well")

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        at = i + columns.offset
        return (j >= at - self.window) & (j <= at + (self.window if self.two_sided else 0))

    def key_range(self, first: int, last: int, columns: Columns) -> tuple[int, int]:
        after = self.window if self.two_sided else 0
        return within(first + columns.offset - self.window, last + columns.offset + 1 + after, columns.n_k)

    def open_range(self, first: int, last: int, columns: Columns) -> tuple[int, int]:
        after = self.window if self.two_sided else 0
        return within(last + columns.offset - self.window, first + columns.offset + 1 + after, columns.n_k)

    def expression(self) -> str:
        after = f" + {self.window}" if self.two_sided else ""
        return f"(j >= i + offset - {self.window}) & (j <= i + offset{after})"
