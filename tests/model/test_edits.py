"""Edits of tokens and weights: always valid, and what belongs to a token follows it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model import edits
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Padding
from attn_gui.model.painted import Painted
from attn_gui.model.sources import GivenQKV
from attn_gui.model.tokens import TokenSequence
from tests.strategies import experiments

NEW = -1  # a token that was not there before


def labelled(e: Experiment) -> Experiment:
    """``e`` with every token named after its place, so that it can be recognised."""
    tokens = replace(e.tokens, tokens=tuple(f"q{i}" for i in range(e.n_q)))
    context = None if e.context is None else replace(e.context, tokens=tuple(f"k{j}" for j in range(len(e.context))))
    return replace(e, tokens=tokens, context=context)


def places(now: TokenSequence, before: TokenSequence) -> list[int]:
    """Where each token of ``now`` was in ``before``, by its name."""
    return [before.tokens.index(name) if name in before.tokens else NEW for name in now.tokens]


def move_about(data: st.DataObject, e: Experiment, side: edits.Side) -> Experiment:
    """One insertion, deletion or move of tokens."""
    n = len(edits.sequence(e, side))
    kind = data.draw(st.sampled_from(["insert", "delete", "move"]))
    if kind == "insert":
        count, at = data.draw(st.integers(1, 3)), data.draw(st.integers(0, n))
        return edits.insert_tokens(e, side, at, [f"new{at}"] * count)
    if kind == "delete" and n > 1:
        rows = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n - 1, unique=True))
        return edits.delete_tokens(e, side, rows)
    start = data.draw(st.integers(0, n - 1))
    count = data.draw(st.integers(1, n - start))
    return edits.move_tokens(e, side, start, count, data.draw(st.integers(0, n - count)))


def check_followed(before: Experiment, after: Experiment) -> None:
    """Embeddings, pads, painted cells and given Q, K, V of every token are still its own."""
    for old, new in ((before.tokens, after.tokens), (before.context, after.context)):
        if old is None or new is None:
            assert old is new
            continue
        assert new.dimensions == old.dimensions
        for row, was in enumerate(places(new, old)):
            assert np.array_equal(
                new.embeddings.array()[row], np.zeros(old.width) if was == NEW else old.embeddings.array()[was]
            )
            assert new.pad[row] == (was != NEW and old.pad[was])
        assert not any(column.flags.writeable for column in new.columns.values())
    from_q, from_k = places(after.tokens, before.tokens), places(after.keys, before.keys)
    for i, was_i in enumerate(from_q):
        for j, was_j in enumerate(from_k):
            painted = None if NEW in (was_i, was_j) else before.painted.at(was_i, was_j)
            assert after.painted.at(i, j) == painted
    if isinstance(before.source, GivenQKV) and isinstance(after.source, GivenQKV):
        for name, of in (("Q", from_q), ("K", from_k), ("V", from_k)):
            old_array, new_array = getattr(before.source, name), getattr(after.source, name)
            assert not new_array.flags.writeable
            for row, was in enumerate(of):
                assert np.array_equal(new_array[:, row], old_array[:, was] if was != NEW else 0 * new_array[:, row])
    elif before.source is not after.source:
        pytest.fail("the weights have changed")


@given(experiments(), st.data())
def test_what_belongs_to_a_token_follows_it(e: Experiment, data: st.DataObject) -> None:
    e = labelled(e)
    sides: list[edits.Side] = ["tokens"] if e.context is None else ["tokens", "context"]
    after = move_about(data, e, data.draw(st.sampled_from(sides)))
    check_followed(e, after)
    assert (after.variant, after.heads, after.rule, after.scoring) == (e.variant, e.heads, e.rule, e.scoring)


@given(experiments(), st.data())
def test_the_context_of_a_self_attention_is_kept_apart(e: Experiment, data: st.DataObject) -> None:
    unused = TokenSequence.of(["c0", "c1", "c2"], np.ones((3, 5)))
    e = labelled(replace(e, context=unused) if not e.variant.is_cross else e)
    after = move_about(data, e, "context")
    check_followed(e, after)
    if not e.variant.is_cross:
        assert after.painted == e.painted
        assert after.tokens is e.tokens


@given(experiments(sources=("tokens",)), st.data())
def test_cells_of_the_tables(e: Experiment, data: st.DataObject) -> None:
    i, x = data.draw(st.integers(0, e.n_q - 1)), data.draw(st.integers(0, e.d_model - 1))
    after = edits.set_cells(e, "tokens", i, x, 7.5)
    assert after.tokens.embeddings[i, x] == 7.5
    expected = e.tokens.embeddings.array().copy()
    expected[i, x] = 7.5
    assert np.array_equal(after.tokens.embeddings.array(), expected)
    assert after.source is e.source
    assert e.weights is not None
    for name, table in e.weights.items():
        after = edits.set_weight_cells(e, name, [0], [table.width - 1], [2.5])
        assert after.weights is not None
        changed = {n for n, t in after.weights.items() if t is not e.weights.get(n)}
        assert changed == {name}
        assert after.tokens is e.tokens


def test_a_block_of_cells() -> None:
    e = Experiment.from_tokens("abc", np.zeros((3, 2)))
    after = edits.set_cells(e, "tokens", [[0], [2]], [[0, 1]], [[1, 2], [3, 4]])
    assert after.tokens.embeddings.array().tolist() == [[1, 2], [0, 0], [3, 4]]


def test_names_of_tokens_and_dimensions() -> None:
    e = Experiment.from_tokens("abc", np.zeros((3, 2)))
    assert edits.rename_tokens(e, "tokens", [0, 2], ["x", "z"]).tokens.tokens == ("x", "b", "z")
    named = edits.rename_dimension(e, "tokens", 1, "verb")
    assert [named.tokens.dimension_name(k) for k in range(2)] == ["x1", "verb"]
    assert edits.rename_dimension(named, "tokens", 1, "").tokens.dimension_name(1) == "x2"


def test_padding_marks_keys_and_leaves_queries_alone() -> None:
    e = edits.set_column(Experiment.from_tokens("abc", np.eye(3), rule=Padding()), "tokens", "pad", [1], True)
    assert e.tokens.pad.tolist() == [False, True, False]
    assert e.allowed(slice(0, 3), slice(0, 3)).tolist() == [[True, False, True]] * 3
    assert edits.set_column(e, "tokens", "pad", [0, 1], [True, False]).tokens.pad.tolist() == [True, False, False]


def test_tokens_inserted_with_their_embeddings() -> None:
    e = Experiment.from_tokens("ab", [[1.0, 2], [3, 4]])
    after = edits.insert_tokens(e, "tokens", 1, ["x", "y"], [[5, 6], [7, 8]])
    assert after.tokens.tokens == ("a", "x", "y", "b")
    assert after.tokens.embeddings.array().tolist() == [[1, 2], [5, 6], [7, 8], [3, 4]]
    assert edits.insert_tokens(e, "tokens", 1, []).tokens.tokens == ("a", "b")


def test_tokens_can_be_inserted_where_q_k_and_v_were_given() -> None:
    e = Experiment.from_qkv(np.ones((2, 3)), np.ones((2, 3)), np.ones((2, 3)))
    after = edits.insert_tokens(e, "tokens", 1, ["x"])
    assert (after.n_q, after.n_k) == (3, 3)
    assert isinstance(after.source, GivenQKV)
    assert after.source.Q[0].tolist() == [[1, 1, 1], [0, 0, 0], [1, 1, 1]]


E = Experiment.from_tokens(["is", "to"], np.eye(2), painted=Painted())
GIVEN = Experiment.from_qkv(np.ones((2, 3)), np.ones((2, 3)), np.ones((2, 3)))


@pytest.mark.parametrize(
    ("edit", "field", "expected", "received"),
    [
        (lambda: edits.set_cells(E, "tokens", 1, 0, np.nan), "x1 of token 2 'to'", "a finite number", "nan"),
        (
            lambda: edits.set_cells(E, "tokens", [0, 1], [1, 1], [2, -np.inf]),
            "x2 of token 2 'to'",
            "a finite number",
            "-inf",
        ),
        (lambda: edits.set_weight_cells(E, "W_K", 1, 0, np.inf), "W_K row 2, column 1", "a finite number", "inf"),
        (
            lambda: edits.set_weight_cells(E, "W_O", 0, 0, 1),
            "W_O",
            "a matrix or bias of this experiment",
            "none by that name",
        ),
        (
            lambda: edits.set_weight_cells(GIVEN, "W_Q", 0, 0, 1),
            "W_Q",
            "a matrix or bias of this experiment",
            "none by that name",
        ),
        (lambda: edits.rename_tokens(E, "tokens", [1], [""]), "token 2", "a name of at least one character", "''"),
        (
            lambda: edits.delete_tokens(E, "tokens", [1, 0]),
            "tokens",
            "at least 1 token to be left",
            "all of them deleted",
        ),
        (lambda: edits.set_cells(E, "context", 0, 0, 1), "context", "a cross-attention's context table", "none"),
        (lambda: edits.insert_tokens(E, "tokens", 0, ["x"], [[1, 2, 3]]), "rows", "shape (count, 2)", "shape (1, 3)"),
        (
            lambda: edits.insert_tokens(E, "tokens", 0, ["x"], [[1, 2], [3, 4]]),
            "embeddings",
            "one row for each of 3 tokens",
            "4 rows",
        ),
    ],
)
def test_what_is_refused_and_in_which_words(edit: Any, field: str, expected: str, received: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        edit()
    assert (caught.value.field, caught.value.expected, caught.value.received) == (field, expected, received)
    assert str(caught.value) == f"{field}: expected {expected}, received {received}"
