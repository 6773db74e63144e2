"""How many threads a computation is worth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from attn_gui.model.experiment import Experiment

# cells of A from which on torch's threads gain more than they lose by waiting for one another
SHARED_CELLS = 1 << 21


@contextmanager
def threads_for(experiment: Experiment) -> Iterator[None]:
    """Within it torch computes in one thread, unless ``experiment`` has SHARED_CELLS.

    Each operation ends when the last of its threads does. While the window repaints, or something else runs, a thread
    may have to wait for a core for much longer than a small experiment takes as a whole. Whatever is derived later
    needs it as well: a product may differ in its last bit with the number of threads.
    """
    before = torch.get_num_threads()
    if before == 1 or experiment.heads * experiment.n_q * experiment.n_k >= SHARED_CELLS:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
