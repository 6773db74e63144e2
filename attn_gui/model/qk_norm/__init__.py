"""QK-norm: queries and keys brought to one length before they are compared, one file each.

To add one, put a file beside the others: a subclass of QKNorm with a ``kind`` and a ``title``.
"""

from attn_gui.model.parts import load_family
from attn_gui.model.qk_norm.qk_norm import QKNorm

load_family(__name__, __path__)

__all__ = ["QKNorm"]
