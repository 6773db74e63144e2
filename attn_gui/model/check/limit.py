"""Up to which size tables of one's own are checked."""

from __future__ import annotations

from attn_gui.model.experiment import Experiment

# cells of A over all heads: each slip computes them anew
MOST_CELLS = 1 << 18


def too_large(e: Experiment) -> str:
    """Why nothing can be checked of an experiment of this size, or ""."""
    cells = e.heads * e.n_q * e.n_k
    return "" if cells <= MOST_CELLS else f"Too large to check: {cells:,} scores over all heads, at most {MOST_CELLS:,}"
