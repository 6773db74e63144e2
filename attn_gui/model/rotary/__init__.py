"""Rotary positions: how queries and keys are turned by where they stand, one file each.

To add one, put a file beside the others: a subclass of Rotary with a ``kind`` and a ``title``.
"""

from attn_gui.model.parts import load_family
from attn_gui.model.rotary.rotary import Rotary

load_family(__name__, __path__)

__all__ = ["Rotary"]
