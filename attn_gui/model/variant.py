"""The variants of attention that an experiment can be."""

from __future__ import annotations

from enum import StrEnum


class Variant(StrEnum):
    """Self or cross, with one head and no W_O or with several heads and W_O (Vaswani et al. 2017, section 3.2)."""

    SELF = "self"
    CROSS = "cross"
    MULTI_HEAD_SELF = "multi_head_self"
    MULTI_HEAD_CROSS = "multi_head_cross"

    @property
    def is_cross(self) -> bool:
        return self in (Variant.CROSS, Variant.MULTI_HEAD_CROSS)

    @property
    def is_multi_head(self) -> bool:
        return self in (Variant.MULTI_HEAD_SELF, Variant.MULTI_HEAD_CROSS)

    @property
    def label(self) -> str:
        return _LABELS[self]


_LABELS = {
    Variant.SELF: "Self-attention",
    Variant.CROSS: "Cross-attention",
    Variant.MULTI_HEAD_SELF: "Multi-head self",
    Variant.MULTI_HEAD_CROSS: "Multi-head cross",
}
