"""The projections: W_Q, W_K, W_V, W_O and their biases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attn_gui.model.table import Table

MATRICES = ("W_Q", "W_K", "W_V", "W_O")
BIASES = ("b_Q", "b_K", "b_V", "b_O")


@dataclass(frozen=True, eq=False)
class Weights:
    """Projection matrices, stored d_in x d_out as in the mathematics (the transpose of ``nn.Linear.weight``).

    W_Q: [d_model, heads * d_k]; W_K: [d_context, kv_heads * d_k]; W_V: [d_context, kv_heads * d_v];
    W_O: [heads * d_v, d_out], only in multi-head variants. Head h takes columns h*d_k to (h+1)*d_k.
    Biases are rows, [1, d_out of their matrix], or None.
    """

    W_Q: Table
    W_K: Table
    W_V: Table
    W_O: Table | None = None
    b_Q: Table | None = None
    b_K: Table | None = None
    b_V: Table | None = None
    b_O: Table | None = None

    @classmethod
    def of(
        cls,
        W_Q: ArrayLike,
        W_K: ArrayLike,
        W_V: ArrayLike,
        W_O: ArrayLike | None = None,
        *,
        b_Q: ArrayLike | None = None,
        b_K: ArrayLike | None = None,
        b_V: ArrayLike | None = None,
        b_O: ArrayLike | None = None,
    ) -> Weights:
        """From plain lists or arrays; a bias is a vector of its matrix's columns."""
        optional = {"W_O": None if W_O is None else Table.of(W_O)}
        for name, bias in (("b_Q", b_Q), ("b_K", b_K), ("b_V", b_V), ("b_O", b_O)):
            optional[name] = None if bias is None else Table.of(np.reshape(bias, (1, -1)))
        return cls(Table.of(W_Q), Table.of(W_K), Table.of(W_V), **optional)

    def get(self, name: str) -> Table | None:
        """The table called ``name``, one of MATRICES or BIASES."""
        if name not in MATRICES + BIASES:
            raise KeyError(name)
        table: Table | None = getattr(self, name)
        return table

    def with_table(self, name: str, table: Table | None) -> Weights:
        if name not in MATRICES + BIASES:
            raise KeyError(name)
        fields: dict[str, Any] = {name: table}
        return replace(self, **fields)

    def items(self) -> Iterator[tuple[str, Table]]:
        """The tables that are there, by name."""
        for name in MATRICES + BIASES:
            table = self.get(name)
            if table is not None:
                yield name, table

    @property
    def has_biases(self) -> bool:
        return any(self.get(name) is not None for name in BIASES)
