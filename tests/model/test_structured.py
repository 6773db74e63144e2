"""The long example has the structure that it says it has."""

from __future__ import annotations

import numpy as np
import pytest

from attn_gui.compute.trace import trace
from attn_gui.model.experiment import Experiment
from attn_gui.model.structured import HEADS, START, structured_experiment


@pytest.fixture(scope="module")
def e() -> Experiment:
    return structured_experiment(2048)


@pytest.fixture(scope="module")
def N(e: Experiment) -> np.ndarray:
    return trace(e).stage("N")


def test_every_query_looks_near_in_the_first_head(N: np.ndarray) -> None:
    distances = (N[0] * np.abs(np.subtract.outer(np.arange(2048), np.arange(2048)))).sum(axis=1)
    assert distances.max() < 32


def test_the_first_word_is_the_sink_of_the_second(N: np.ndarray, e: Experiment) -> None:
    assert e.tokens.tokens[0] == START
    assert N[1][:, 0].min() > 0.99


def test_the_third_looks_at_what_followed_this_word_before(N: np.ndarray, e: Experiment) -> None:
    words = np.array(e.tokens.tokens)
    followed = np.zeros((2048, 2048), bool)
    followed[:, 1:] = words[:, None] == words[None, :-1]
    followed &= np.tri(2048, dtype=bool)
    somewhere = followed.any(axis=1)
    assert somewhere.mean() > 0.5
    assert (N[2] * followed).sum(axis=1)[somewhere].min() > 0.9


def test_the_fourth_looks_at_the_same_word(N: np.ndarray, e: Experiment) -> None:
    words = np.array(e.tokens.tokens)
    same = (words[:, None] == words[None, :]) & np.tri(2048, dtype=bool)
    assert (N[3] * same).sum(axis=1)[1:].min() > 0.9


def test_passages_repeat_and_a_seed_gives_the_same_again(e: Experiment) -> None:
    words = e.tokens.tokens
    assert any(_within(words[k : k + 256], words[:k]) for k in range(256, 2048, 256))
    again = structured_experiment(2048)
    assert again.tokens.tokens == words
    assert np.array_equal(again.tokens.embeddings.array(), e.tokens.embeddings.array())
    assert e.heads == HEADS
    assert structured_experiment(2048, seed=1).tokens.tokens != words


@pytest.mark.parametrize("n", [1, 2, 300])
def test_any_length_will_do(n: int) -> None:
    assert len(structured_experiment(n).tokens) == n


def _within(passage: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return any(words[k : k + len(passage)] == passage for k in range(len(words) - len(passage) + 1))
