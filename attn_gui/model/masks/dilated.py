"""Dilated windows: every so many keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.masks.rule import Columns, MaskRule, within
from attn_gui.model.parts import flag, whole


@dataclass(frozen=True)
class Dilated(MaskRule):
    """The query's own place and ``window`` keys before it, ``dilation`` apart (Longformer, Beltagy et al. 2020).

    With ``two_sided`` as many after it.
    """

    kind: ClassVar[str] = "dilated"
    title: ClassVar[str] = "Dilated window"
    formula: ClassVar[str] = "i − j = 0, D, 2D, …, W·D"
    about: ClassVar[str] = "A sliding window with gaps: so many keys before the query, so far apart"
    usual: ClassVar[bool] = False
    window: int = whole(2, "Window", hint="So many previous keys, besides the query's own place")
    dilation: int = whole(2, "Dilation", least=1, hint="How far apart they are")
    two_sided: bool = flag(False, "both sides", hint="As many following keys as well")

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        apart = i + columns.offset - j
        near = (apart <= self.window * self.dilation) & (apart % self.dilation == 0)
        return near & (apart >= (-self.window * self.dilation if self.two_sided else 0))

    def key_range(self, first: int, last: int, columns: Columns) -> tuple[int, int]:
        reach = self.window * self.dilation
        after = reach if self.two_sided else 0
        return within(first + columns.offset - reach, last + columns.offset + 1 + after, columns.n_k)

    def expression(self) -> str:
        reach = self.window * self.dilation
        least = -reach if self.two_sided else 0
        apart = "(i + offset - j)"
        return f"({apart} >= {least}) & ({apart} <= {reach}) & ({apart} % {self.dilation} == 0)"
