"""Masks: small named rules over indices, one file each.

To add one, put a file beside the others: a subclass of MaskRule with a ``kind`` and a ``title``.
"""

from attn_gui.model.masks.causal import Causal
from attn_gui.model.masks.combined import Combined, Term
from attn_gui.model.masks.imported import Imported
from attn_gui.model.masks.padding import Padding
from attn_gui.model.masks.rule import Columns, MaskRule
from attn_gui.model.masks.sliding_window import SlidingWindow
from attn_gui.model.parts import load_family

load_family(__name__, __path__)

__all__ = ["Causal", "Columns", "Combined", "Imported", "MaskRule", "Padding", "SlidingWindow", "Term", "choosable"]


def choosable() -> list[type[MaskRule]]:
    """The rules that can be begun with, no rule first, then the usual ones, then the others, each by title."""
    rules = [rule for rule in MaskRule.kinds.values() if rule.can_start() and rule is not Combined]
    return sorted(rules, key=lambda rule: (rule is not MaskRule, not rule.usual, rule.title))
