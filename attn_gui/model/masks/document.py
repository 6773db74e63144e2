"""Document: several texts in one sequence, which do not see each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.masks.rule import Columns, MaskRule


@dataclass(frozen=True)
class Document(MaskRule):
    """Keys of the query's own ``segment`` (packed sequences; FlexAttention's document mask)."""

    kind: ClassVar[str] = "document"
    title: ClassVar[str] = "Document"
    formula: ClassVar[str] = "segment[i] = segment[j]"
    about: ClassVar[str] = "A query may attend to keys with its own number in the segment column"
    columns: ClassVar[tuple[str, ...]] = ("segment",)

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        return columns.query["segment"][i] == columns.key["segment"][j]

    def expression(self) -> str:
        return "query_segment[i] == key_segment[j]"
