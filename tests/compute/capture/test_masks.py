"""Whatever a model's flags are, the rule that is found allows exactly the same cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from attn_gui import Causal, Combined, Imported, MaskRule, Padding, SlidingWindow, Term
from attn_gui.compute.capture.masks import rule_of
from attn_gui.model.masks import Columns


def cells(rule: MaskRule, shape: tuple[int, ...], pad: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """What ``rule`` allows in every head, [heads, n_q, n_k]."""
    heads, n_q, n_k = (1, *shape)[-3:]
    i, j = np.arange(n_q)[:, None], np.arange(n_k)[None, :]
    found = [rule.allowed(i, j, Columns(n_q, n_k, key={"pad": pad}, heads=head)) for head in range(heads)]
    return np.broadcast_to(np.stack([np.broadcast_to(one, (n_q, n_k)) for one in found]), (heads, n_q, n_k))


@st.composite
def masks(draw: st.DrawFn) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    shape = draw(array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=6))
    n_q, n_k = shape[-2:]
    pad = draw(arrays(bool, n_k))
    kind = draw(st.sampled_from(["free", "causal", "window", "two-sided", "all"]))
    i, j = np.arange(n_q)[:, None], np.arange(n_k)[None, :]
    window = draw(st.integers(0, 6))
    ruled: dict[str, Any] = {
        "causal": j <= i,
        "window": (j <= i) & (j >= i - window),
        "two-sided": abs(i - j) <= window,
        "all": np.ones((n_q, n_k), bool),
    }
    flags = draw(arrays(bool, shape)) if kind == "free" else np.broadcast_to(ruled[kind], shape)
    return (flags & ~pad if draw(st.booleans()) else flags), pad


@given(masks())
@settings(max_examples=80)
def test_the_rule_allows_exactly_what_the_flags_do(given_mask: tuple[NDArray[np.bool_], NDArray[np.bool_]]) -> None:
    flags, pad = given_mask
    rule = rule_of(flags, pad)
    assert np.array_equal(cells(rule, flags.shape, pad), np.broadcast_to(flags, (1, *flags.shape)[-3:]))


QUERY, KEY = np.arange(6)[:, None], np.arange(6)[None, :]
PAD = np.array([False, False, False, False, True, True])
NO_PAD = np.zeros(6, bool)


@pytest.mark.parametrize(
    ("flags", "pad", "rule"),
    [
        (None, PAD, MaskRule()),
        (np.ones((6, 6), bool), NO_PAD, MaskRule()),
        (KEY <= QUERY, NO_PAD, Causal()),
        ((KEY <= QUERY) & ~PAD, PAD, Combined((Term(Causal()), Term(Padding())))),
        (np.broadcast_to(~PAD, (6, 6)), PAD, Padding()),
        ((KEY <= QUERY) & (KEY > QUERY - 3), NO_PAD, SlidingWindow(2)),
        (abs(QUERY - KEY) <= 2, NO_PAD, SlidingWindow(2, two_sided=True)),
        ((abs(QUERY - KEY) <= 1) & ~PAD, PAD, Combined((Term(SlidingWindow(1, two_sided=True)), Term(Padding())))),
        (np.broadcast_to(KEY <= QUERY, (4, 6, 6)), NO_PAD, Causal()),
    ],
)
def test_rules_that_models_use_are_found(flags: NDArray[np.bool_] | None, pad: NDArray[np.bool_], rule: Any) -> None:
    assert rule_of(flags, pad) == rule


def test_any_other_mask_is_kept_cell_by_cell() -> None:
    flags = (QUERY + KEY) % 3 > 0
    found = rule_of(flags, NO_PAD)
    assert isinstance(found, Imported) and np.array_equal(found.cells, flags)


def test_masks_that_differ_by_head_are_kept_by_head() -> None:
    flags = np.stack([KEY <= QUERY, KEY >= QUERY])
    found = rule_of(flags, NO_PAD)
    assert isinstance(found, Imported) and found.per_head
