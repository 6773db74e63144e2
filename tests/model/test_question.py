"""Questions: arrays in the shapes that people have them in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Imported, MaskRule, Padding, SlidingWindow
from attn_gui.model.precision import Precision
from attn_gui.model.question import Numbers, question, question_of, recognised
from attn_gui.model.window_shape import WindowShape, window_shape

H, KV, N_Q, N_K, D_K, D_V = 4, 2, 3, 5, 6, 2
random = np.random.RandomState(0)
Q, K, V = (random.standard_normal(shape) for shape in ((H, N_Q, D_K), (KV, N_K, D_K), (KV, N_K, D_V)))
SQUARE = random.standard_normal((H, N_Q, N_K))
HEADS = random.standard_normal((H, N_Q, D_V))


def asked(**numbers: Any) -> Any:
    return question(Q, K, V, **numbers)


def test_stages_with_and_without_a_batch() -> None:
    for array in (SQUARE, SQUARE[None], SQUARE[None, None]):
        found = asked(scores=array, weights=array)
        np.testing.assert_array_equal(found.scores.values, SQUARE)
        np.testing.assert_array_equal(found.weights.values, SQUARE)
        assert not found.mean
    batch = question(Q[None], K[None], V[None], scores=SQUARE)
    np.testing.assert_array_equal(batch.experiment.source.K, K)


def test_the_mean_of_the_weights() -> None:
    for array in (SQUARE[0], SQUARE[:1]):
        found = asked(weights=array)
        assert found.mean
        np.testing.assert_array_equal(found.weights.values, SQUARE[:1])


def test_outputs_in_every_form() -> None:
    for array in (HEADS, HEADS[None], HEADS.transpose(1, 0, 2), HEADS.transpose(1, 0, 2)[None]):
        found = asked(output=array)
        assert not found.joined
        np.testing.assert_array_equal(found.output.values, HEADS)
    joined = HEADS.transpose(1, 0, 2).reshape(N_Q, H * D_V)
    for array in (joined, joined[None]):
        found = asked(output=array)
        assert found.joined
        np.testing.assert_array_equal(found.output.values, joined)


def test_one_head_without_its_axis() -> None:
    found = question(Q[0], K[0], V[0], scores=SQUARE[0], weights=SQUARE[0], output=HEADS[0])
    assert (found.scores.shape, found.weights.shape, found.output.shape) == ((1, 3, 5), (1, 3, 5), (1, 3, 2))
    assert not found.mean
    assert not found.joined
    assert [name for name, _ in found.given()] == ["scores", "weights", "output"]


def test_half_units_go_along() -> None:
    half = np.arange(N_Q * H * D_V).reshape(N_Q, H, D_V) / 10
    numbers = Numbers(HEADS.transpose(1, 0, 2), Precision.FLOAT64, half)
    np.testing.assert_array_equal(asked(output=numbers).output.half_unit, half.transpose(1, 0, 2))


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({}, "numbers to explain: expected scores, weights or output, received none of them"),
        ({"scores": SQUARE[0]}, "scores: expected shape (4, 3, 5), received (3, 5)"),
        ({"weights": SQUARE[:2]}, "weights: expected shape (4, 3, 5) or (3, 5), received (2, 3, 5)"),
        ({"output": HEADS[0]}, "output: expected shape (4, 3, 2) or (3, 4, 2) or (3, 8), received (3, 2)"),
        ({"output": [["a"]]}, "numbers: expected an array of numbers"),
        ({"output": HEADS * 1j}, "numbers: expected real numbers, received an array of complex128"),
        ({"scores": SQUARE, "bases": [0.5]}, "base: expected a finite number from 1 to 1e15, received 0.5"),
        ({"scores": SQUARE, "bases": [1e300]}, "base: expected a finite number from 1 to 1e15, received 1e+300"),
        ({"scores": SQUARE, "mask": np.ones((N_Q, N_K), complex)}, "mask: expected flags, or numbers to be added"),
        ({"scores": SQUARE, "mask": np.ones((2, 2))}, "mask: expected shape (4, 3, 5) or (3, 5), or what broadcasts"),
        ({"scores": SQUARE, "mask": Padding()}, "mask: expected a rule over indices alone, received one that reads"),
        ({"scores": SQUARE, "softcap": 0.0}, "softcap: expected a number from 1e-30 to 1e30"),
    ],
)
def test_what_is_refused(numbers: dict[str, Any], words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        asked(**numbers)
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize("name", ["Q", "K", "V"])
def test_complex_numbers_lose_no_part(name: str) -> None:
    given = {"Q": Q, "K": K, "V": V}
    given[name] = given[name] * (1 + 1j)
    with pytest.raises(ExperimentError, match=f"{name}: expected real numbers, received an array of complex128"):
        question(**given, scores=SQUARE)


def test_a_batch_of_more_than_one_is_refused() -> None:
    with pytest.raises(ExperimentError, match="with a batch of 1"):
        question(np.stack([Q, Q]), K, V, scores=SQUARE)


CAUSAL = np.tri(N_Q, N_K, dtype=bool)


@pytest.mark.parametrize(
    "mask",
    [
        CAUSAL,
        CAUSAL[None],
        np.broadcast_to(CAUSAL, (H, N_Q, N_K)),
        CAUSAL.astype(int),
        CAUSAL.astype(float),
        np.where(CAUSAL, 0.0, -np.inf),
        np.where(CAUSAL, 0.0, -1e9)[None, None],
        np.where(CAUSAL, 0.0, np.finfo(np.float32).min).astype(np.float32),
        Causal(),
    ],
)
def test_masks_in_every_form(mask: Any) -> None:
    found = asked(scores=SQUARE, mask=mask)
    assert found.masked
    assert found.experiment.rule == Causal()
    assert found.experiment.scoring.biases == ()


def test_masks_of_keys_and_of_numbers() -> None:
    keys = np.array([True, True, False, True, True])
    rule = asked(scores=SQUARE, mask=keys).experiment.rule
    assert isinstance(rule, Imported)
    np.testing.assert_array_equal(rule.cells, np.broadcast_to(keys, (N_Q, N_K)))
    found = asked(scores=SQUARE, mask=np.where(CAUSAL, 0.25, -np.inf)).experiment
    assert found.rule == Causal()
    np.testing.assert_array_equal(found.scoring.biases[0].cells, np.where(CAUSAL, 0.25, 0.0))
    # numbers that are all 0 add nothing; flags that are all 0 forbid everything
    assert asked(scores=SQUARE, mask=np.zeros((N_Q, N_K))).experiment.rule == MaskRule()
    assert not asked(scores=SQUARE, mask=np.zeros((N_Q, N_K), int)).experiment.rule.cells.any()
    assert not asked(scores=SQUARE).masked


def test_masks_that_have_a_name() -> None:
    assert recognised(np.ones((3, 5), bool)) == MaskRule()
    assert recognised(np.tri(3, 5, 2, dtype=bool)) == Causal("bottom-right")
    i, j = np.arange(6)[:, None], np.arange(6)[None, :]
    assert recognised((j <= i) & (j >= i - 2)) == SlidingWindow(2)
    assert recognised(abs(i - j) <= 1) == SlidingWindow(1, two_sided=True)
    assert isinstance(recognised(i != j), Imported)
    per_head = recognised(np.stack([np.tri(3, dtype=bool), np.ones((3, 3), bool)]))
    assert per_head.per_head


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 9), st.booleans(), st.booleans())
def test_windows_are_told_from_what_is_none(n_q: int, n_k: int, window: int, two_sided: bool, at_end: bool) -> None:
    offset = n_k - n_q if at_end else 0
    cells = WindowShape(window, two_sided, offset).cells(n_q, n_k)
    found = window_shape(cells)
    if found is not None:
        np.testing.assert_array_equal(found.cells(n_q, n_k), cells)
        longer = WindowShape(found.window + 1, found.two_sided, found.offset)
        assert not np.array_equal(longer.cells(n_q, n_k), cells)
    elif cells.any(axis=1).all():
        # one key more would change nothing: it is causal, or everything
        widest = [WindowShape(99, sides, start) for sides in (False, True) for start in (0, n_k - n_q)]
        assert any(np.array_equal(shape.cells(n_q, n_k), cells) for shape in widest)


def test_a_question_about_an_experiment_knows_its_mask() -> None:
    e = Experiment.from_tokens("abc", np.eye(3), rule=Causal())
    found = question_of(e, weights=np.ones((3, 3)))
    assert found.masked
    assert not question_of(Experiment.from_tokens("abc", np.eye(3)), weights=np.ones((3, 3))).masked
