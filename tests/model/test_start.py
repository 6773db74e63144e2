"""Where an experiment starts: a sentence split and embedded, initial weights, both repeatable."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.errors import ExperimentError
from attn_gui.model.initialise import INITIALISERS, initial_matrix, initial_weights
from attn_gui.model.text import EMBEDDINGS, embed, sinusoidal, split


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The animal didn't cross.", ["The", "animal", "didn't", "cross", "."]),
        ("", []),
        ("  \n\t ", []),
        ("l’eau, café!", ["l’eau", ",", "café", "!"]),
        ("=SUM(1)", ["=", "SUM", "(", "1", ")"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("x_1 'quoted'", ["x_1", "'", "quoted", "'"]),
        ("我们", ["我们"]),
    ],
)
def test_sentences_are_split_into_words_and_marks(text: str, tokens: list[str]) -> None:
    assert split(text) == tokens


@given(st.text())
def test_nothing_but_white_space_is_lost(text: str) -> None:
    tokens = split(text)
    assert "".join(tokens) == "".join(text.split())
    assert all(tokens)


@pytest.mark.parametrize("how", EMBEDDINGS)
def test_embeddings_repeat_and_have_a_row_a_token(how: str) -> None:
    tokens = ["the", "cat", "the", "mat"]
    one, two = embed(tokens, 6, how, seed=4), embed(tokens, 6, how, seed=4)
    assert one.tokens == tuple(tokens)
    assert np.array_equal(one.embeddings.array(), two.embeddings.array())
    if how != "one_hot":
        assert one.embeddings.shape == (4, 6)
        assert not np.array_equal(one.embeddings.array(), embed(tokens, 6, how, seed=5).embeddings.array())


def test_equal_tokens_get_equal_vectors_whatever_stands_around_them() -> None:
    X, Y = embed(["the", "cat", "the"], 4).embeddings.array(), embed(["a", "the"], 4).embeddings.array()
    assert np.array_equal(X[0], X[2])
    assert np.array_equal(X[0], Y[1])
    assert not np.array_equal(X[0], X[1])


def test_one_hot_dimensions_are_named_after_their_tokens() -> None:
    made = embed(["to", "be", "or", "not", "to", "be"], 99, "one_hot")
    assert made.dimensions == ("to", "be", "or", "not")
    assert made.embeddings.array().tolist() == [np.eye(4)[k].tolist() for k in (0, 1, 2, 3, 0, 1)]


def test_positions_tell_equal_tokens_apart() -> None:
    made = embed(["the", "the"], 6, "position").embeddings.array()
    plain = embed(["the", "the"], 6).embeddings.array()
    expected = [
        [math.sin(p / 10000 ** (k / 6)) if k % 2 == 0 else math.cos(p / 10000 ** ((k - 1) / 6)) for k in range(6)]
        for p in range(2)
    ]
    np.testing.assert_allclose(made - plain, expected, atol=1e-12)
    np.testing.assert_allclose(sinusoidal(2, 6), expected, atol=1e-15)


def test_what_cannot_be_embedded() -> None:
    with pytest.raises(ExperimentError, match="sentence: expected at least 1 word, received none"):
        embed([], 4)
    with pytest.raises(ExperimentError, match="embedding: expected random or one_hot or position, received 'magic'"):
        embed(["a"], 4, "magic")


@pytest.mark.parametrize("kind", INITIALISERS)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6), st.integers(1, 3), st.booleans(), st.booleans())
def test_weights_have_their_shapes_and_repeat(
    kind: str, seed: int, d_model: int, d_context: int, heads: int, multi_head: bool, biases: bool
) -> None:
    options = {"seed": seed, "multi_head": multi_head, "d_k": 2, "d_v": 3, "kv_heads": 1, "biases": biases}
    one = initial_weights(kind, d_model, d_context, heads, **options)  # type: ignore[arg-type]
    two = initial_weights(kind, d_model, d_context, heads, **options)  # type: ignore[arg-type]
    shapes = {"W_Q": (d_model, 2 * heads), "W_K": (d_context, 2), "W_V": (d_context, 3)}
    if multi_head:
        shapes["W_O"] = (3 * heads, d_model)
    if biases:
        shapes |= {"b" + name[1:]: (1, shape[1]) for name, shape in list(shapes.items())}
    assert {name: table.shape for name, table in one.items()} == shapes
    for (name, table), (_, same) in zip(one.items(), two.items(), strict=True):
        assert np.array_equal(table.array(), same.array()), name
        if kind == "identity" and name.startswith("W"):
            assert np.array_equal(table.array(), np.eye(*table.shape))
        if kind != "linear" and name.startswith("b"):
            assert not table.array().any()


@pytest.mark.parametrize(
    ("kind", "bound", "deviation"),
    [
        ("linear", 1 / math.sqrt(300), 1 / math.sqrt(900)),
        ("normal", math.inf, 0.1),
        ("xavier", math.sqrt(6 / 500), math.sqrt(2 / 500)),
    ],
)
def test_random_weights_are_drawn_from_what_they_say(kind: str, bound: float, deviation: float) -> None:
    values = initial_matrix(kind, 300, 200, np.random.RandomState(0)).array()
    assert np.abs(values).max() <= bound
    assert np.abs(values).max() > 0.99 * bound or kind == "normal"
    assert values.std() == pytest.approx(deviation, rel=0.02)
    assert values.mean() == pytest.approx(0, abs=3 * deviation / math.sqrt(values.size))


def test_a_seed_gives_the_same_weights_for_ever() -> None:
    weights = initial_weights("normal", 2, 2, 1, seed=7, multi_head=False)
    np.testing.assert_allclose(
        weights.W_Q.array(), [[0.169052570, -0.046593737], [0.003282016, 0.040751628]], atol=1e-9
    )


def test_the_default_of_nn_linear_is_followed() -> None:
    """What torch's reset_parameters draws is uniform within the same bound."""
    import torch

    torch.manual_seed(0)
    layer = torch.nn.Linear(300, 200)
    ours = initial_weights("linear", 300, 300, 1, d_k=200, biases=True)
    assert ours.b_Q is not None
    for table, theirs in ((ours.W_Q, layer.weight), (ours.b_Q, layer.bias)):
        assert np.abs(table.array()).max() == pytest.approx(float(theirs.detach().abs().max()), rel=0.01)


def test_what_cannot_be_initialised() -> None:
    with pytest.raises(
        ExperimentError, match="initialiser: expected identity or linear or normal or xavier, received 'x'"
    ):
        initial_matrix("x", 2, 2, np.random.RandomState(0))
    with pytest.raises(ExperimentError, match="heads: expected a divisor of d_model 5, received 2"):
        initial_weights("normal", 5, 5, 2)
