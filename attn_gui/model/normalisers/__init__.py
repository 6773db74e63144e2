"""Normalisers: how a row of scores becomes a row of weights, one file each.

To add one, put a file beside the others: a subclass of Normaliser with a ``kind`` and a ``title``.
"""

from attn_gui.model.normalisers.normaliser import Normaliser
from attn_gui.model.parts import load_family

load_family(__name__, __path__)

__all__ = ["Normaliser"]
