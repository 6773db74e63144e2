"""Edits of tokens and weights: always valid, and what belongs to a token follows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model import edits
from attn_gui.model.biases.additive import Additive
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Combined, Imported, MaskRule, Padding
from attn_gui.model.painted import Painted
from attn_gui.model.positions.learned import Learned
from attn_gui.model.reshape import with_sequence
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import GivenQKV
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.weights import Weights
from tests.strategies import experiments

NEW = -1  # a token that was not there before
SIDES: tuple[edits.Side, ...] = ("tokens", "context", "values", "past")


def labelled(e: Experiment) -> Experiment:
    """``e`` with every token named after its place, so that it can be recognised."""
    changes: dict[str, TokenSequence] = {}
    for letter, side in zip("qkvp", SIDES, strict=True):
        of: TokenSequence | None = getattr(e, side)
        if of is not None:
            changes[side] = replace(of, tokens=tuple(f"{letter}{row}" for row in range(len(of))))
    if e.values is not None:
        changes["values"] = replace(
            e.values, tokens=(changes["context"] if e.variant.is_cross else changes["tokens"]).tokens
        )
    return replace(e, **changes)


def sides_of(e: Experiment) -> list[edits.Side]:
    return [side for side in SIDES if getattr(e, side) is not None]


def places(now: Sequence[str], before: Sequence[str]) -> list[int]:
    """Where each token of ``now`` was in ``before``, by its name."""
    return [before.index(name) if name in before else NEW for name in now]


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
    """Everything that belongs to a token or to a pair of tokens is still its own."""
    for side in SIDES:
        old, new = getattr(before, side), getattr(after, side)
        if old is None or new is None:
            assert old is new
            continue
        assert new.dimensions == old.dimensions
        for row, was in enumerate(places(new.tokens, old.tokens)):
            expected = np.zeros(old.width) if was == NEW else old.embeddings.array()[was]
            assert np.array_equal(new.embeddings.array()[row], expected)
            assert new.pad[row] == (was != NEW and old.pad[was])
            assert new.column("segment")[row] == (0 if was == NEW else old.column("segment")[was])
        assert new.columns.keys() == old.columns.keys()
        assert not any(column.flags.writeable for column in new.columns.values())
    from_q, from_k = places(after.tokens.tokens, before.tokens.tokens), places(after.keys.tokens, before.keys.tokens)
    for i, was_i in enumerate(from_q):
        for j, was_j in enumerate(from_k):
            painted = None if NEW in (was_i, was_j) else before.painted.at(was_i, was_j)
            assert after.painted.at(i, j) == painted
    from_k = from_k[: len(from_k) - len(before.appended)]
    check_rule(before.rule, after.rule, from_q, from_k)
    check_scoring(before.scoring, after.scoring, from_q, from_k)
    if isinstance(before.source, GivenQKV) and isinstance(after.source, GivenQKV):
        for name, of in (("Q", from_q), ("K", from_k), ("V", from_k)):
            old_array, new_array = getattr(before.source, name), getattr(after.source, name)
            assert not new_array.flags.writeable
            for row, was in enumerate(of):
                assert np.array_equal(new_array[:, row], old_array[:, was] if was != NEW else 0 * new_array[:, row])
    elif before.source is not after.source:
        pytest.fail("the weights have changed")


def check_cells(old: np.ndarray, new: np.ndarray, from_q: list[int], from_k: list[int], fresh: Any) -> None:
    """[.., n_q, n_k]: every cell is still that of its tokens, and new ones are ``fresh``."""
    assert new.shape == (*old.shape[:-2], len(from_q), len(from_k))
    for i, was_i in enumerate(from_q):
        for j, was_j in enumerate(from_k):
            expected = fresh if NEW in (was_i, was_j) else old[..., was_i, was_j]
            assert np.all(new[..., i, j] == expected)


def check_rule(old: MaskRule, new: MaskRule, from_q: list[int], from_k: list[int]) -> None:
    if isinstance(old, Combined) and isinstance(new, Combined):
        for was, now in zip(old.terms, new.terms, strict=True):
            assert (was.join, was.negated, was.heads) == (now.join, now.negated, now.heads)
            check_rule(was.rule, now.rule, from_q, from_k)
    elif isinstance(old, Imported) and isinstance(new, Imported):
        check_cells(old.cells, new.cells, from_q, from_k, True)
    else:
        assert new == old


def check_scoring(old: Scoring, new: Scoring, from_q: list[int], from_k: list[int]) -> None:
    for was, now in zip(old.biases, new.biases, strict=True):
        if isinstance(was, Additive) and isinstance(now, Additive):
            check_cells(was.cells, now.cells, from_q, from_k, 0)
        else:
            assert now is was
    assert replace(new, biases=()) == replace(old, biases=())


@given(experiments(), st.data())
def test_what_belongs_to_a_token_follows_it(e: Experiment, data: st.DataObject) -> None:
    e = labelled(e)
    after = move_about(data, e, data.draw(st.sampled_from(sides_of(e))))
    check_followed(e, after)
    assert (after.variant, after.heads, after.appended) == (e.variant, e.heads, e.appended)
    assert after.values is None or after.values.tokens == after.present_keys.tokens


@given(experiments(), st.data())
def test_the_context_of_a_self_attention_is_kept_apart(e: Experiment, data: st.DataObject) -> None:
    unused = TokenSequence.of(["c0", "c1", "c2"], np.ones((3, 5)))
    e = labelled(replace(e, context=unused) if not e.variant.is_cross else e)
    after = move_about(data, e, "context")
    check_followed(e, after)
    if not e.variant.is_cross:
        assert after.painted == e.painted
        assert after.tokens is e.tokens


def test_learned_positions_reach_over_the_cache_but_not_to_whatever_is_typed() -> None:
    e = Experiment.from_tokens("ab", np.eye(2), scoring=Scoring(position=Learned(np.ones((2, 2)))))
    scoring = Scoring(position=Learned(np.ones((3, 2))))
    cached = replace(e, past=TokenSequence.of("p", np.ones((1, 2))), scoring=scoring)
    position = edits.insert_tokens(cached, "past", 1, ["x"]).scoring.position
    assert isinstance(position, Learned)
    assert position.table.tolist() == [[1, 1], [1, 1], [1, 1], [0, 0]]
    with pytest.raises(ExperimentError, match="position learned table: expected a row for position 7, received 2 rows"):
        edits.set_column(e, "tokens", "position", [1], 7)


def test_values_of_their_own_and_the_tokens_change_together() -> None:
    cells = np.arange(4.0).reshape(2, 2)
    apart = TokenSequence.of("ab", [[5.0], [6.0]])
    W = Weights.of(np.eye(2), np.eye(2), np.ones((1, 1)))
    e = Experiment.from_tokens("ab", np.eye(2), W, values=apart, scoring=Scoring(biases=(Additive(cells),)))
    for side in ("tokens", "values"):
        after = edits.insert_tokens(e, side, 1, ["x"])
        assert after.values is not None
        assert after.tokens.tokens == after.values.tokens == ("a", "x", "b")
        assert after.tokens.embeddings.array().tolist() == [[1, 0], [0, 0], [0, 1]]
        assert after.values.embeddings.array().tolist() == [[5], [0], [6]]
        bias = after.scoring.biases[0]
        assert isinstance(bias, Additive)
        assert bias.cells.tolist() == [[0, 0, 1], [0, 0, 0], [2, 0, 3]]


@given(experiments(sources=("tokens",)), st.data())
def test_cells_of_the_tables(e: Experiment, data: st.DataObject) -> None:
    i, x = data.draw(st.integers(0, e.n_q - 1)), data.draw(st.integers(0, e.d_model - 1))
    after = edits.set_cells(e, "tokens", i, x, 7.5)
    assert after.tokens.embeddings[i, x] == 7.5
    expected = e.tokens.embeddings.array().copy()
    expected[i, x] = 7.5
    assert np.array_equal(after.tokens.embeddings.array(), expected)
    assert after.source is e.source


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


def test_a_learned_table_of_positions_grows_with_the_tokens() -> None:
    table = np.array([[1.0, 2], [3, 4]])
    e = Experiment.from_tokens("ab", np.eye(2), scoring=Scoring(position=Learned(table)))
    grown = edits.insert_tokens(e, "tokens", 0, ["x", "y"])
    assert isinstance(grown.scoring.position, Learned)
    assert grown.scoring.position.table.tolist() == [[1, 2], [3, 4], [0, 0], [0, 0]]
    assert edits.delete_tokens(grown, "tokens", [0]).scoring.position is grown.scoring.position
    longer = with_sequence(e, "tokens", TokenSequence.of("abc", np.zeros((3, 2))))
    assert isinstance(longer.scoring.position, Learned)
    assert longer.scoring.position.table.tolist() == [[1, 2], [3, 4], [0, 0]]


E = Experiment.from_tokens(["is", "to"], np.eye(2), painted=Painted())


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
        (lambda: edits.rename_tokens(E, "tokens", [1], [""]), "token 2", "a name of at least one character", "''"),
        (
            lambda: edits.delete_tokens(E, "tokens", [1, 0]),
            "tokens",
            "at least 1 token to be left",
            "all of them deleted",
        ),
        (lambda: edits.set_cells(E, "context", 0, 0, 1), "context", "a token table of that name", "none"),
        (lambda: edits.set_cells(E, "past", 0, 0, 1), "past", "a token table of that name", "none"),
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
