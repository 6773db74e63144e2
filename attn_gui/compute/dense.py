"""DenseStages: the stages of an experiment as tensors, computed block by block."""

from __future__ import annotations

import numpy as np
import torch

from attn_gui.compute import attention, budget
from attn_gui.compute.masking import Mask
from attn_gui.compute.numbers import from_numpy, row_sums, stored, summed
from attn_gui.compute.threads import threads_for
from attn_gui.model.experiment import Experiment, GivenQKV
from attn_gui.model.table import Floats

# cells of A computed in one step: some 20 ms. On a busy machine torch's threads wait for one another at the end of
# every operation, which many small ones would add up to a multiple.
BLOCK_CELLS = 1 << 21


class DenseStages:
    """Q, K, V, A (before the mask), N and the outputs, which exist whole; the others are derived from them.

    Raises TooLarge where they would not fit in memory.
    """

    def __init__(self, experiment: Experiment, device: str) -> None:
        e = self.experiment = experiment
        self._device = torch.device(device)
        budget.check(e, self._device)
        self._dtype = stored(e.precision)
        self._working = summed(e.precision)
        self.mask = Mask(e, self._device)
        self._q, self._k, self._v = self._project()  # [heads, n, d_k or d_v]
        self._a = self._empty(e.heads, e.n_q, e.n_k)
        self._n = self._empty(e.heads, e.n_q, e.n_k)
        self._head_output = self._empty(e.heads, e.n_q, e.d_v)
        self._output = self._empty(0, 0)
        self.row_sums = np.empty((e.heads, e.n_q))
        self.blocks = _blocks(e)

    def compute_block(self, heads: slice, rows: slice) -> None:
        """Scores, weights, their sums and head outputs of a block of heads and queries."""
        e = self.experiment
        Q, K, V = self._q[heads, rows], self._k[heads], self._v[heads]
        A, N, gathered = self._a[heads, rows], self._n[heads, rows], self._head_output[heads, rows]
        attention.scores(Q, K, e.scoring, self._working, out=A)  # [heads, rows, n_k]
        allowed = None if self.mask.everything else self.mask.allowed(rows, slice(0, e.n_k))  # [rows, n_k]
        empty = attention.empty_rows(allowed)  # [rows, 1]
        attention.softmax(attention.masked_scores(A, allowed), empty, self._working, out=N)  # [heads, rows, n_k]
        attention.head_output(N, V, empty, self._working, out=gathered)  # [heads, rows, d_v]
        self.row_sums[heads, rows] = row_sums(N)

    def finish(self) -> None:
        """The heads put together, once every block is there."""
        joined = attention.concat(self._head_output)
        self._output = attention.output(joined, self._weight("W_O"), self._weight("b_O"), self._working)

    def rows(self, name: str, head: int, rows: slice) -> torch.Tensor:
        """Rows of a square stage of one head before the mask, [rows, n_k]."""
        if name == "N":
            return self._n[head, rows]
        if name in ("A", "A_masked", "capped") or (name == "scaled" and self.experiment.scoring.softcap is None):
            return self._a[head, rows]
        with torch.inference_mode(), threads_for(self.experiment):
            raw = self._raw_rows(head, rows)
            return raw if name == "raw" else attention.scaled_scores(raw, self.experiment.scale, self._working)

    def mean_rows(self, name: str, rows: slice) -> torch.Tensor:
        """Rows of a square stage's mean over the heads, before the mask, [rows, n_k]."""
        heads = self.experiment.heads
        with torch.inference_mode():
            total = self.rows(name, 0, rows).to(self._working, copy=True)
            for head in range(1, heads):
                total += self.rows(name, head, rows)
            return (total / heads).to(self._dtype)

    def of_head(self, name: str, head: int) -> torch.Tensor:
        """Q, K, V or head_output of one head, [n, size]."""
        return {"Q": self._q, "K": self._k, "V": self._v, "head_output": self._head_output}[name][head]

    def whole(self, name: str) -> torch.Tensor:
        """A stage that there is once for all heads, [n, size]."""
        if name == "concat":
            return attention.concat(self._head_output)
        if name == "output":
            return self._output
        if name == "context" and not self.experiment.variant.is_cross:
            raise KeyError(name)
        of = self.experiment.tokens if name == "X" else self.experiment.keys
        return self._tensor(of.embeddings.array())

    def _raw_rows(self, head: int, rows: slice) -> torch.Tensor:
        """Rows of ``Q K^T`` of one head, [rows, n_k].

        Derived by the very products that A came from, block by block: a product of other rows alone may differ in
        its last bit, and a cell has one value whoever asks.
        """
        parts = []
        for heads, block in self.blocks:
            if heads.start <= head < heads.stop and block.start < rows.stop and rows.start < block.stop:
                raw = attention.raw_scores(self._q[heads, block], self._k[heads], self._working)
                parts.append(raw[head - heads.start, max(0, rows.start - block.start) : rows.stop - block.start])
        return torch.cat(parts)

    def _project(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        e = self.experiment
        if isinstance(e.source, GivenQKV):
            Q, K, V = (self._tensor(given) for given in (e.source.Q, e.source.K, e.source.V))
        else:
            X = self._tensor(e.tokens.embeddings.array())  # [n_q, d_model]
            keys = self._tensor(e.keys.embeddings.array()) if e.variant.is_cross else X  # [n_k, d_context]
            Q = self._projection("Q", X, e.heads)
            K, V = (self._projection(letter, keys, e.kv_heads) for letter in "KV")
        group = e.heads // e.kv_heads
        if group > 1:
            K, V = K.repeat_interleave(group, dim=0), V.repeat_interleave(group, dim=0)
        return Q, K, V

    def _projection(self, letter: str, rows: torch.Tensor, heads: int) -> torch.Tensor:
        W = self._weight(f"W_{letter}")
        assert W is not None  # an experiment has checked its weights
        return attention.project(rows, W, self._weight(f"b_{letter}"), heads, self._working)

    def _weight(self, name: str) -> torch.Tensor | None:
        weights = self.experiment.weights
        table = None if weights is None else weights.get(name)
        return None if table is None else self._tensor(table.array())

    def _tensor(self, array: Floats) -> torch.Tensor:
        return from_numpy(array, self._dtype, self._device)

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
