"""How much of token j reaches position i: by attention, and through the hidden state of an RNN."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute import attention
from attn_gui.compute.biasing import Biasing
from attn_gui.compute.indices import Indices
from attn_gui.compute.masking import Mask
from attn_gui.compute.numbers import to_numpy
from attn_gui.compute.projections import Projections
from attn_gui.model.experiment import Experiment
from attn_gui.model.instruments import Influence
from attn_gui.model.precision import Precision

HIDDEN = 16
SEED = 0
# a derivative is taken for every number of the output; of more it would take seconds
MOST = 512

CPU = torch.device("cpu")
DOUBLE = torch.float64


def refusal(experiment: Experiment) -> str | None:
    """Why there are no derivatives of ``experiment`` by its tokens, or None where there are."""
    e = experiment
    if e.weights is None:
        return "Q, K and V were given: there are no tokens that they come from."
    if e.variant.is_cross or e.past is not None or e.values is not None:
        return "Shown for a self-attention without a cache."
    if e.n_q * max(e.heads * e.d_v, HIDDEN) > MOST:
        return "Shown for short texts of few dimensions."
    return None


def influence(experiment: Experiment) -> Generator[float, None, Influence]:
    """The norms of the Jacobians of both, by automatic differentiation in float64; not where there is a refusal.

    In short steps: yields the part done, 0 to 1.
    """
    e = replace(experiment, precision=Precision.FLOAT64)
    X = torch.from_numpy(np.array(e.tokens.embeddings.array(), dtype=np.float64))  # [n, d]
    norms: list[NDArray[np.float64]] = []
    for function in (_attention(e), _recurrent(X.shape[1])):
        rows = []
        for i in range(e.n_q):
            # of one position's numbers alone: [size, n, d]
            J = torch.autograd.functional.jacobian(lambda X, i=i, function=function: function(X)[i], X)
            rows.append(torch.linalg.matrix_norm(J.transpose(0, 1)))  # [n]
            yield (len(norms) + len(rows) / e.n_q) / 2
        norms.append(_shares(torch.stack(rows)))
    return Influence(*norms)


class _FromTokens(Projections):
    """Projections of embeddings that derivatives are taken by."""

    def __init__(self, experiment: Experiment, X: torch.Tensor) -> None:
        self._X = X
        super().__init__(experiment, CPU)

    def inputs(self, name: str) -> torch.Tensor:
        e = self._experiment
        if not name.endswith("_in"):
            return self._X
        return self._X + self.tensor(e.scoring.position.vectors(e.query_positions, e.tokens.width))


def _attention(e: Experiment) -> Callable[[torch.Tensor], torch.Tensor]:
    """The output, [n_q, d_out], as a function of the embeddings."""
    indices = Indices(e, CPU)
    mask, bias = Mask(e, CPU, indices), Biasing(e, indices)
    heads, rows, keys = slice(0, e.heads), slice(0, e.n_q), slice(0, e.n_k)
    allowed = None if mask.everything else mask.allowed(heads, rows, keys)  # [heads or 1, n_q, n_k]
    empty = attention.empty_rows(allowed)

    def output(X: torch.Tensor) -> torch.Tensor:
        of = _FromTokens(e, X)
        A = attention.scores(of.Q, of.K, e.scoring, DOUBLE)  # [heads, n_q, n_k]
        if not bias.nothing:
            A = attention.biased_scores(A, bias.values(heads, rows, keys, DOUBLE))
        sinks = None if e.scoring.sinks is None else of.tensor(np.array(e.scoring.sinks), DOUBLE)[:, None, None]
        N = attention.weights(attention.masked_scores(A, allowed), e.scoring.normaliser, sinks, empty, DOUBLE)
        joined = attention.concat(attention.head_output(N, of.V, None, DOUBLE))
        return attention.output(joined, of.weight("W_O"), of.weight("b_O"), DOUBLE)

    return output


def _recurrent(width: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """The states h_t = tanh(x_t W + h_(t-1) U), [n, HIDDEN], as a function of the embeddings.

    W and U are as PyTorch starts an nn.RNN: uniform, at most 1/sqrt(HIDDEN).
    """
    random, bound = np.random.RandomState(SEED), 1 / math.sqrt(HIDDEN)
    W = torch.from_numpy(random.uniform(-bound, bound, (width, HIDDEN)))
    U = torch.from_numpy(random.uniform(-bound, bound, (HIDDEN, HIDDEN)))

    def states(X: torch.Tensor) -> torch.Tensor:
        h, found = X.new_zeros(HIDDEN), []
        for x in X:
            h = torch.tanh(x @ W + h @ U)
            found.append(h)
        return torch.stack(found)

    return states


def _shares(norms: torch.Tensor) -> NDArray[np.float64]:
    """Each row, [n, n], divided by its sum; a row that nothing reaches stays 0."""
    sums = norms.sum(dim=1, keepdim=True)
    shares: NDArray[np.float64] = to_numpy(torch.where(sums > 0, norms / sums, 0.0))
    return shares
