"""Grouped-query attention: fewer kv heads are means, more are copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.compute.trace import trace
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.kv_heads import kv_head_choices, with_kv_heads
from attn_gui.model.precision import Precision
from attn_gui.model.sources import GivenQKV
from tests.strategies import experiments

Array = np.ndarray[Any, Any]


def divisors(n: int) -> list[int]:
    return [k for k in range(1, n + 1) if n % k == 0]


def of_heads(e: Experiment, name: str) -> Array:
    """The numbers of ``name`` (K, V, W_K, .., appended K) by kv head: [kv_heads, rows, size]."""
    if name in ("K", "V"):
        assert isinstance(e.source, GivenQKV)
        return getattr(e.source, name)
    if name.startswith("appended"):
        table = getattr(e.appended[0], name[-1])
    else:
        assert e.weights is not None
        table = e.weights.get(name)
    array = table.array()
    return array.reshape(len(array), e.kv_heads, -1).transpose(1, 0, 2)


def names_of(e: Experiment) -> list[str]:
    if e.weights is None:
        names = ["K", "V"]
    else:
        names = [name for name, _ in e.weights.items() if name[-1] in "KV"]
    return names + (["appended K", "appended V"] if e.appended else [])


@given(experiments(Precision.FLOAT64), st.data())
def test_copies_change_no_output(e: Experiment, data: st.DataObject) -> None:
    more = data.draw(st.sampled_from([k for k in divisors(e.heads) if k % e.kv_heads == 0]))
    after = with_kv_heads(e, more)
    assert after.kv_heads == more
    for name in names_of(e):
        copies = more // e.kv_heads
        assert np.array_equal(of_heads(after, name), np.repeat(of_heads(e, name), copies, axis=0)), name
    was, now = trace(e), trace(after)
    for stage in ("K", "V", "A", "N", "output"):
        np.testing.assert_allclose(now.stage(stage), was.stage(stage), atol=1e-12, err_msg=stage)


@given(experiments(), st.data())
def test_others_are_means_over_the_query_heads_that_share_them(e: Experiment, data: st.DataObject) -> None:
    count = data.draw(st.sampled_from(divisors(e.heads)))
    after = with_kv_heads(e, count)
    for name in names_of(e):
        old, new = of_heads(e, name), of_heads(after, name)
        for k in range(count):
            sharing = [h for h in range(e.heads) if h // (e.heads // count) == k]
            expected = np.mean([old[h // (e.heads // e.kv_heads)] for h in sharing], axis=0)
            np.testing.assert_allclose(new[k], expected, atol=1e-15)
    assert (after.d_k, after.d_v, after.heads) == (e.d_k, e.d_v, e.heads)


@given(experiments(), st.data())
def test_copies_and_their_means_are_the_same_again(e: Experiment, data: st.DataObject) -> None:
    more = data.draw(st.sampled_from([k for k in divisors(e.heads) if k % e.kv_heads == 0]))
    back = with_kv_heads(with_kv_heads(e, more), e.kv_heads)
    for name in names_of(e):
        np.testing.assert_allclose(of_heads(back, name), of_heads(e, name), rtol=1e-15)
    assert with_kv_heads(e, e.kv_heads) is e


def test_which_counts_are_offered_and_why_not_the_others() -> None:
    e = Experiment.from_tokens("ab", np.ones((2, 6)), heads=6)
    assert kv_head_choices(e) == [
        (1, None),
        (2, None),
        (3, None),
        (4, "4 do not divide the 6 query heads"),
        (5, "5 do not divide the 6 query heads"),
        (6, None),
    ]
    for count in (0, 4, 12):
        with pytest.raises(
            ExperimentError, match=f"kv_heads: expected a divisor of the 6 query heads, received {count}"
        ):
            with_kv_heads(e, count)
