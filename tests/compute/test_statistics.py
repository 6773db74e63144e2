"""Statistics of heads, against their formulas written out query by query."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from attn_gui.compute.trace import trace
from attn_gui.model.asks import StatisticsAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.scoring import Scoring
from attn_gui.model.statistics import STATISTICS
from tests.answering import answered
from tests.strategies import experiments

NAMES = [statistic.name for statistic in STATISTICS]


def by_hand(e: Experiment, N: np.ndarray, head: int) -> dict[str, float]:
    """The statistics of one head's weights, [n_q, n_k]."""
    queries = [i for i in range(e.n_q) if math.isfinite(N[i].sum()) and N[i].sum() > 0 and not e.tokens.pad[i]]
    if not queries:
        return dict.fromkeys(NAMES, math.nan)
    found: dict[str, list[float]] = {name: [] for name in NAMES}
    for i in queries:
        total = math.fsum(N[i])
        p = [n / total for n in N[i]]
        entropy = -math.fsum(x * math.log(x) for x in p if x > 0)
        open_keys = [j for j in range(e.n_k) if e.allowed(slice(i, i + 1), slice(j, j + 1), head)[0, 0]]
        found["entropy"].append(entropy)
        found["largest"].append(max(N[i]))
        found["distance"].append(math.fsum(x * abs(i + e.offset - j) for j, x in enumerate(p)))
        found["span"].append(math.exp(entropy))
        found["sink"].append(p[0] if e.scoring.sinks is None else 1 - total)
        found["sparsity"].append(sum(p[j] < 0.1 / len(open_keys) for j in open_keys) / len(open_keys))
    means = {name: math.fsum(values) / len(values) for name, values in found.items()}
    return means | {"largest": max(found["largest"])}


@given(experiments())
def test_formulas(e: Experiment) -> None:
    t = trace(e)
    values = answered(t, StatisticsAsk()).values
    assert values.shape == (e.heads, len(STATISTICS))
    for head in range(e.heads):
        expected = by_hand(e, t.stage("N", head).astype(np.float64), head)
        np.testing.assert_allclose(values[head], [expected[name] for name in NAMES], rtol=1e-9, atol=1e-12)


def test_what_they_say_of_known_heads() -> None:
    even = Experiment.from_tokens([f"t{i}" for i in range(8)], np.ones((8, 2)))
    entropy, largest, distance, span, sink, sparsity = answered(trace(even), StatisticsAsk()).values[0]
    assert entropy == pytest.approx(math.log(8))
    assert span == pytest.approx(8)
    assert (largest, sink, sparsity) == (pytest.approx(1 / 8), pytest.approx(1 / 8), 0)
    assert distance == pytest.approx(np.mean(np.abs(np.subtract.outer(np.arange(8), np.arange(8)))))
    sharp = Experiment.from_tokens([f"t{i}" for i in range(8)], np.eye(8), scoring=Scoring(scale=100.0))
    entropy, largest, distance, span, sink, sparsity = answered(trace(sharp), StatisticsAsk()).values[0]
    assert (entropy, largest, distance, span) == pytest.approx((0, 1, 0, 1), abs=1e-9)
    assert (sink, sparsity) == pytest.approx((1 / 8, 7 / 8))


def test_large_matrices_are_done_in_blocks() -> None:
    e = Experiment.from_tokens([f"t{i}" for i in range(2100)], np.ones((2100, 1)), rule=Causal())
    values = answered(trace(e), StatisticsAsk()).values[0]
    assert values[NAMES.index("span")] == pytest.approx((2100 + 1) / 2, rel=1e-4)
