"""What is measured: random experiments, and the forward pass that any torch user would write for them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import torch

from attn_gui.files import examples
from attn_gui.model.experiment import Experiment
from attn_gui.model.initialise import initial_weights
from tests.bench.report import Pairs


@dataclass(frozen=True)
class Size:
    """Tokens, width and heads; of one head there is no W_O."""

    n: int
    d_model: int
    heads: int

    def __str__(self) -> str:
        heads = "1 head" if self.heads == 1 else f"{self.heads} heads"
        return f"n {self.n:,}, d {self.d_model}, {heads}"


KARINA = Size(5, 2, 1)
SIZES = [KARINA, Size(64, 64, 8), Size(256, 64, 8), Size(1024, 64, 8)]
WIDE = Size(1024, 512, 8)


def experiment(size: Size) -> Experiment:
    """Karina at her size, else random tokens under PyTorch's initial weights."""
    if size == KARINA:
        return examples.load("karina").experiment
    X = np.random.default_rng(0).standard_normal((size.n, size.d_model))
    multi_head = size.heads > 1
    weights = initial_weights("linear", size.d_model, size.d_model, size.heads, multi_head=multi_head)
    names = [f"t{index + 1}" for index in range(size.n)]
    return Experiment.from_tokens(names, X, weights, heads=size.heads if multi_head else None)


class Forward:
    """Attention on whole tensors, float32, all stages kept: the peer of our computation."""

    def __init__(self, of: Experiment) -> None:
        assert of.weights is not None
        self.heads = of.heads
        self.X = torch.tensor(of.tokens.embeddings.array(), dtype=torch.float32)  # [n, d_model]
        self._weights = {
            name: torch.tensor(table.array(), dtype=torch.float32) for name, table in of.weights.items()
        }  # [d_in, d_out]

    def __call__(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """A and N, [heads, n, n], and the output, [n, d_out]."""
        with torch.inference_mode():
            Q, K, V = (self._project(letter) for letter in "QKV")  # [heads, n, d_head]
            A = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
            N = torch.softmax(A, dim=-1)
            output = (N @ V).transpose(0, 1).flatten(1)
            if "W_O" in self._weights:
                output = output @ self._weights["W_O"]
            return A, N, output

    def _project(self, letter: str) -> torch.Tensor:
        projected = self.X @ self._weights[f"W_{letter}"]
        return projected.view(len(self.X), self.heads, -1).transpose(0, 1)


def alternate(
    ours: Callable[[], object],
    peer: Callable[[], object],
    count: int,
    budget: float,
    prepare: Callable[[], object] = lambda: None,
) -> Pairs:
    """``count`` pairs of times, fewer (3 at least) once ``budget`` seconds are over; the first pair does not count.

    Nor does ``prepare``, which is called before each pair.
    """
    end = perf_counter() + budget
    times: list[tuple[float, float]] = []
    while len(times) <= count and (perf_counter() < end or len(times) <= 3):
        prepare()
        times.append((_timed(ours), _timed(peer)))
    return Pairs(tuple(a for a, _ in times[1:]), tuple(b for _, b in times[1:]))


def _timed(function: Callable[[], object]) -> float:
    started = perf_counter()
    function()
    return perf_counter() - started
