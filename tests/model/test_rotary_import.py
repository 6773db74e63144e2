"""Rotary tables of other programs: whatever they were written as, the same pairs are turned by the same angles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attn_gui.model.errors import ExperimentError
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.rotary_import import rotary_of

Array = np.ndarray[Any, Any]

WAYS = {"halves": lambda t: np.concatenate([t, t], axis=-1), "interleaved": lambda t: np.repeat(t, 2, axis=-1)}
layouts = st.sampled_from(list(WAYS))
shapes = st.tuples(st.integers(1, 6), st.integers(1, 5))
# any numbers at all: a file may hold some that no cosine is
anything = st.floats(width=32, allow_nan=True, allow_infinity=True)
tables = shapes.flatmap(lambda shape: st.tuples(*[hnp.arrays(np.float32, shape, elements=anything)] * 2))


def twice_already(pair: tuple[Array, Array]) -> set[str]:
    """The ways in which tables of one column a pair look as if each stood twice."""
    columns = pair[0].shape[1]
    found = set()
    if columns % 2 == 0:
        split = {"halves": np.hsplit, "interleaved": lambda t, _: (t[:, ::2], t[:, 1::2])}
        for way, parts in split.items():
            if all(np.array_equal(*parts(table, 2), equal_nan=True) for table in pair):
                found.add(way)
    return found


@given(tables, layouts, st.integers(0, 2))
def test_one_column_a_pair_is_taken_as_it_is(pair: tuple[Array, Array], layout: str, more: int) -> None:
    assume(not twice_already(pair))
    cos, sin = (table.reshape((1,) * more + table.shape) for table in pair)
    found = rotary_of(cos, sin, layout=layout, d_k=2 * pair[0].shape[1])
    assert found.layout == layout
    np.testing.assert_array_equal(found.cos, pair[0])
    np.testing.assert_array_equal(found.sin, pair[1])


@given(tables, layouts, layouts, st.integers(0, 2))
def test_what_stands_twice_is_taken_once(pair: tuple[Array, Array], way: str, layout: str, more: int) -> None:
    cos, sin = (WAYS[way](table) for table in pair)
    both = twice_already((cos, sin))
    assert way in both
    found = rotary_of(*(t.reshape((1,) * more + t.shape) for t in (cos, sin)), layout=layout, d_k=2 * pair[0].shape[1])
    if both == {way}:
        assert found.layout == way
    else:  # equal both ways: nothing says which
        assert found.layout == layout
    np.testing.assert_array_equal(WAYS[found.layout](found.cos), cos)
    np.testing.assert_array_equal(WAYS[found.layout](found.sin), sin)


@pytest.mark.parametrize(("way", "layout"), [("halves", "interleaved"), ("interleaved", "halves")])
def test_as_transformers_gives_them(way: str, layout: str) -> None:
    cos, sin = Frequencies().tables(np.arange(7), 8)
    found = rotary_of(WAYS[way](cos)[None], WAYS[way](sin)[None], layout=layout, d_k=8)
    assert (found.layout, found.turned(8)) == (way, 8)
    np.testing.assert_array_equal(found.cos, cos)
    # by position 0 alone nothing says which: the layout is that asked for, and nothing is turned either way
    assert rotary_of(WAYS[way](cos[:1]), WAYS[way](sin[:1]), layout=layout).layout == layout


COS, SIN = Frequencies().tables(np.arange(5), 8)


@pytest.mark.parametrize(
    ("cos", "sin", "words"),
    [
        (
            COS,
            SIN[:4],
            "sin: expected the shape of cos, (5, 4), received shape (4, 4)",
        ),
        (
            np.stack([COS, COS]),
            SIN,
            "cos: expected shape (positions, pairs), or (positions, width) with each pair's number twice, "
            "received shape (2, 5, 4)",
        ),
        (
            COS[0],
            SIN,
            "cos: expected shape (positions, pairs), or (positions, width) with each pair's number twice, "
            "received shape (4,)",
        ),
        (
            np.empty((0, 4)),
            SIN,
            "cos: expected shape (positions, pairs), or (positions, width) with each pair's number twice, "
            "received shape (0, 4)",
        ),
        (COS, SIN > 0, "sin: expected numbers, received an array of bool"),
        (COS + 1j * SIN, SIN, "cos: expected numbers, received an array of complex128"),
        (
            np.hstack([COS, COS]),
            np.hstack([-SIN, SIN]),
            "cos and sin: expected a column for each pair of a head's 8 dimensions, at most 4, or each of them twice, "
            "received 8 of which neither halves nor neighbours are equal",
        ),
    ],
)
def test_what_is_none_is_refused_in_words(cos: Any, sin: Any, words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        rotary_of(cos, sin, d_k=8)
    assert str(caught.value) == words
