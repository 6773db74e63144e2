"""DenseStages: the stages of an experiment as tensors, computed block by block."""

from __future__ import annotations

import numpy as np
import torch

from attn_gui.compute import attention
from attn_gui.compute.biasing import Biasing
from attn_gui.compute.given import GivenCells
from attn_gui.compute.indices import Indices
from attn_gui.compute.masking import Mask
from attn_gui.compute.numbers import row_sums, stored, summed
from attn_gui.compute.projections import Projections
from attn_gui.compute.threads import threads_for
from attn_gui.model.experiment import Experiment

# cells of A computed in one step: some 20 ms. On a busy machine torch's threads wait for one another at the end of
# every operation, which many small ones would add up to a multiple.
BLOCK_CELLS = 1 << 21


class DenseStages:
    """Q, K, V, A (before the mask), N and the outputs, which exist whole; the others are derived from them."""

    def __init__(self, experiment: Experiment, device: str) -> None:
        e = self.experiment = experiment
        self._device = torch.device(device)
        self._keys = slice(0, e.n_k)
        self._dtype = stored(e.precision)
        self._working = summed(e.precision)
        self._indices = Indices(e, self._device)
        self.mask = Mask(e, self._device, self._indices)
        self._bias = Biasing(e, self._indices)
        self._inputs = Projections(e, self._device)
        sinks = e.scoring.sinks
        self._sinks = None if sinks is None else self._inputs.tensor(np.array(sinks), self._working)[:, None, None]
        self._given = GivenCells(e, self._device)
        self._a = self._empty(e.heads, e.n_q, e.n_k) if e.has_scores else self._empty(0)
        self._n = self._empty(e.heads, e.n_q, e.n_k)
        self._head_output = self._empty(e.heads, e.n_q, e.d_v)
        self._output = self._empty(0, 0)
        self.row_sums = np.empty((e.heads, e.n_q))
        self.blocks = _blocks(e)

    def compute_block(self, heads: slice, rows: slice) -> None:
        """Scores, weights, their sums and head outputs of a block of heads and queries."""
        e, working = self.experiment, self._working
        V, N, gathered = self._inputs.V[heads], self._n[heads, rows], self._head_output[heads, rows]
        if self._given.weights:
            N.copy_(self._given.block(heads, rows, self._keys))
            attention.head_output(N, V, None, working, out=gathered)
            self.row_sums[heads, rows] = row_sums(N)
            return
        A = self._a[heads, rows]
        if self._given.scores:
            A.copy_(self._given.block(heads, rows, self._keys))
        else:
            Q, K = self._inputs.Q[heads, rows], self._inputs.K[heads]
            attention.scores(Q, K, e.scoring, working, out=A)  # [heads, rows, n_k]
        if not self._bias.nothing:
            attention.biased_scores(A, self._bias.values(heads, rows, self._keys, working), out=A)
        everything = self.mask.everything
        allowed = None if everything else self.mask.allowed(heads, rows, self._keys)  # [heads or 1, rows, n_k]
        empty = attention.empty_rows(allowed)  # [heads or 1, rows, 1]
        masked = attention.masked_scores(A, allowed)
        if e.scoring.is_plain:
            attention.softmax(masked, empty, working, out=N)  # [heads, rows, n_k]
        else:
            sinks = None if self._sinks is None else self._sinks[heads]
            attention.weights(masked, e.scoring.normaliser, sinks, empty, working, out=N)
        attention.head_output(N, V, empty, working, out=gathered)  # [heads, rows, d_v]
        self.row_sums[heads, rows] = row_sums(N)

    def finish(self) -> None:
        """The heads put together, once every block is there."""
        joined = attention.concat(self._head_output)
        W_O, b_O = self._inputs.weight("W_O"), self._inputs.weight("b_O")
        self._output = attention.output(joined, W_O, b_O, self._working)

    def rows(self, name: str, head: int, rows: slice) -> torch.Tensor:
        """Rows of a square stage of one head before the mask, [rows, n_k]."""
        scoring = self.experiment.scoring
        if name == "N":
            return self._n[head, rows]
        kept = {"A", "A_masked"}
        if self._bias.nothing:
            kept |= {"capped"} if scoring.softcap is not None else {"capped", "scaled"}
        if name in kept:
            return self._a[head, rows]
        with torch.inference_mode(), threads_for(self.experiment):
            if name == "bias":
                return self._bias.values(slice(head, head + 1), rows, self._keys, self._working)[0].to(self._dtype)
            raw = self._raw_rows(head, rows)
            if name == "raw":
                return raw
            scaled = attention.scaled_scores(raw, self.experiment.scale, self._working)
            return scaled if name == "scaled" else attention.capped_scores(scaled, scoring.softcap, self._working)

    def mean_rows(self, name: str, rows: slice) -> torch.Tensor:
        """Rows of a square stage's mean over the heads, before the mask, [rows, n_k]."""
        heads = self.experiment.heads
        with torch.inference_mode():
            total = self.rows(name, 0, rows).to(self._working, copy=True)
            for head in range(1, heads):
                total += self.rows(name, head, rows)
            return (total / heads).to(self._dtype)

    def of_head(self, name: str, head: int) -> torch.Tensor:
        """A stage that is per head and not square, of one head, [n, size]."""
        return self._head_output[head] if name == "head_output" else self._inputs.of_head(name, head)

    def whole(self, name: str) -> torch.Tensor:
        """A stage that there is once for all heads, [n, size]."""
        if name == "concat":
            return attention.concat(self._head_output)
        return self._output if name == "output" else self._inputs.inputs(name)

    def _raw_rows(self, head: int, rows: slice) -> torch.Tensor:
        """Rows of ``Q K^T`` of one head, [rows, n_k].

        Derived by the very products that A came from, block by block: a product of other rows alone may differ in
        its last bit, and a cell has one value whoever asks.
        """
        parts = []
        for heads, block in self.blocks:
            if heads.start <= head < heads.stop and block.start < rows.stop and rows.start < block.stop:
                raw = attention.raw_scores(self._inputs.Q[heads, block], self._inputs.K[heads], self._working)
                parts.append(raw[head - heads.start, max(0, rows.start - block.start) : rows.stop - block.start])
        return torch.cat(parts)

    def _empty(self, *shape: int) -> torch.Tensor:
        return torch.empty(shape, dtype=self._dtype, device=self._device)


def _blocks(e: Experiment) -> list[tuple[slice, slice]]:
    """The blocks to compute, of about BLOCK_CELLS: several heads whole, or some rows of one head."""
    heads = max(1, BLOCK_CELLS // (e.n_q * e.n_k))
    rows = min(e.n_q, max(1, BLOCK_CELLS // e.n_k))
    return [
        (slice(h, min(h + heads, e.heads)), slice(r, min(r + rows, e.n_q)))
        for r in range(0, e.n_q, rows)
        for h in range(0, e.heads, heads)
    ]
