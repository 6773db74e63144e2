"""Q, K and V of an experiment as tensors, from its token tables or as they were given."""

from __future__ import annotations

import torch

from attn_gui.compute import attention
from attn_gui.compute.given import by_head
from attn_gui.compute.numbers import from_numpy, stored, summed
from attn_gui.model.experiment import Experiment
from attn_gui.model.sources import FromTokens
from attn_gui.model.table import Floats, Table


class Projections:
    """Everything of an experiment that is not n_q x n_k, from the inputs to Q, K and V.

    Q: [heads, n_q, d_k]; K, V: [heads, n_k, d_k or d_v], each kv head repeated for the query heads that share it. What
    there is none of has rows of size 0.
    """

    def __init__(self, experiment: Experiment, device: torch.device) -> None:
        self._experiment = experiment
        self._device = device
        self._dtype = stored(experiment.precision)
        self._working = summed(experiment.precision)
        self._q_projected, k_projected, v = self._projected()
        self.Q = self._placed(self._q_projected, "Q")
        self.K = self._for_heads(self._appended(self._placed(k_projected, "K"), "K"))
        self.V = self._for_heads(self._appended(v, "V"))
        self._k_projected = k_projected

    def of_head(self, name: str, head: int) -> torch.Tensor:
        """Q, K, V, Q_projected or K_projected of one head, [n, size]."""
        if name == "K_projected":
            e = self._experiment
            return self._appended(self._k_projected, "K")[head // (e.heads // e.kv_heads)]
        return {"Q": self.Q, "K": self.K, "V": self.V, "Q_projected": self._q_projected}[name][head]

    def inputs(self, name: str) -> torch.Tensor:
        """X, context, values, X_in or context_in, [n, width]."""
        e = self._experiment
        if name == "values":
            return self.tensor(e.value_rows.embeddings.array())
        of = e.tokens if name in ("X", "X_in") else e.key_rows
        rows = self.tensor(of.embeddings.array())
        if name in ("X", "context"):
            return rows
        positions = e.query_positions if name == "X_in" else e.key_positions
        vectors = self.tensor(e.scoring.position.vectors(positions, of.width), self._working)
        return (rows.to(self._working) + vectors).to(self._dtype)

    def weight(self, name: str) -> torch.Tensor | None:
        """A matrix or bias, rounded once to the precision; None where there is none."""
        weights = self._experiment.weights
        table = None if weights is None else weights.get(name)
        return None if table is None else self.tensor(table.array())

    def tensor(self, array: Floats, dtype: torch.dtype | None = None) -> torch.Tensor:
        return from_numpy(array, self._dtype if dtype is None else dtype, self._device)

    def _projected(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        e = self._experiment
        if not isinstance(e.source, FromTokens):
            parts = e.source.parts()
            rows = {"Q": (e.heads, e.n_q), "K": (e.kv_heads, e.n_k), "V": (e.kv_heads, e.n_k)}
            q, k, v = (
                by_head(parts[name], self._dtype, self._device) if name in parts else self._none(*shape)
                for name, shape in rows.items()
            )
            return q, k, v
        placed = e.scoring.position.kind != "none"
        X = self.inputs("X_in" if placed else "X")  # [n_q, d_model]
        one_table = not e.variant.is_cross and e.past is None
        keys = X if one_table else self.inputs("context_in" if placed else "context")  # [n_k, d_context]
        values = keys if e.values is None else self.inputs("values")  # [n_k, d_values]
        return (
            self._projection("Q", X, e.heads),
            self._projection("K", keys, e.kv_heads),
            self._projection("V", values, e.kv_heads),
        )

    def _none(self, heads: int, rows: int) -> torch.Tensor:
        return torch.empty((heads, rows, 0), dtype=self._dtype, device=self._device)

    def _projection(self, letter: str, rows: torch.Tensor, heads: int) -> torch.Tensor:
        W = self.weight(f"W_{letter}")
        assert W is not None  # an experiment has checked its weights
        return attention.project(rows, W, self.weight(f"b_{letter}"), heads, self._working)

    def _placed(self, rows: torch.Tensor, letter: str) -> torch.Tensor:
        """Queries or keys, [heads, n, d_k], normalised and turned by where they stand."""
        e = self._experiment
        norm, rotary = e.scoring.qk_norm, e.scoring.rotary
        if norm is not None:
            gain = norm.gain_q if letter == "Q" else norm.gain_k
            rows = attention.normed(
                rows, norm, None if gain is None else self.tensor(gain, self._working), self._working
            )
        if rotary is not None:
            cos, sin = rotary.tables(e.query_positions if letter == "Q" else e.key_positions, e.d_k)  # [n, pairs]
            tables = self.tensor(cos, self._working), self.tensor(sin, self._working)
            rows = attention.turned(rows, *tables, rotary.layout, self._working)
        return rows

    def _appended(self, rows: torch.Tensor, letter: str) -> torch.Tensor:
        """Keys or values with those that are no token's after them, [kv_heads, n_k, size]."""
        parts = [rows]
        for key in self._experiment.appended:
            table: Table = getattr(key, letter)
            parts.append(self.tensor(table.array()).reshape(len(rows), 1, -1))
        return torch.cat(parts, dim=1) if len(parts) > 1 else rows

    def _for_heads(self, rows: torch.Tensor) -> torch.Tensor:
        e = self._experiment
        group = e.heads // e.kv_heads
        return rows.repeat_interleave(group, dim=0) if group > 1 else rows
