"""Deriving: any cell of any stage of a trace, with the numbers that it was computed from."""

from attn_gui.compute.deriving.derive import derive

__all__ = ["derive"]
