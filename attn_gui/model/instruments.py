"""What the instruments of tours measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# the keys that each query of the saturation instrument chooses among
KEYS = 8
# d_k goes from 1 to 2 to the power of this, the scale from 1 down to the inverse
LARGEST_EXPONENT = 10


@dataclass(frozen=True, eq=False)
class Saturation:
    """How a softmax over random scores saturates as they are scaled up, for queries and keys of ``d_k`` numbers.

    Queries and keys are standard normal; each query has KEYS keys. spread: the standard deviation of q . k.
    scales: [s], ascending; entropy: of a row of weights in bits, gradient: the Frobenius norm of the softmax's
    Jacobian dN/dA, both averaged over the queries, at each of ``scales`` and at ``scale``. row: the weights of the
    first query at ``scale``, [KEYS].
    """

    d_k: int
    scale: float
    spread: float
    scales: Array
    entropies: Array
    gradients: Array
    entropy: float
    gradient: float
    row: Array


@dataclass(frozen=True, eq=False)
class Influence:
    """How much of token j reaches position i: [n, n], rows of positions.

    attention: the Frobenius norms of d output_i / d x_j of the experiment; recurrent: of d h_i / d x_j of an RNN that
    reads the same embeddings from left to right. Each row is divided by its sum.
    """

    attention: Array
    recurrent: Array
