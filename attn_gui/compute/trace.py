"""trace: an Experiment in, its stages out."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute import attention, budget
from attn_gui.compute.masking import Mask
from attn_gui.compute.matrix import DenseMatrix
from attn_gui.compute.numbers import from_numpy, stored, summed, to_numpy
from attn_gui.model.experiment import Experiment, GivenQKV
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head, Trace
from attn_gui.model.weights import Weights

# cells of A computed in one step: about 10 ms, and near the size of a core's cache
BLOCK_CELLS = 1 << 19


def trace(experiment: Experiment, device: str = "cpu") -> Trace:
    """Compute ``experiment`` on ``device`` (``cpu``, ``cuda:0``, ``mps``).

    Raises TooLarge where the stages would not fit in memory, and torch's OutOfMemoryError where the device says so
    later; nothing is kept in either case.
    """
    steps = trace_steps(experiment, device)
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            result: DenseTrace = finished.value
            return result


def trace_steps(experiment: Experiment, device: str = "cpu") -> Generator[float, None, DenseTrace]:
    """As :func:`trace`, in short steps: yields the part done, 0 to 1, and returns the trace."""
    # entered anew around each step: between steps the worker serves other jobs on the same thread
    with torch.inference_mode():
        result = DenseTrace(experiment, device)
    for done, (heads, rows) in enumerate(result.blocks, start=1):
        with torch.inference_mode():
            result.compute_block(heads, rows)
        yield done / len(result.blocks)
    with torch.inference_mode():
        result.finish()
    return result


class DenseTrace:
    """A trace whose A and N exist whole; Q, K, V, A (before the mask), N and the outputs are kept."""

    def __init__(self, experiment: Experiment, device: str) -> None:
        self.experiment = experiment
        self.device = device
        self._device = torch.device(device)
        budget.check(experiment, self._device)
        self._dtype = stored(experiment.precision)
        self._working = summed(experiment.precision)
        self._mask = Mask(experiment, self._device)
        self._q, self._k, self._v = self._project()  # [heads, n, d_k or d_v]
        e = experiment
        self._a = self._empty(e.heads, e.n_q, e.n_k)
        self._n = self._empty(e.heads, e.n_q, e.n_k)
        self._head_output = self._empty(e.heads, e.n_q, e.d_v)
        self._output = self._empty(0, 0)
        # MPS has no float64
        self._sums_device = torch.device("cpu") if self._device.type == "mps" else self._device
        self._sums = torch.empty(e.heads, e.n_q, dtype=torch.float64, device=self._sums_device)
        self._row_sums: NDArray[np.float64] = np.empty(0)
        self._matrices: dict[tuple[str, Head], DenseMatrix] = {}
        self.blocks = _blocks(e)

    def _empty(self, *shape: int) -> torch.Tensor:
        return torch.empty(shape, dtype=self._dtype, device=self._device)

    def _tensor(self, array: NDArray[np.float64]) -> torch.Tensor:
        return from_numpy(array, self._dtype, self._device)

    def _weight(self, name: str) -> torch.Tensor | None:
        weights = self.experiment.weights
        table = None if weights is None else weights.get(name)
        return None if table is None else self._tensor(table.array())

    def _project(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        e = self.experiment
        if isinstance(e.source, GivenQKV):
            K, V = self._tensor(e.source.K), self._tensor(e.source.V)
            return self._tensor(e.source.Q), self._per_query_head(K), self._per_query_head(V)
        weights: Weights = e.source.weights
        X = self._tensor(e.tokens.embeddings.array())  # [n_q, d_model]
        keys = self._tensor(e.keys.embeddings.array()) if e.keys is not e.tokens else X  # [n_k, d_context]
        projected = []
        for letter, rows, heads in (("Q", X, e.heads), ("K", keys, e.kv_heads), ("V", keys, e.kv_heads)):
            W = self._tensor(getattr(weights, f"W_{letter}").array())
            projected.append(attention.project(rows, W, self._weight(f"b_{letter}"), heads, self._working))
        return projected[0], self._per_query_head(projected[1]), self._per_query_head(projected[2])

    def _per_query_head(self, kv: torch.Tensor) -> torch.Tensor:
        """K or V [kv_heads, n_k, size] repeated for the query heads that share it: [heads, n_k, size]."""
        group = self.experiment.heads // self.experiment.kv_heads
        return kv if group == 1 else kv.repeat_interleave(group, dim=0)

    def compute_block(self, heads: slice, rows: slice) -> None:
        """Scores, weights, their sums and head outputs of a block of heads and queries."""
        e = self.experiment
        A = attention.scores(self._q[heads, rows], self._k[heads], e.scoring, self._working)  # [heads, rows, n_k]
        allowed = None if self._mask.everything else self._mask.allowed(rows, slice(0, e.n_k))  # [rows, n_k]
        empty = attention.empty_rows(allowed)  # [rows, 1]
        N = attention.softmax(attention.masked_scores(A, allowed), empty, self._working)
        self._a[heads, rows] = A
        self._n[heads, rows] = N
        self._head_output[heads, rows] = attention.head_output(N, self._v[heads], empty, self._working)
        # cast while the block is in the cache: sum(dtype=float64) of the whole is several times slower
        self._sums[heads, rows] = N.to(self._sums_device).double().sum(dim=-1)

    def finish(self) -> None:
        """The heads put together, once every block is there."""
        joined = attention.concat(self._head_output)
        self._output = attention.output(joined, self._weight("W_O"), self._weight("b_O"), self._working)
        self._row_sums = to_numpy(self._sums)

    def row_sums(self, head: Head) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = self._row_sums.mean(axis=0) if head == "mean" else self._row_sums[head]
        return sums

    def stage(self, name: str, head: int | None = None) -> NDArray[Any]:
        stage = STAGES[name]
        with torch.inference_mode():
            if not stage.per_head:
                return to_numpy(self._whole(name))
            heads = range(self.experiment.heads) if head is None else [range(self.experiment.heads)[head]]
            every = slice(0, self.experiment.n_q)
            if stage.square:
                keys = slice(0, self.experiment.n_k)
                parts = [self.matrix(name, h).block(every, keys) for h in heads]
            else:
                parts = [to_numpy(self._of_head(name, h)) for h in heads]
        return np.stack(parts) if head is None else parts[0]

    def matrix(self, name: str, head: Head) -> DenseMatrix:
        if not STAGES[name].square:
            raise KeyError(name)
        if head != "mean":
            head = range(self.experiment.heads)[head]
        key = (name, head)
        if key not in self._matrices:
            shape = (self.experiment.n_q, self.experiment.n_k)
            masked = -np.inf if name == "A_masked" else None
            self._matrices[key] = DenseMatrix(shape, lambda rows: self._rows(name, head, rows), self._mask, masked)
        return self._matrices[key]

    def _rows(self, name: str, head: Head, rows: slice) -> torch.Tensor:
        """Rows of a square stage of one head before the mask, or their mean over the heads: [rows, n_k]."""
        if head == "mean":
            with torch.inference_mode():
                total = self._rows(name, 0, rows).to(self._working, copy=True)
                for other in range(1, self.experiment.heads):
                    total += self._rows(name, other, rows)
                return (total / self.experiment.heads).to(self._dtype)
        if name == "N":
            return self._n[head, rows]
        if name in ("A", "A_masked", "capped") or (name == "scaled" and self.experiment.scoring.softcap is None):
            return self._a[head, rows]
        with torch.inference_mode():
            raw = self._raw_rows(head, rows)
            return raw if name == "raw" else attention.scaled_scores(raw, self.experiment.scale, self._working)

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

    def _of_head(self, name: str, head: int) -> torch.Tensor:
        return {"Q": self._q, "K": self._k, "V": self._v}.get(name, self._head_output)[head]

    def _whole(self, name: str) -> torch.Tensor:
        if name == "concat":
            return attention.concat(self._head_output)
        if name == "output":
            return self._output
        if name == "context" and not self.experiment.variant.is_cross:
            raise KeyError(name)
        of = self.experiment.tokens if name == "X" else self.experiment.keys
        return self._tensor(of.embeddings.array())


def _blocks(e: Experiment) -> list[tuple[slice, slice]]:
    """The blocks to compute, of about BLOCK_CELLS: several heads whole, or some rows of one head."""
    heads = max(1, BLOCK_CELLS // (e.n_q * e.n_k))
    rows = min(e.n_q, max(1, BLOCK_CELLS // e.n_k))
    return [
        (slice(h, min(h + heads, e.heads)), slice(r, min(r + rows, e.n_q)))
        for r in range(0, e.n_q, rows)
        for h in range(0, e.heads, heads)
    ]
