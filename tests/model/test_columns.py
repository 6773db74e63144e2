"""Per-token columns: their defaults, what they may hold, and how they follow their tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model import edits
from attn_gui.model.columns import COLUMNS, NO_PARENT, NO_WORD, column_of
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.sources import joined
from attn_gui.model.tokens import TokenSequence


@pytest.mark.parametrize(
    ("name", "expected"),
    [("pad", [False] * 3), ("segment", [0] * 3), ("parent", [NO_PARENT] * 3), ("position", [0, 1, 2])],
)
def test_defaults(name: str, expected: list[Any]) -> None:
    column = TokenSequence.of("abc", np.eye(3)).column(name)
    assert column.tolist() == expected
    assert column.dtype == (np.bool_ if name == "pad" else np.int64)
    assert not column.flags.writeable


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("pad", [True], "column pad: expected shape (3,), received (1,)"),
        ("segment", [[1, 2, 3]], "column segment: expected shape (3,), received (1, 3)"),
        ("segment", [0, 1.5, 2], "column segment: expected whole numbers, received float64"),
        ("segment", [True, False, True], "column segment: expected whole numbers, received bool"),
        ("segment", [0, np.nan, 0], "column segment: expected whole numbers, received float64"),
        ("segment", [0, -1, 0], "column segment: expected 0 or more, received -1"),
        ("position", [0, -2, 0], "column position: expected 0 or more, received -2"),
        ("parent", [-1, 0, 3], "column parent: expected a token from 1 to 3, received 4"),
        ("parent", [-2, 0, 0], "column parent: expected -1 or more, received -2"),
        ("parent", [0, 0, 0], "column parent: expected a tree, received token 1 among its own ancestors"),
        ("parent", [-1, 2, 1], "column parent: expected a tree, received token 2 among its own ancestors"),
        ("parent", [1, 2, 1], "column parent: expected a tree, received token 2 among its own ancestors"),
    ],
)
def test_what_a_column_cannot_hold_is_refused_in_words(name: str, values: Any, words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        TokenSequence.of("abc", np.eye(3), **{name: values})
    assert str(caught.value) == words


def test_names_that_are_no_column() -> None:
    with pytest.raises(
        ExperimentError,
        match="column: expected pad or segment or parent or position or special or word, received 'age'",
    ):
        column_of("age")
    with pytest.raises(ExperimentError):
        TokenSequence.of("ab", np.eye(2), age=[1, 2])


def test_whole_floats_are_whole_numbers_and_a_later_parent_is_one() -> None:
    tokens = TokenSequence.of("abc", np.eye(3), segment=[0.0, 2.0, 1.0], parent=[2, -1, 1])
    assert tokens.column("segment").tolist() == [0, 2, 1]
    assert tokens.column("parent").tolist() == [2, -1, 1]


def test_setting_some_rows() -> None:
    e = Experiment.from_tokens("abc", np.eye(3))
    e = edits.set_column(e, "tokens", "segment", [1, 2], [3, 4])
    assert e.tokens.column("segment").tolist() == [0, 3, 4]
    assert edits.set_column(e, "tokens", "segment", [0], 9).tokens.column("segment").tolist() == [9, 3, 4]
    with pytest.raises(ExperimentError, match="column segment: expected whole numbers"):
        edits.set_column(e, "tokens", "segment", [0], 1.5)
    with pytest.raises(ExperimentError, match="token 2 among its own ancestors"):
        edits.set_column(e, "tokens", "parent", [1], 1)
    assert e.tokens.column("segment").tolist() == [0, 3, 4]


@st.composite
def forests(draw: st.DrawFn) -> list[int]:
    """Parents of tokens, in any order."""
    n = draw(st.integers(1, 8))
    grown = [draw(st.integers(-1, token - 1)) for token in range(n)]
    names = draw(st.permutations(range(n)))
    parents = [-1] * n
    for token, above in enumerate(grown):
        parents[names[token]] = -1 if above < 0 else names[above]
    return parents


def ancestors(parents: list[int], token: int) -> list[int]:
    line = []
    while (token := parents[token]) >= 0:
        line.append(token)
    return line


@given(forests(), st.data())
def test_parents_follow_and_whoever_loses_one_goes_to_the_next_above(parents: list[int], data: st.DataObject) -> None:
    n = len(parents)
    kept = data.draw(st.permutations(data.draw(st.lists(st.integers(0, n - 1), unique=True))))
    order: list[int | None] = list(kept)
    for at in data.draw(st.lists(st.integers(0, len(order)), max_size=2)):
        order.insert(at, None)
    moved = column_of("parent").rearranged(np.array(parents), order).tolist()
    for now, was in enumerate(order):
        if was is None:
            assert moved[now] == NO_PARENT
            continue
        line = [order[above] for above in ancestors(moved, now)]
        assert line == [above for above in ancestors(parents, was) if above in kept]


def test_positions_stay_the_default_until_somebody_gives_some() -> None:
    position = column_of("position")
    assert position.rearranged(np.array([0, 1, 2]), [2, 0, None, 1]).tolist() == [0, 1, 2, 3]
    assert position.rearranged(np.array([0, 1, 5]), [2, 0, None, 1]).tolist() == [5, 0, 2, 1]


def test_marks_and_segments_move_along_and_new_tokens_have_the_default() -> None:
    assert column_of("pad").rearranged(np.array([True, False]), [None, 0, 1]).tolist() == [False, True, False]
    assert column_of("segment").rearranged(np.array([3, 4]), [1, None]).tolist() == [4, 0]
    assert column_of("segment").rearranged(np.array([3, 4]), [None]).tolist() == [0]


def test_tables_one_after_another() -> None:
    first = TokenSequence.of("ab", np.zeros((2, 1)), ["noun"], pad=[True, False], parent=[-1, 0])
    second = TokenSequence.of("cde", np.ones((3, 1)), parent=[-1, 0, 1], position=[7, 8, 9])
    both = joined([first, second])
    assert both.tokens == tuple("abcde")
    assert both.dimensions == ("noun",)
    assert both.embeddings.array().ravel().tolist() == [0, 0, 1, 1, 1]
    assert both.column("pad").tolist() == [True, False, False, False, False]
    assert both.column("parent").tolist() == [-1, 0, -1, 2, 3]
    assert both.column("position").tolist() == [0, 1, 7, 8, 9]
    later = joined([second, first])
    assert later.column("position").tolist() == [7, 8, 9, 3, 4]
    assert "segment" not in both.columns
    assert joined([first]) is first


def test_every_column_says_what_it_is() -> None:
    assert all(name == column.name and column.about for name, column in COLUMNS.items())


def test_special_tokens_and_pieces_of_words() -> None:
    sequence = TokenSequence.of("abc", np.zeros((3, 1)), special=[True, False, False], word=[-1, 0, 0])
    assert sequence.column("special").tolist() == [True, False, False]
    assert TokenSequence.of("abc", np.zeros((3, 1))).column("word").tolist() == [NO_WORD] * 3
    assert not TokenSequence.of("abc", np.zeros((3, 1))).column("special").any()
    moved = sequence.rearranged([2, None, 0])
    assert moved["special"].tolist() == [False, False, True]
    assert moved["word"].tolist() == [0, NO_WORD, -1]
    with pytest.raises(ExperimentError, match="column word: expected -1 or more"):
        sequence.with_column("word", [-2, 0, 0])
