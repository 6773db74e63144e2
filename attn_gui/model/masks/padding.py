"""Padding: marked keys are left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.masks.rule import Columns, MaskRule


@dataclass(frozen=True)
class Padding(MaskRule):
    """Keys that the ``pad`` column does not mark; query rows are left alone."""

    kind: ClassVar[str] = "padding"
    title: ClassVar[str] = "Padding"
    formula: ClassVar[str] = "not pad[j]"
    about: ClassVar[str] = "Keys marked in the pad column are left out"
    columns: ClassVar[tuple[str, ...]] = ("pad",)

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        return (i >= 0) & ~columns.key["pad"][j]

    def expression(self) -> str:
        return "(i >= 0) & ~key_pad[j]"
