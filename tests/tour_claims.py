"""What the texts of tours and examples claim, worked out again: by the numpy reference and by finite differences."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from attn_gui.model.edits import set_cells
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.tour import Claim, Scene
from tests.reference import Reference, reference

Array = np.ndarray[Any, Any]

STEP = 1e-5
HIDDEN, KEYS, QUERIES = 16, 8, 256

_references: dict[int, tuple[Experiment, Reference]] = {}
_shares: dict[int, tuple[Experiment, dict[str, Array]]] = {}


def as_printed(claim: str, value: float) -> str:
    """``value`` in the form of ``claim``: per cent or a number, with as many decimals."""
    number = claim.removesuffix("%")
    decimals = len(number.partition(".")[2])
    return f"{value:.{decimals}%}" if claim.endswith("%") else f"{value:.{decimals}f}"


def value_of(claim: Claim, scene: Scene, before: Scene | None) -> float:
    """The number that ``claim`` is of, in ``scene`` or in the one before it."""
    what = claim.what
    if what.startswith("before "):
        assert before is not None, f"nothing comes before {what!r}"
        scene, what = before, what.removeprefix("before ")
    kind, *words = what.split()
    e = scene.named.experiment
    if kind in ("N", "A", "raw", "sum"):
        head: int | str = scene.head
        if "in" in words:
            named, words = words[-1], words[: words.index("in")]
            head = "mean" if named == "mean" else int(named) - 1
        stage = _reference(e).stages["N" if kind == "sum" else kind]
        table = stage.mean(axis=0) if head == "mean" else stage[int(head)]
        row = table[_place(e.tokens, words[0])]
        return float(row.sum() if kind == "sum" else row[_place(e.keys, words[1])])
    if kind == "output":
        return float(_reference(e).stages["output"][_place(e.tokens, words[0]), int(words[1]) - 1])
    if kind == "share":
        i, j = (_place(e.tokens, word) for word in words[1:])
        return float(shares(e)[words[0]][i, j])
    if kind == "exp":
        return math.exp(float(words[0]))
    d_k = int(words[0])
    raw = random_scores(d_k)
    if kind == "spread":
        return float(np.sqrt(np.mean((raw - raw.mean()) ** 2)))
    scale = 1 / math.sqrt(d_k) if words[1] == "root" else float(words[1])
    return {"entropy": entropy, "gradient": gradient}[kind](scale * raw)


def _reference(e: Experiment) -> Reference:
    if id(e) not in _references:
        _references[id(e)] = e, reference(e)
    return _references[id(e)][1]


def _place(of: TokenSequence, word: str) -> int:
    name, which = re.fullmatch(r"([^#]*)#?(\d*)", word).groups()  # type: ignore[union-attr]
    places = [place for place, token in enumerate(of.tokens) if name in ("", token)]
    return places[int(which or 1) - 1]


@cache
def random_scores(d_k: int) -> Array:
    random = np.random.RandomState(0)
    q = random.standard_normal((QUERIES, 1, d_k))
    k = random.standard_normal((QUERIES, KEYS, d_k))
    return np.einsum("qod,qkd->qk", q, k)


def softmax(scores: Array) -> Array:
    grown = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1, keepdims=True)


def entropy(scores: Array) -> float:
    """Mean over the rows, in bits."""
    N = softmax(scores)
    return float(-(N * np.log2(np.where(N > 0, N, 1))).sum(axis=1).mean())


def gradient(scores: Array) -> float:
    """The mean Frobenius norm of the rows' Jacobians, by central differences."""
    columns = []
    for j in range(KEYS):
        step = STEP * np.eye(KEYS)[j]
        columns.append((softmax(scores + step) - softmax(scores - step)) / (2 * STEP))
    return float(np.linalg.norm(np.stack(columns, axis=2), axis=(1, 2)).mean())


def shares(e: Experiment) -> dict[str, Array]:
    """How much of token j reaches position i, by central differences of the reference and of an RNN."""
    if id(e) not in _shares:
        e64 = replace(e, precision=Precision.FLOAT64)

        def output(X: Array) -> Array:
            rows, columns = np.indices(X.shape)
            return reference(set_cells(e64, "tokens", rows, columns, X)).stages["output"]

        random, bound = np.random.RandomState(0), 1 / math.sqrt(HIDDEN)
        X = e.tokens.embeddings.array()
        W = random.uniform(-bound, bound, (X.shape[1], HIDDEN))
        U = random.uniform(-bound, bound, (HIDDEN, HIDDEN))

        def states(X: Array) -> Array:
            h, found = np.zeros(HIDDEN), []
            for x in X:
                h = np.tanh(x @ W + h @ U)
                found.append(h)
            return np.stack(found)

        _shares[id(e)] = e, {"attention": _norms(output, X), "recurrent": _norms(states, X)}
    return _shares[id(e)][1]


def _norms(function: Callable[[Array], Array], X: Array) -> Array:
    """Each row of the norms of d f(X)_i / d x_j divided by its sum, [n, n]."""
    n, d = X.shape
    squares = np.zeros((n, n))
    for j in range(n):
        for c in range(d):
            step = np.zeros_like(X)
            step[j, c] = STEP
            change = (function(X + step) - function(X - step)) / (2 * STEP)  # [n, size]
            squares[:, j] += (change**2).sum(axis=1)
    norms = np.sqrt(squares)
    return norms / norms.sum(axis=1, keepdims=True)
