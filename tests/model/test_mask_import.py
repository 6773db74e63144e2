"""Masks of other programs: what they forbid and what they add."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.mask_import import all_of, mask_of
from attn_gui.model.masks import Causal, Combined, Imported, MaskRule, Padding, SlidingWindow
from attn_gui.model.scoring import Scoring
from tests.reference import reference

# what torch.finfo(dtype).min prints
LOWEST = {"float16": -65504.0, "bfloat16": -3.3895313892515355e38, "float32": -3.4028234663852886e38}


def cells_of(rule: MaskRule | None) -> np.ndarray:
    assert isinstance(rule, Imported)
    return rule.cells


@st.composite
def shapes(draw: st.DrawFn) -> tuple[int, ...]:
    return (*draw(st.sampled_from([(), (2,)])), draw(st.integers(1, 4)), draw(st.integers(1, 4)))


@given(st.data(), shapes(), st.sampled_from([bool, np.int64, np.uint8, np.float32]))
def test_flags_in_both_conventions(data: st.DataObject, shape: tuple[int, ...], dtype: Any) -> None:
    count = int(np.prod(shape))
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count))).reshape(shape)
    for meaning, allowed in (("allowed", flags), ("blocked", np.logical_not(flags))):
        rule, bias = mask_of(flags.astype(dtype), meaning)
        assert bias is None
        if allowed.all():
            assert rule is None
        else:
            np.testing.assert_array_equal(cells_of(rule), allowed)


@given(st.data(), shapes())
def test_an_additive_mask_gives_the_softmax_that_adding_it_gives(data: st.DataObject, shape: tuple[int, ...]) -> None:
    count = int(np.prod(shape))
    number = st.sampled_from([0.0, 0.0, -np.inf, 1.5, -2.0, LOWEST["float32"]])
    mask = np.array(data.draw(st.lists(number, min_size=count, max_size=count)), dtype=np.float32).reshape(shape)
    random = np.random.RandomState(0)
    heads, n_q, n_k = shape if len(shape) == 3 else (1, *shape)
    Q, K, V = (random.standard_normal((heads, n, 3)) for n in (n_q, n_k, n_k))
    rule, bias = mask_of(mask, "additive")
    e = Experiment.from_qkv(
        Q, K, V, rule=all_of([rule]), scoring=Scoring(scale=1.0, biases=() if bias is None else (bias,))
    )
    scores = Q @ K.transpose(0, 2, 1) + np.where(mask < -1e38, -np.inf, mask)
    top = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(top), 0, top))
    sums = powers.sum(axis=-1, keepdims=True)
    expected = np.divide(powers, sums, out=np.zeros_like(powers), where=sums > 0)
    np.testing.assert_allclose(reference(e).stages["N"], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("float16", "float16"), ("bfloat16", "float32"), ("float32", "float32"), ("bfloat16", "f8"), ("float32", "f8")],
)
def test_the_lowest_number_of_a_precision_forbids(kind: str, dtype: str) -> None:
    rule, bias = mask_of(np.array([[0.0, LOWEST[kind]]], dtype=dtype), "additive")
    assert bias is None
    np.testing.assert_array_equal(cells_of(rule), [[True, False]])


def test_the_lowest_number_of_float16_is_an_ordinary_one_in_a_wider_type() -> None:
    rule, bias = mask_of(np.array([[0.0, LOWEST["float16"], -3.0]], dtype=np.float32), "additive")
    assert rule is None and bias is not None
    np.testing.assert_array_equal(bias.cells, [[0.0, -65504.0, -3.0]])


@pytest.mark.parametrize("number", [-1e4, -65504.0, -1e6])
def test_one_number_far_below_0_and_nothing_else_but_0_forbids(number: float) -> None:
    rule, bias = mask_of(np.array([[0.0, number], [0.0, 0.0]]), "additive")
    assert bias is None
    np.testing.assert_array_equal(cells_of(rule), [[True, False], [True, True]])
    rule, bias = mask_of(np.array([[0.0, -9000.0], [0.0, 0.0]]), "additive")
    assert rule is None and bias is not None


def test_what_lies_below_the_lowest_forbids_too_and_what_lies_above_does_not() -> None:
    rule, bias = mask_of(np.array([[-1e9, -np.inf, -0.99e9, -60000.0]]), "additive")
    np.testing.assert_array_equal(cells_of(rule), [[False, False, True, True]])
    assert bias is not None
    np.testing.assert_array_equal(bias.cells, [[0, 0, -0.99e9, -60000]])


def test_a_mask_that_does_nothing_is_nothing() -> None:
    for meaning, array in (("allowed", [[1, 1]]), ("blocked", [[False, False]]), ("additive", [[0.0, -0.0]])):
        assert mask_of(array, meaning) == (None, None)


@pytest.mark.parametrize(("shape", "kept"), [((1, 1, 2, 3), (2, 3)), ((1, 4, 2, 3), (4, 2, 3)), ((1, 1, 3), (1, 3))])
def test_leading_axes_of_one_are_dropped(shape: tuple[int, ...], kept: tuple[int, ...]) -> None:
    assert cells_of(mask_of(np.zeros(shape, bool), "allowed")[0]).shape == kept


@pytest.mark.parametrize("meaning", ["allowed", "blocked", "additive"])
@pytest.mark.parametrize("shape", [(3,), (2, 1, 3, 3), (0, 3), ()])
def test_other_shapes_are_refused(meaning: Any, shape: tuple[int, ...]) -> None:
    with pytest.raises(ExperimentError, match=r"mask: expected shape .*, received shape"):
        mask_of(np.zeros(shape), meaning)


@pytest.mark.parametrize(
    ("array", "meaning", "words"),
    [
        ([[0, 2]], "allowed", "mask cell 1, 2: expected true or false .*, received 2"),
        ([[0.0], [-np.inf]], "blocked", "mask cell 2, 1: expected true or false .*, received -inf"),
        ([["x"]], "allowed", "mask cell 1, 1: expected true or false"),
        ([[0.0, np.nan]], "additive", "mask cell 1, 2: expected a finite number or -inf, received nan"),
        ([[[0.0]], [[np.inf]]], "additive", "mask cell 2, 1, 1: expected a finite number or -inf, received inf"),
        ([[True, False]], "additive", "mask: expected numbers .*, received an array of bool"),
        ([[True]], "inverted", "mask meaning: expected allowed or blocked or additive, received 'inverted'"),
    ],
)
def test_what_is_no_mask_is_refused_with_its_place(array: Any, meaning: Any, words: str) -> None:
    with pytest.raises(ExperimentError, match=words):
        mask_of(array, meaning)


def test_the_array_is_copied() -> None:
    array = np.array([[True, False]])
    rule, _ = mask_of(array, "allowed")
    array[:] = False
    np.testing.assert_array_equal(cells_of(rule), [[True, False]])


def test_rules_that_hold_together() -> None:
    assert all_of([]) == all_of([None, MaskRule()]) == MaskRule()
    assert all_of([None, Causal()]) == Causal()
    both = all_of([SlidingWindow(1), None, Padding(), MaskRule()])
    assert isinstance(both, Combined)
    assert [(term.rule, term.join, term.negated, term.heads) for term in both.terms] == [
        (SlidingWindow(1), "and", False, None),
        (Padding(), "and", False, None),
    ]
