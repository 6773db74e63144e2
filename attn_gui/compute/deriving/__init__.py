"""Deriving: any cell of any stage of a trace, with the numbers that it was computed from."""

from attn_gui.compute.deriving.derive import derive
from attn_gui.compute.deriving.merged import derive_merged

__all__ = ["derive", "derive_merged"]
