"""What a mask allows, as it is looked at: in one head, or in any of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.experiment import Experiment
from attn_gui.model.trace import Head

Cells = NDArray[np.bool_]

# of a larger mask the first queries and keys are drawn
LARGEST = 48


def allowed_in(experiment: Experiment, rows: slice, columns: slice, head: Head) -> Cells:
    """Where queries ``rows`` may attend to keys ``columns`` in ``head``; for the mean, in any head: bool."""
    if head != "mean":
        # which head is looked at may have come from a larger experiment
        return experiment.allowed(rows, columns, min(head, experiment.heads - 1))
    block = experiment.allowed(rows, columns)
    if experiment.rule.per_head:
        for other in range(1, experiment.heads):
            block |= experiment.allowed(rows, columns, other)
    return block


def corner(experiment: Experiment, head: Head) -> Cells:
    """The mask's first queries and keys, LARGEST of each at most, painted cells included."""
    rows, columns = (slice(0, min(count, LARGEST)) for count in (experiment.n_q, experiment.n_k))
    return allowed_in(experiment, rows, columns, head)


def idle_parameters(experiment: Experiment) -> tuple[str, ...]:
    """Parameters of rules that make no difference here: with as many queries as keys, where a mask begins."""
    return () if experiment.n_q != experiment.n_k else ("alignment",)
