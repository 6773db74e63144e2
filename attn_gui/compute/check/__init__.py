"""Check my work: whether tables of one's own are right, follow from one another, and what slip explains them."""

from attn_gui.compute.check.checking import check, check_steps

__all__ = ["check", "check_steps"]
