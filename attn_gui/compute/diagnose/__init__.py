"""Find the convention: which way of computing attention gives somebody's scores, weights or output.

Programs differ in some twenty ways (dimensions), each of which is a small file's subject here. They are tried in the
order of the computation as a tree: what conventions have in common is computed once, and a branch ends at the first
given stage that it does not reproduce.
"""

from attn_gui.compute.diagnose.api import diagnose
from attn_gui.compute.diagnose.diagnosing import diagnose_steps

__all__ = ["diagnose", "diagnose_steps"]
