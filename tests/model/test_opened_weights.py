"""Opened weights: the experiment takes on their shapes, keeps its tokens, and what still fits of the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.biases.additive import Additive
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.cache import with_past
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Padding
from attn_gui.model.opened_weights import OpenedWeights, tables_to_draw, with_opened_weights
from attn_gui.model.painted import Painted, Rectangle
from attn_gui.model.reshape import with_variant
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import AppendedKey
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights

WIDTHS = [(2, 2, 2), (4, 4, 4), (2, 6, 6), (4, 2, 6), (2, 2, 4)]


def karina() -> Experiment:
    tokens = TokenSequence.of(["karina", "is", "here"], [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], pad=[False, False, True])
    e = Experiment.from_tokens(tokens.tokens, tokens.embeddings.array())
    return replace(e, tokens=tokens)


def opened(widths: tuple[int, int, int], heads: int = 1, many: bool = False) -> OpenedWeights:
    W_O = np.ones((6, 3)) if many else None
    return OpenedWeights(Weights.of(*(np.ones((width, 6)) for width in widths), W_O), heads)


@given(st.sampled_from(Variant), st.sampled_from(WIDTHS), st.booleans(), st.booleans())
def test_embeddings_get_the_width_that_the_weights_read(
    variant: Variant, widths: tuple[int, int, int], many: bool, given_before: bool
) -> None:
    e = with_variant(karina(), variant)
    if given_before:
        X = e.tokens.embeddings.array()
        e = replace(
            Experiment.from_qkv(X, X, X, tokens=e.tokens.tokens), tokens=replace(e.tokens, embeddings=Table.of(X))
        )
    weights = opened(widths, 3 if many else 1, many)
    cross = (variant.is_cross and not given_before) or widths[0] != widths[1]
    needed = tables_to_draw(e, widths)
    assert set(needed.values()) <= set(widths)
    if needed:
        with pytest.raises(ExperimentError, match=f"embeddings of {next(iter(needed.values()))} numbers"):
            with_opened_weights(e, weights)
    made = with_opened_weights(e, weights, seed=5)
    assert (made.variant.is_cross, made.variant.is_multi_head, made.heads) == (cross, many, weights.heads)
    assert (made.tokens.width, made.present_keys.width, made.value_rows.width) == widths
    assert made.tokens.tokens == made.keys.tokens == e.tokens.tokens
    assert made.tokens.pad.tolist() == e.tokens.pad.tolist()
    assert made.weights is weights.weights
    if "tokens" not in needed:
        assert made.tokens.embeddings is e.tokens.embeddings
    else:
        assert made.tokens.embeddings.same_as(with_opened_weights(e, weights, seed=5).tokens.embeddings)
        assert not made.tokens.embeddings.same_as(with_opened_weights(e, weights, seed=6).tokens.embeddings)


def test_what_still_fits_is_kept() -> None:
    painted = Painted((Rectangle(0, 1, 2, 3, False),))
    scoring = Scoring(softcap=3.0, biases=(ALiBi(), Additive(np.ones((1, 3, 3)))))
    e = replace(karina(), rule=Padding(), painted=painted, scoring=scoring)
    made = with_opened_weights(e, opened((2, 2, 2), 3, True))
    assert (made.rule, made.painted, made.scoring.softcap) == (Padding(), painted, 3.0)
    assert [bias.kind for bias in made.scoring.biases] == ["alibi"]  # the other is of one head
    crossed = with_opened_weights(e, opened((2, 5, 5)), seed=0)
    assert not crossed.painted


def test_the_cache_comes_along_unless_values_have_a_width_of_their_own() -> None:
    e = with_past(replace(karina(), rule=Causal("bottom-right")), 1)
    made = with_opened_weights(e, opened((4, 4, 4)), seed=1)
    assert (made.offset, made.key_rows.width, made.keys.tokens) == (1, 4, ("karina", "is", "here"))
    assert tables_to_draw(e, (4, 4, 4)) == {"tokens": 4, "past": 4}
    assert with_opened_weights(e, opened((4, 4, 5)), seed=1).past is None


def test_appended_keys_are_those_of_the_file() -> None:
    row = Table.of(np.ones((1, 2)))
    e = replace(karina(), appended=(AppendedKey("old", row, row),))
    assert with_opened_weights(e, opened((2, 2, 2))).appended == ()
    made = with_opened_weights(e, replace(opened((2, 2, 2), 3, True)).with_zero_key())
    (key,) = made.appended
    assert (key.name, key.K.shape, key.V.array().any()) == ("zero", (1, 6), False)
