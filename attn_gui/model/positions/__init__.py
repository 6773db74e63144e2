"""Positions on the inputs: what is added to the embeddings for where a token stands, one file each.

To add one, put a file beside the others: a subclass of InputPosition with a ``kind`` and a ``title``.
"""

from attn_gui.model.parts import load_family
from attn_gui.model.positions.input_position import InputPosition

load_family(__name__, __path__)

__all__ = ["InputPosition"]
