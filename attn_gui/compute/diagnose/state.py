"""State: a computation under one convention, as far as it has come."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from attn_gui.model.normalisers import Normaliser

T = torch.Tensor


@dataclass(frozen=True, slots=True)
class State:
    """The stages so far, for a block of queries, and what later stages have to know.

    size: a bound on the scores, ``|scale| max ||q|| max ||k||`` and the bias, which tolerances go by. growth: of
    errors, by a norm of queries and keys.
    cap: a softcap that has not been applied yet. clear: A before the mask.
    allowed: where the mask forbids with -inf, [1 or heads, rows, n_k]; None: nowhere. late: it comes after the softmax.
    sinks: whether those of the experiment take part. normaliser: what makes the weights; None: the experiment's own.
    axis: what it ran over.
    nothing: cells of N that had nothing but -inf to be made of, of length 1 along that axis; None: none.
    reshaped: heads are put side by side without transposing. projected: ``output`` is [rows, d_out], after W_O, and
    otherwise the heads' own, [heads, rows, d_v].
    """

    Q: T
    K: T
    V: T
    growth: float = 1.0
    size: float = 0.0
    raw: T | None = None
    scaled: T | None = None
    A: T | None = None
    cap: float | None = None
    clear: T | None = None
    allowed: T | None = None
    late: bool = False
    sinks: bool = True
    normaliser: Normaliser | None = None
    axis: int = -1
    nothing: T | None = None
    N: T | None = None
    head_output: T | None = None
    reshaped: bool = False
    projected: bool = False
    output: T | None = None

    def stage(self, name: str) -> T:
        """A stage that is there already."""
        found: T | None = getattr(self, name)
        assert found is not None, name
        return found
