"""Prefix-LM: a prefix that everybody sees whole, and causal from there on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.masks.rule import Columns, MaskRule, within
from attn_gui.model.parts import whole


@dataclass(frozen=True)
class PrefixLM(MaskRule):
    """The first ``prefix`` keys, and keys up to the query's own position (Raffel et al. 2020, figure 4)."""

    kind: ClassVar[str] = "prefix_lm"
    title: ClassVar[str] = "Prefix-LM"
    formula: ClassVar[str] = "j ≤ i or j < prefix"
    about: ClassVar[str] = "Causal, but every query may attend to the whole prefix"
    prefix: int = whole(2, "Prefix", hint="So many first keys are open to every query")

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        return (j <= i + columns.offset) | (j < self.prefix)

    def key_range(self, first: int, last: int, columns: Columns) -> tuple[int, int]:
        return within(0, max(last + columns.offset + 1, self.prefix), columns.n_k)

    def open_range(self, first: int, last: int, columns: Columns) -> tuple[int, int]:
        return within(0, max(first + columns.offset + 1, self.prefix), columns.n_k)

    def expression(self) -> str:
        return f"(j <= i + offset) | (j < {self.prefix})"
