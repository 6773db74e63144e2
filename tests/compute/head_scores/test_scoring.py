"""Scores of heads against plain loops, and heads planted to be found by them."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute.head_scores import head_scores
from attn_gui.compute.trace import trace
from attn_gui.model.experiment import Experiment
from attn_gui.model.head_scores import HEAD_SCORES, separators
from attn_gui.model.table import Floats
from attn_gui.model.tokens import TokenSequence
from tests import reference_scores
from tests.strategies import experiments

NAMES = [score.name for score in HEAD_SCORES]
WORDS = ["the", "cat", ".", "Ġ,", "[SEP]", "sat", "##!"]


def result_of(steps: Generator[float, None, Any]) -> Any:
    """What ``steps`` return, having said how far they were."""
    while True:
        try:
            assert 0 <= next(steps) <= 1
        except StopIteration as finished:
            return finished.value


def scores(e: Experiment) -> Floats:
    return result_of(head_scores(trace(e))).values  # type: ignore[no-any-return]


def by_name(row: Floats) -> dict[str, float]:
    return dict(zip(NAMES, row.tolist(), strict=True))


@settings(max_examples=40)
@given(experiments())
def test_formulas(e: Experiment) -> None:
    N = trace(e).stage("N").astype(np.float64)
    for head, row in enumerate(scores(e)):
        expected = reference_scores.statistics(e, N[head], head) | reference_scores.patterns(e, N[head])
        np.testing.assert_allclose(row, [expected[name] for name in NAMES], rtol=1e-9, atol=1e-12)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9), st.integers(0, 1000), st.booleans())
def test_words_that_come_again_and_separators(words: list[str], seed: int, special: bool) -> None:
    n = len(words)
    N = np.random.default_rng(seed).random((2, n, n)) + 1e-3
    e = Experiment.from_weights(N, tokens=words)
    found = scores(e)
    for head in range(2):
        expected = reference_scores.patterns(e, N[head])
        for name, value in expected.items():
            assert by_name(found[head])[name] == pytest.approx(value, rel=1e-9, nan_ok=True), name


def planted() -> Experiment:
    """Twice the same six words; each head does one thing, with what is left shared evenly."""
    words = ["[CLS]", "a", "b", ".", "c", "d", "[SEP]", "a", "b", ".", "c", "d", "[SEP]"]
    n = len(words)
    heads = np.full((6, n, n), 0.1 / n)
    for i in range(n):
        first = words.index(words[i])
        heads[0, i, max(0, i - 1)] += 0.9
        heads[1, i, first + 1 if first < i else 0] += 0.9
        heads[2, i, 0] += 0.9
        heads[3, i, 6] += 0.9
        heads[4, i, i] += 0.9
        heads[5, i, first] += 0.9
    return Experiment.from_weights(heads, tokens=words)


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("previous_token", 0),
        ("induction", 1),
        ("first_token", 2),
        ("separator", 3),
        ("same_token", 4),
        ("duplicate_token", 5),
    ],
)
def test_a_planted_head_is_found(name: str, head: int) -> None:
    found = scores(planted())[:, NAMES.index(name)]
    others = np.delete(found, head)
    assert found[head] > 0.9
    assert found[head] > 1.2 * others.max()


def test_what_a_cross_attention_has_no_place_for() -> None:
    N = np.full((1, 3, 4), 0.25)
    row = by_name(scores(Experiment.from_weights(N, key_tokens=["x", "y", "x", "."]))[0])
    assert row["first_token"] == pytest.approx(0.25)
    assert row["separator"] == pytest.approx(0.25)
    for name in ("previous_token", "same_token", "next_token", "induction", "duplicate_token"):
        assert math.isnan(row[name])


def test_the_cache_shifts_the_query_s_own_place() -> None:
    N = np.zeros((1, 2, 4))
    N[0, 0, 1] = N[0, 1, 2] = 1.0  # queries stand at 2 and 3
    row = by_name(scores(Experiment.from_weights(N, past=2))[0])
    assert row["previous_token"] == 1.0
    assert row["same_token"] == 0.0


def test_separators_by_name_by_sign_and_by_mark() -> None:
    words = [".", "a", "Ġ...", "##?", "[SEP]", "</s>", "-x", "Ġ", "<unk>"]
    assert separators(TokenSequence.of(words, np.zeros((9, 0)))).tolist() == [
        False, False, True, True, True, True, False, False, False,
    ]  # fmt: skip


def test_special_tokens_that_part_nothing_are_no_separators() -> None:
    words = ["[CLS]", "the", "[MASK]", "[UNK]", "[SEP]", "<turn>", "<cls>"]
    flags = np.array([True, False, True, True, True, True, True])
    found = separators(TokenSequence(tuple(words), np.zeros((7, 0)), columns={"special": flags}))
    assert found.tolist() == [False, False, False, False, True, True, False]
