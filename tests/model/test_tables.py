"""Every table of an experiment by name: what was written is read back, and nothing else has changed."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.compute.trace import trace
from attn_gui.model.biases.additive import Additive
from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.gains import has_gains, with_gains
from attn_gui.model.positions.learned import Learned
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary.imported import ImportedRotary
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import AppendedKey, GivenQKV
from attn_gui.model.table import Table
from attn_gui.model.tables import table_named, tables_of, with_table, with_table_cells
from tests.strategies import experiments


@st.composite
def furnished(draw: st.DrawFn) -> Experiment:
    """An experiment, often with a learned table of positions and with given cosines and sines."""
    e = draw(experiments())
    random = np.random.RandomState(draw(st.integers(0, 2**32 - 1)))
    scoring = e.scoring
    if e.weights is not None and e.present_keys.width == e.d_model and draw(st.booleans()):
        scoring = replace(scoring, position=Learned(random.standard_normal((30, e.d_model))))
    if e.d_k > 1 and draw(st.booleans()):
        pairs = draw(st.integers(1, e.d_k // 2))
        scoring = replace(scoring, rotary=ImportedRotary(cos=random.rand(30, pairs), sin=random.rand(30, pairs)))
    return replace(e, scoring=scoring)


def contents(e: Experiment) -> dict[str, np.ndarray]:
    return {found.name: found.table.array() for found in tables_of(e)}


def numbers_held(e: Experiment) -> int:
    """How many numbers ``e`` holds besides its token tables, counted part by part."""
    if isinstance(e.source, GivenQKV):
        count = e.source.Q.size + e.source.K.size + e.source.V.size
    else:
        count = sum(table.array().size for _, table in e.source.weights.items())
    count += sum(array.size for array in e.scoring.arrays()) + len(e.scoring.sinks or ())
    return count + sum(key.K.width + key.V.width for key in e.appended)


@given(furnished())
def test_every_number_has_a_place_in_one_table_of_its_own_name(e: Experiment) -> None:
    tables = tables_of(e)
    assert sum(found.table.array().size for found in tables) == numbers_held(e)
    assert len({found.name for found in tables}) == len({found.title for found in tables}) == len(tables)
    for found in tables:
        rows, columns = found.table.shape
        assert all(found.row_name(row) for row in range(rows))
        assert all(found.column_name(column) for column in range(columns))


@given(furnished(), st.data())
def test_what_was_written_is_read_back(e: Experiment, data: st.DataObject) -> None:
    before = contents(e)
    name = data.draw(st.sampled_from(sorted(before)))
    values = np.random.RandomState(data.draw(st.integers(0, 2**32 - 1))).standard_normal(before[name].shape)
    after = with_table(e, name, Table.of(values))
    now = contents(after)
    assert np.array_equal(now.pop(name), values)
    assert now.keys() == before.keys() - {name}
    assert all(np.array_equal(now[other], before[other], equal_nan=True) for other in now)
    assert (after.tokens, after.rule, after.painted) == (e.tokens, e.rule, e.painted)
    assert contents(e).keys() == before.keys()


@given(furnished(), st.data())
def test_a_cell_is_written_and_no_other(e: Experiment, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(contents(e))))
    expected = contents(e)[name].copy()
    row, column = (data.draw(st.integers(0, size - 1)) for size in expected.shape)
    after = with_table_cells(e, name, [row], [column], [2.5])
    expected[row, column] = 2.5
    assert np.array_equal(contents(after)[name], expected)


@given(furnished(), st.sampled_from([np.nan, np.inf, -np.inf]), st.data())
def test_a_refused_value_names_its_cell(e: Experiment, value: float, data: st.DataObject) -> None:
    found = data.draw(st.sampled_from(tables_of(e)))
    row, column = (data.draw(st.integers(0, size - 1)) for size in found.table.shape)
    with pytest.raises(ExperimentError) as refused:
        with_table_cells(e, found.name, [0, row], [0, column], [1.0, value])
    assert refused.value.field == f"{found.title}, {found.row_name(row)}, {found.column_name(column)}"
    assert refused.value.received == str(value)


def everything() -> Experiment:
    """Two heads of two dimensions with every table there is."""
    buckets = RelativeBuckets(np.zeros((8, 2)), 20)
    cells = Additive(np.zeros((2, 3, 3)))
    shared = Additive(np.zeros((3, 3)))
    key = AppendedKey("bias", Table.of(np.ones((1, 4))), Table.of(np.ones((1, 4))))
    zero = AppendedKey("zero", Table.of(np.zeros((1, 4))), Table.of(np.zeros((1, 4))))
    e = Experiment.from_tokens("abc", np.eye(3, 4), heads=2, appended=(key, zero))
    turns = ImportedRotary(cos=np.ones((3, 1)), sin=np.zeros((3, 1)))
    norm = RMSNorm(1e-6, np.ones(2), np.ones(2))
    position = Learned(np.zeros((3, 4)))
    scoring = Scoring(biases=(buckets, cells, shared), position=position, qk_norm=norm, rotary=turns, sinks=(0.0, 1.0))
    return replace(e, scoring=scoring)


def test_names_that_a_person_understands() -> None:
    e = everything()
    assert [found.title for found in tables_of(e)] == [
        *("W_Q", "W_K", "W_V", "W_O"),
        *("T5 table", "Additive bias", "Additive bias 2", "Position table"),
        *("Gain of queries", "Gain of keys", "Rotary cos", "Rotary sin", "Sinks", "Appended keys", "Appended values"),
    ]
    named = {found.title: found for found in tables_of(e)}
    buckets = named["T5 table"]
    assert [buckets.row_name(row) for row in (0, 1, 4, 5)] == ["0", "1 before", "unused", "1 after"]
    assert buckets.column_name(1) == "head 2"
    assert (named["Additive bias"].row_name(4), named["Additive bias"].column_name(2)) == ("2·b", "c")
    assert named["Additive bias 2"].row_name(1) == "b"
    assert (named["Position table"].row_name(2), named["Position table"].column_name(3)) == ("position 2", "x4")
    assert (named["Gain of keys"].row_name(0), named["Gain of keys"].column_name(1)) == ("Gain of keys", "k2")
    assert (named["Rotary sin"].row_name(1), named["Rotary sin"].column_name(0)) == ("position 1", "pair 1")
    assert (named["Sinks"].row_name(0), named["Sinks"].column_name(1)) == ("sink", "head 2")
    assert (named["Appended keys"].row_name(1), named["Appended keys"].column_name(2)) == ("zero", "2·k1")


@pytest.mark.parametrize(
    ("name", "cell", "stage", "head", "where"),
    [
        ("bias 2 cells", (4, 2), "bias", 1, (1, 2)),
        ("bias 3 cells", (1, 2), "bias", 0, (1, 2)),
        ("bias 1 table", (1, 1), "bias", 1, (2, 1)),
        ("position table", (2, 3), "X_in", 0, (2, 3)),
        ("qk_norm gain_k", (0, 1), "K", 0, (1, 1)),
        ("appended K", (1, 2), "K", 1, (4, 0)),
        ("appended V", (0, 1), "V", 0, (3, 1)),
    ],
)
def test_a_cell_is_where_its_name_says(
    name: str, cell: tuple[int, int], stage: str, head: int, where: tuple[int, int]
) -> None:
    e = everything()
    after = with_table_cells(e, name, *cell, 7.0)
    changed = np.argwhere(trace(after).stage(stage, head) != trace(e).stage(stage, head)).tolist()
    assert list(where) in changed
    others = [h for h in range(2) if h != head]
    if name in ("bias 2 cells", "bias 1 table", "appended K", "appended V"):
        for other in others:
            assert np.array_equal(trace(after).stage(stage, other), trace(e).stage(stage, other))
    if name == "bias 2 cells":
        assert changed == [list(where)]


@given(
    st.integers(1, 20),
    st.integers(1, 400),
    st.booleans(),
    st.lists(st.integers(-600, 600), min_size=1),
)
def test_buckets_are_called_by_their_distances(per_side: int, farther: int, both: bool, distances: list[int]) -> None:
    rows = 4 * per_side if both else 2 * per_side
    bias = RelativeBuckets(np.zeros((rows, 1)), per_side + farther, both)
    names = bias.axis_names("bucket")
    assert names is not None and len(names) == rows
    for distance in distances:
        name = names[int(bias.buckets(np.array([distance]))[0])]
        found = re.fullmatch(r"(\d+)(?: to (\d+)| or more)?(?: (before|after|or after))?", name)
        assert found is not None, name
        first, last, side = found.groups()
        apart = abs(distance)
        if side == "or after":
            assert distance >= 0 and first == "0"
        else:
            assert side == (None if not distance else "after" if distance > 0 else "before")
            assert int(first) <= apart <= (int(last) if last else np.inf if "or more" in name else int(first))


def test_the_farthest_distance_may_be_any_number() -> None:
    names = RelativeBuckets(np.zeros((32, 1)), 2**31 - 1).axis_names("bucket")
    assert names is not None
    assert names[8] == "8 to 90 before"


def test_gains_come_as_ones_which_change_nothing_and_go_again() -> None:
    e = Experiment.from_tokens("ab", np.eye(2), scoring=Scoring(qk_norm=RMSNorm()))
    assert not has_gains(e)
    e_with = with_gains(e, True)
    assert has_gains(e_with)
    assert np.array_equal(trace(e_with).stage("A"), trace(e).stage("A"))
    edited = with_table_cells(e_with, "qk_norm gain_q", 0, 1, 3.0)
    norm = with_gains(edited, True).scoring.qk_norm
    assert norm is not None and norm.gain_q is not None and norm.gain_q.tolist() == [1, 3]
    assert not has_gains(with_gains(edited, False))
    with pytest.raises(ExperimentError, match="a QK-norm"):
        with_gains(replace(e, scoring=Scoring()), True)


def test_what_is_not_there_or_of_another_shape_is_refused() -> None:
    e = everything()
    with pytest.raises(ExperimentError, match="W_X: expected a table of this experiment"):
        table_named(e, "W_X")
    with pytest.raises(ExperimentError, match=r"Sinks: expected shape \(1, 2\), received shape \(1, 3\)"):
        with_table(e, "sinks", Table.of(np.zeros((1, 3))))
