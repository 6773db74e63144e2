"""Biases: what is added to a score for where its query and key stand, one file each.

To add one, put a file beside the others: a subclass of Bias with a ``kind`` and a ``title``.
"""

from attn_gui.model.biases.bias import Bias
from attn_gui.model.parts import load_family

load_family(__name__, __path__)

__all__ = ["Bias"]
