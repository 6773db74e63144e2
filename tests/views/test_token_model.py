"""TokenModel as Qt sees it: what it shows, what it takes, and how little it says to have changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from attn_gui.control import document as control
from attn_gui.control.settings import Settings
from attn_gui.model import edits, reshape
from attn_gui.model.cache import most_past, with_past
from attn_gui.model.columns import COLUMNS
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Combined, MaskRule, Padding, Term
from attn_gui.model.masks.document import Document
from attn_gui.model.masks.tree import Tree
from attn_gui.model.positions import InputPosition
from attn_gui.model.positions.sinusoidal import Sinusoidal
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.views import token_changes
from attn_gui.views.clipboard import from_text
from attn_gui.views.context import Context
from attn_gui.views.token_model import TokenModel

Role = Qt.ItemDataRole
Heard = list[tuple[Any, ...]]


@pytest.fixture
def model(context: Context) -> Iterator[TokenModel]:
    made = TokenModel(context.document, context.settings, "tokens")
    tester = QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Fatal)
    yield made
    del tester


@pytest.fixture
def apply(context: Context) -> Callable[..., None]:
    def change(how: Callable[..., Experiment], *arguments: Any, **options: Any) -> None:
        context.document.apply("change", how(context.document.experiment, *arguments, **options))

    return change


def hear(model: QAbstractItemModel) -> Heard:
    """A list that fills with the model's signals and their extents."""
    heard: Heard = []
    model.dataChanged.connect(lambda a, b, roles: heard.append(("data", a.row(), a.column(), b.row(), b.column())))
    model.rowsInserted.connect(lambda parent, first, last: heard.append(("rows+", first, last)))
    model.rowsRemoved.connect(lambda parent, first, last: heard.append(("rows-", first, last)))
    model.columnsInserted.connect(lambda parent, first, last: heard.append(("columns+", first, last)))
    model.columnsRemoved.connect(lambda parent, first, last: heard.append(("columns-", first, last)))
    model.headerDataChanged.connect(lambda o, first, last: heard.append(("header", first, last)))
    model.modelReset.connect(lambda: heard.append(("reset",)))
    return heard


def grid(model: TokenModel, role: Qt.ItemDataRole = Role.DisplayRole) -> list[list[Any]]:
    return [[model.data(model.index(r, c), role) for c in range(model.columnCount())] for r in range(model.rowCount())]


def header(model: TokenModel) -> list[Any]:
    return [model.headerData(c, Qt.Orientation.Horizontal) for c in range(model.columnCount())]


def test_shows_the_karina_table(model: TokenModel) -> None:
    assert header(model) == ["token", "x1", "x2"]
    assert grid(model) == [
        ["karina", "1.0", "0.0"],
        ["is", "0.0", "1.0"],
        ["to", "1.0", "1.0"],
        ["the", "1.0", "1.0"],
        ["store", "0.5", "1.0"],
    ]


def test_every_cell_says_what_it_is(model: TokenModel, apply: Callable[..., None]) -> None:
    apply(edits.set_column, "tokens", "pad", [4], True)
    apply(replace, rule=Padding())
    spoken = grid(model, Role.AccessibleTextRole)
    assert spoken[1] == ["token is", "token is, x1, 0", "token is, x2, 1", "token is, padding, no"]
    assert spoken[4] == ["token store", "token store, x1, 0.5", "token store, x2, 1", "token store, padding, yes"]


def test_decimals_are_common_and_limited_and_edits_are_exact(
    model: TokenModel, context: Context, apply: Callable[..., None]
) -> None:
    apply(edits.set_cells, "tokens", 0, 0, 0.1234567)
    assert grid(model)[0][1] == "0.1235"
    assert grid(model)[1][1] == "0.0000"
    assert model.data(model.index(0, 1), Role.EditRole) == "0.1234567"
    assert model.data(model.index(0, 1), Role.ToolTipRole) == "0.1234567"
    assert model.data(model.index(1, 1), Role.ToolTipRole) is None
    heard = hear(model)
    context.settings.decimals = 2
    assert grid(model)[0][1] == "0.12"
    assert heard == [("data", 0, 1, 4, 2)]


def test_numbers_stand_right_and_names_left_with_their_headers(model: TokenModel) -> None:
    for column, side in ((0, Qt.AlignmentFlag.AlignLeft), (1, Qt.AlignmentFlag.AlignRight)):
        cell = Qt.AlignmentFlag(model.data(model.index(0, column), Role.TextAlignmentRole))
        above = Qt.AlignmentFlag(model.headerData(column, Qt.Orientation.Horizontal, Role.TextAlignmentRole))
        assert cell & Qt.AlignmentFlag.AlignHorizontal_Mask == side
        assert above & Qt.AlignmentFlag.AlignHorizontal_Mask == side


def test_names_with_signs_and_markup_are_shown_as_they_are(model: TokenModel, apply: Callable[..., None]) -> None:
    apply(edits.rename_tokens, "tokens", [0, 1], ["two\nlines", "<b>bold</b>"])
    assert grid(model)[0][0] == "two↵lines"
    assert model.data(model.index(0, 0), Role.EditRole) == "two\nlines"
    assert model.data(model.index(1, 0), Role.ToolTipRole) == "<span>&lt;b&gt;bold&lt;/b&gt;</span>"


def test_one_edit_is_one_undo_step_and_one_signal(model: TokenModel, context: Context) -> None:
    heard = hear(model)
    assert model.setData(model.index(4, 1), "0,75")
    assert context.document.experiment.tokens.embeddings[4, 0] == 0.75
    assert context.document.undo_stack.count() == 1
    assert heard[0] == ("data", 4, 1, 4, 1)
    heard.clear()
    context.document.undo_stack.undo()
    assert grid(model)[4] == ["store", "0.5", "1.0"]
    assert heard[0] == ("data", 4, 1, 4, 1)
    assert ("reset",) not in heard


def test_writing_what_is_there_is_no_step(model: TokenModel, context: Context) -> None:
    before = context.document.experiment
    assert model.set_block(0, 0, [["karina", "1", "0.0"], [None, None, "1,0"]], "Paste") is None
    assert context.document.experiment is before
    assert context.document.undo_stack.count() == 0


@pytest.mark.parametrize(
    ("row", "column", "text", "reason"),
    [
        (0, 0, "", "a token needs a name"),
        (0, 1, "abc", "'abc' is not a number"),
        (1, 0, "a\t1\nb\tx", "row 3, column 2: 'x' is not a number"),
        (1, 0, "a\t1\n\t2", "row 3, column 1: a token needs a name"),
        (1, 1, "1\tnan", "row 2, column 3: 'nan' is not a finite number"),
        (4, 1, "1\t1\n2\t2", "The block has 2 rows and only 1 from row 5 on: add 1 or choose another place"),
    ],
)
def test_refused_whole_and_nothing_changed(
    model: TokenModel, context: Context, row: int, column: int, text: str, reason: str
) -> None:
    before = context.document.experiment
    assert model.set_block(row, column, from_text(text), "Paste") == reason
    assert context.document.experiment is before
    assert context.document.undo_stack.count() == 0


def test_a_block_of_names_and_numbers_is_one_step(model: TokenModel, context: Context) -> None:
    assert model.set_block(1, 0, [["was", "0,5", "2"], ["into", "3", "4"]], "Paste") is None
    sequence = context.document.experiment.tokens
    assert sequence.tokens == ("karina", "was", "into", "the", "store")
    assert sequence.embeddings.array()[1:3].tolist() == [[0.5, 2], [3, 4]]
    assert context.document.undo_stack.count() == 1
    assert context.document.undo_stack.undoText() == "Paste"


def test_copied_cells_come_back_exactly(model: TokenModel, context: Context, apply: Callable[..., None]) -> None:
    apply(edits.set_cells, "tokens", 0, [0, 1], [0.1 + 0.2, 1e-300])
    apply(edits.set_column, "tokens", "pad", [1], True)
    apply(replace, rule=Padding())
    cells = model.cells(range(5), range(4))
    assert cells[0] == ["karina", "0.30000000000000004", "1e-300", "0"]
    assert cells == grid(model, Role.EditRole)
    assert model.cells(range(1, 3), range(1, 2)) == [[cells[1][1]], [cells[2][1]]]
    assert model.cells(range(1, 2), range(3, 4)) == [["1"]]
    assert model.set_block(0, 0, cells, "Paste") is None
    assert context.document.undo_stack.count() == 3  # nothing differed


def test_the_pad_column_comes_with_the_padding_mask(
    model: TokenModel, context: Context, apply: Callable[..., None]
) -> None:
    heard = hear(model)
    apply(replace, rule=Padding())
    assert header(model) == ["token", "x1", "x2", "pad"]
    assert heard == [("columns+", 3, 3)]
    index = model.index(2, 3)
    assert model.flags(index) & Qt.ItemFlag.ItemIsUserCheckable
    assert not model.flags(index) & Qt.ItemFlag.ItemIsEditable
    assert model.setData(index, Qt.CheckState.Checked.value, Role.CheckStateRole)
    assert list(context.document.experiment.tokens.pad) == [False, False, True, False, False]
    assert Qt.CheckState(model.data(index, Role.CheckStateRole)) == Qt.CheckState.Checked
    heard.clear()
    apply(replace, rule=MaskRule())
    assert header(model) == ["token", "x1", "x2"]
    assert heard == [("columns-", 3, 3)]
    assert context.document.experiment.tokens.pad[2]  # for when the mask is chosen again
    context.document.undo_stack.undo()
    assert header(model)[-1] == "pad"
    assert Qt.CheckState(model.data(model.index(2, 3), Role.CheckStateRole)) == Qt.CheckState.Checked


TREE = Combined((Term(Document()), Term(Tree())))


def test_columns_come_with_what_reads_them_in_one_order(
    model: TokenModel, context: Context, apply: Callable[..., None]
) -> None:
    heard = hear(model)
    apply(replace, rule=Tree())
    assert header(model) == ["token", "x1", "x2", "parent"]
    apply(replace, rule=Combined((Term(Tree()), Term(Padding()), Term(Document()))))
    assert header(model) == ["token", "x1", "x2", "pad", "segment", "parent"]
    assert heard == [("columns+", 3, 3), ("columns+", 3, 3), ("columns+", 4, 4)]
    apply(replace, scoring=replace(context.document.experiment.scoring, rotary=Frequencies()))
    assert header(model)[3:] == ["pad", "segment", "parent", "position"]
    heard.clear()
    apply(replace, rule=Document())
    assert header(model) == ["token", "x1", "x2", "segment", "position"]
    assert heard == [("columns-", 3, 3), ("columns-", 4, 4)]
    about = [model.headerData(c, Qt.Orientation.Horizontal, Role.ToolTipRole) for c in (3, 4)]
    assert about == [COLUMNS["segment"].about, COLUMNS["position"].about]


def test_positions_can_be_shown_while_nothing_reads_them(model: TokenModel, context: Context) -> None:
    context.document.keep_view(positions=True)
    heard = hear(model)
    model.show_view()
    assert header(model)[-1] == "position" and heard[0] == ("columns+", 3, 3)
    assert [row[3] for row in grid(model)] == ["0", "1", "2", "3", "4"]
    context.document.keep_view(positions="yes")
    model.show_view()
    assert header(model) == ["token", "x1", "x2"], "a file may say anything"


def test_parents_are_rows_and_nothing_is_none(model: TokenModel, context: Context, apply: Callable[..., None]) -> None:
    apply(edits.set_column, "tokens", "parent", [1, 2], [0, 1])
    apply(replace, rule=Tree())
    assert [row[3] for row in grid(model)] == ["", "1", "2", "", ""]
    assert [row[3] for row in grid(model, Role.EditRole)] == ["", "1", "2", "", ""]
    spoken = [row[3] for row in grid(model, Role.AccessibleTextRole)]
    assert spoken[:3] == ["token karina, no parent", "token is, parent karina, row 1", "token to, parent is, row 2"]
    assert model.data(model.index(2, 3), Role.ToolTipRole) == "<span>is</span>"
    heard = hear(model)
    assert model.setData(model.index(4, 3), "2")
    assert list(context.document.experiment.tokens.column("parent")) == [-1, 0, 1, -1, 1]
    assert heard[0] == ("data", 4, 3, 4, 3)
    assert model.setData(model.index(4, 3), "")
    assert context.document.experiment.tokens.column("parent")[4] == -1
    apply(edits.insert_tokens, "tokens", 0, ["new"])
    assert [row[3] for row in grid(model)] == ["", "", "2", "3", "", ""], "rows are counted anew"


@pytest.mark.parametrize(
    ("column", "text", "reason"),
    [
        (3, "-1", "'-1' is not a number from 0 to 2147483647"),
        (3, "1.5", "'1.5' is not a whole number"),
        (3, "two", "'two' is not a number"),
        (4, "6", "'6' is no row: there are 1 to 5"),
        (4, "0", "'0' is no row: there are 1 to 5"),
        (4, "1", "expected a tree, received token 1 among its own ancestors"),
    ],
)
def test_what_a_column_does_not_take(
    model: TokenModel, context: Context, apply: Callable[..., None], column: int, text: str, reason: str
) -> None:
    apply(replace, rule=TREE)
    before = context.document.experiment
    assert model.set_block(0, column, [[text]], "Edit cell") == reason
    assert context.document.experiment is before


def test_a_block_over_all_columns_is_one_step_and_refused_whole(
    model: TokenModel, context: Context, apply: Callable[..., None]
) -> None:
    apply(replace, rule=Combined((Term(Padding()), Term(Document()), Term(Tree()))))
    block = [["a", "1", "2", "1", "3", ""], ["b", "3", "4", "no", "", "1"]]
    assert model.set_block(0, 0, block, "Paste") is None
    assert context.document.undo_stack.count() == 2
    assert model.cells(range(2), range(6)) == [["a", "1", "2", "1", "3", ""], ["b", "3", "4", "0", "0", "1"]]
    copied = model.cells(range(5), range(6))
    before = context.document.experiment
    assert model.set_block(0, 0, copied, "Paste") is None
    assert context.document.experiment is before
    assert model.set_block(0, 3, [["0", "1", ""], ["0", "1", "9"]], "Paste") == (
        "row 2, column 6: '9' is no row: there are 1 to 5"
    )
    assert model.set_block(0, 5, [["2"], ["1"]], "Paste") == (
        "expected a tree, received token 1 among its own ancestors"
    )
    assert context.document.experiment is before


def test_positions_are_what_counts_and_go_back_to_it(context: Context, apply: Callable[..., None]) -> None:
    apply(replace, scoring=replace(context.document.experiment.scoring, position=Sinusoidal()))
    context.document.apply("cache", with_past(context.document.experiment, 2))
    tokens, cache = (TokenModel(context.document, context.settings, side) for side in ("tokens", "past"))
    assert header(cache) == ["token", "x1", "x2", "position"]
    assert [row[3] for row in grid(cache)] == ["0", "1"]
    assert [row[3] for row in grid(tokens)] == ["2", "3", "4"]
    assert tokens.setData(tokens.index(1, 3), "7")
    assert list(context.document.experiment.query_positions) == [2, 7, 4], "the others stay where they are"
    assert list(context.document.experiment.key_positions) == [0, 1, 2, 7, 4]
    assert tokens.setData(tokens.index(1, 3), "")
    assert "position" not in context.document.experiment.tokens.columns
    assert list(context.document.experiment.query_positions) == [2, 3, 4]


def test_which_table_of_a_cross_attention_has_which_columns(context: Context, apply: Callable[..., None]) -> None:
    apply(reshape.with_variant, Variant.CROSS)
    apply(replace, rule=Combined((Term(Padding()), Term(Document()), Term(Tree()))))
    context.document.apply("cache", with_past(context.document.experiment, 2))
    headers = {
        side: header(TokenModel(context.document, context.settings, side))[3:] for side in ("tokens", "context", "past")
    }
    keys = ["pad", "segment", "parent"]
    assert headers == {"tokens": ["segment"], "context": keys, "past": keys}


def test_separate_values_share_their_names_with_the_keys(context: Context, apply: Callable[..., None]) -> None:
    e = context.document.experiment
    values = TokenSequence.of(e.tokens.tokens, np.arange(10.0).reshape(5, 2))
    apply(replace, values=values, rule=Padding())
    model = TokenModel(context.document, context.settings, "values")
    assert header(model) == ["token", "x1", "x2"]
    assert model.set_block(1, 0, [["was", "7"]], "Paste") is None
    now = context.document.experiment
    assert now.values is not None
    assert (now.tokens.tokens[1], now.values.tokens[1]) == ("was", "was")
    assert now.values.embeddings[1, 0] == 7 and now.tokens.embeddings[1, 0] == 0


@pytest.mark.parametrize(("text", "pad"), [("1", True), ("TRUE", True), ("x", True), ("0", False), ("False", False)])
def test_padding_can_be_pasted(
    model: TokenModel, context: Context, apply: Callable[..., None], text: str, pad: bool
) -> None:
    apply(edits.set_column, "tokens", "pad", [0, 1], [True, not pad])
    apply(replace, rule=Padding())
    assert model.set_block(1, 3, [[text]], "Paste") is None
    assert bool(context.document.experiment.tokens.pad[1]) is pad
    assert model.set_block(1, 3, [["maybe"]], "Paste") == "'maybe' is neither yes nor no (1 or 0)"


def test_rows_are_inserted_and_removed_where_they_are(
    model: TokenModel, context: Context, apply: Callable[..., None]
) -> None:
    heard = hear(model)
    kept = QPersistentModelIndex(model.index(3, 1))
    apply(edits.insert_tokens, "tokens", 2, ["new", "newer"])
    assert heard == [("rows+", 2, 3)]
    assert kept.row() == 5
    apply(edits.delete_tokens, "tokens", [2])
    context.document.undo_stack.undo()
    context.document.undo_stack.undo()
    assert heard[1:] == [("rows-", 2, 2), ("rows+", 2, 2), ("rows-", 2, 3)]
    assert kept.row() == 3
    assert [row[0] for row in grid(model)] == ["karina", "is", "to", "the", "store"]


def test_scattered_rows_go_and_come_back(model: TokenModel, context: Context, apply: Callable[..., None]) -> None:
    apply(edits.delete_tokens, "tokens", [0, 2, 4])
    assert [row[0] for row in grid(model)] == ["is", "the"]
    context.document.undo_stack.undo()
    assert [row[0] for row in grid(model)] == ["karina", "is", "to", "the", "store"]


def test_columns_are_inserted_and_removed_where_they_are(
    model: TokenModel, context: Context, apply: Callable[..., None]
) -> None:
    apply(replace, rule=Padding())
    heard = hear(model)
    apply(reshape.rearrange_dimensions, "tokens", [0, None, 1])
    assert heard[0] == ("columns+", 2, 2)
    assert header(model) == ["token", "x1", "x2", "x3", "pad"]
    assert grid(model)[4][:4] == ["store", "0.5", "0.0", "1.0"]
    context.document.undo_stack.undo()
    assert ("columns-", 2, 2) in heard
    assert ("reset",) not in heard
    assert header(model) == ["token", "x1", "x2", "pad"]


def test_another_name_of_a_dimension(model: TokenModel, apply: Callable[..., None]) -> None:
    heard = hear(model)
    apply(edits.rename_dimension, "tokens", 1, "verb")
    assert header(model) == ["token", "x1", "verb"]
    assert heard == [("header", 2, 2)]


def test_another_table_of_any_shape(model: TokenModel, context: Context, apply: Callable[..., None]) -> None:
    sentence = TokenSequence.of(["a", "b"], np.eye(2))
    apply(reshape.with_sequence, "tokens", sentence)  # fewer rows, as wide
    assert grid(model) == [["a", "1.0", "0.0"], ["b", "0.0", "1.0"]]
    apply(reshape.with_sequence, "tokens", TokenSequence.of(["c", "d"], np.ones((2, 3)), ["p", "q", "r"]))
    assert header(model) == ["token", "p", "q", "r"]
    assert grid(model) == [["c", "1.0", "1.0", "1.0"], ["d", "1.0", "1.0", "1.0"]]
    apply(reshape.with_sequence, "tokens", TokenSequence.of(["e"], np.ones((1, 4))))
    assert grid(model) == [["e", "1.0", "1.0", "1.0", "1.0"]]
    for _ in range(3):
        context.document.undo_stack.undo()
    assert grid(model)[0] == ["karina", "1.0", "0.0"]
    assert len(grid(model)) == 5


def test_the_context_of_a_cross_attention(context: Context, apply: Callable[..., None]) -> None:
    model = TokenModel(context.document, context.settings, "context")
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert (model.rowCount(), model.columnCount()) == (0, 0)
    apply(reshape.with_variant, Variant.CROSS)
    assert grid(model)[0] == ["karina", "1.0", "0.0"]
    assert model.setData(model.index(0, 1), "3")
    assert context.document.experiment.context is not None
    assert context.document.experiment.context.embeddings[0, 0] == 3
    assert context.document.experiment.tokens.embeddings[0, 0] == 1
    apply(replace, rule=Padding())
    assert header(model)[-1] == "pad"  # padding masks keys, which are the context here
    context.document.undo_stack.setIndex(0)
    assert (model.rowCount(), model.columnCount()) == (0, 0)
    del tester


def test_the_queries_of_a_cross_attention_need_no_pad(model: TokenModel, apply: Callable[..., None]) -> None:
    apply(reshape.with_variant, Variant.CROSS)
    apply(replace, rule=Padding())
    assert header(model) == ["token", "x1", "x2"]


def test_given_q_k_v_have_names_only(model: TokenModel, context: Context) -> None:
    given_qkv = Experiment.from_qkv(np.ones((5, 2)), np.ones((5, 2)), np.ones((5, 2)), tokens=list("abcde"))
    context.document.apply("given", given_qkv)
    assert header(model) == ["token"]
    assert grid(model) == [[name] for name in "abcde"]
    assert model.setData(model.index(1, 0), "z")
    assert context.document.experiment.tokens.tokens == ("a", "z", "c", "d", "e")
    context.document.apply("fewer", edits.delete_tokens(context.document.experiment, "tokens", [0]))
    assert grid(model) == [[name] for name in "zcde"]
    context.document.undo_stack.setIndex(0)
    assert grid(model)[4] == ["store", "0.5", "1.0"]


KINDS = [
    "insert",
    "delete",
    "move",
    "cell",
    "name",
    "pad",
    "segment",
    "parent",
    "position",
    "wider",
    "narrower",
    "rule",
    "rules",
    "turn",
    "cache",
    "text",
    "undo",
]
steps = st.lists(st.sampled_from(KINDS), max_size=8)


def _step(what: str, e: Experiment) -> Experiment:
    n, d = e.n_q, e.d_model
    match what:
        case "insert":
            return edits.insert_tokens(e, "tokens", n // 2, ["new"])
        case "delete" if n > 1:
            return edits.delete_tokens(e, "tokens", [n // 2])
        case "move" if n > 1:
            return edits.move_tokens(e, "tokens", 0, 1, n - 1)
        case "cell":
            return edits.set_cells(e, "tokens", n - 1, 0, e.tokens.embeddings[n - 1, 0] + 0.25)
        case "name":
            return edits.rename_tokens(e, "tokens", [0], [e.tokens.tokens[0] + "x"])
        case "pad":
            return edits.set_column(e, "tokens", "pad", [0], not e.tokens.pad[0])
        case "segment":
            return edits.set_column(e, "tokens", "segment", [n - 1], e.tokens.column("segment")[n - 1] + 1)
        case "parent":
            free = e.tokens.column("parent")[n - 2] == -1 and n > 1  # whoever has a parent may be the last one's child
            return edits.set_column(e, "tokens", "parent", [n - 1], n - 2 if free else -1)
        case "position":
            return edits.set_column(e, "tokens", "position", [0], e.tokens.column("position")[0] + 5)
        case "wider":
            return reshape.rearrange_dimensions(e, "tokens", [None, *range(d)])
        case "narrower" if d > 1:
            return reshape.rearrange_dimensions(e, "tokens", range(1, d))
        case "rule":
            return replace(e, rule=MaskRule() if isinstance(e.rule, Padding) else Padding())
        case "rules":
            return replace(e, rule=Combined((Term(Document()), Term(Tree()))) if e.rule.kind == "none" else MaskRule())
        case "turn":
            position = Sinusoidal() if e.scoring.position.kind == "none" else InputPosition()
            return replace(e, scoring=replace(e.scoring, position=position))
        case "cache":
            return with_past(e, 0 if e.past is not None else min(1, most_past(e)))
        case "text":
            return reshape.with_sequence(e, "tokens", TokenSequence.of(["p", "q", "r"], np.ones((3, 3))))
    return e


@given(steps)
def test_a_view_that_only_hears_the_signals_is_never_wrong(sequence: list[str]) -> None:
    class Feed:
        def compute(self, experiment: Experiment, device: str) -> None: ...

    start = Experiment.from_tokens("ab", [[1.0, 0.0], [0.0, 1.0]])
    document = control.Document(Session((NamedExperiment("t", start),)), Feed())  # type: ignore[arg-type]
    model = TokenModel(document, Settings(Path("unused")), "tokens")
    cache = TokenModel(document, Settings(Path("unused")), "past")
    testers = [QAbstractItemModelTester(m, QAbstractItemModelTester.FailureReportingMode.Fatal) for m in (model, cache)]
    copy, of_cache = _Copy(model), _Copy(cache)
    for what in sequence:
        if what == "undo":
            document.undo_stack.undo()
        else:
            document.apply(what, _step(what, document.experiment))
        assert copy.cells == grid(model)
        assert of_cache.cells == grid(cache)
        e = document.experiment
        for place, name in enumerate(model.columns, start=1 + e.d_model):
            expected = e.query_positions if name == "position" else e.tokens.column(name)
            assert [row[place] for row in model.cells(range(e.n_q), range(model.columnCount()))] == [
                ("" if value < 0 else str(value + 1)) if name == "parent" else str(int(value)) for value in expected
            ]
        names = [[row[0] for row in copy.cells], list(e.tokens.tokens)]
        assert names[0] == names[1]
        numbers = [[float(cell) for cell in row[1 : e.d_model + 1]] for row in copy.cells]
        np.testing.assert_array_equal(numbers, e.tokens.embeddings.array())
    del testers


class _Copy:
    """Keeps the model's texts by nothing but its signals."""

    def __init__(self, model: TokenModel) -> None:
        self._model = model
        self.cells = grid(model)
        model.modelReset.connect(self._reset)
        model.dataChanged.connect(self._data)
        model.rowsInserted.connect(self._rows_in)
        model.rowsRemoved.connect(self._rows_out)
        model.columnsInserted.connect(self._columns_in)
        model.columnsRemoved.connect(self._columns_out)

    def _text(self, row: int, column: int) -> Any:
        return self._model.data(self._model.index(row, column))

    def _reset(self) -> None:
        self.cells = grid(self._model)

    def _data(self, a: QModelIndex, b: QModelIndex) -> None:
        for row in range(a.row(), b.row() + 1):
            for column in range(a.column(), b.column() + 1):
                self.cells[row][column] = self._text(row, column)

    def _rows_in(self, parent: QModelIndex, first: int, last: int) -> None:
        columns = self._model.columnCount()
        self.cells[first:first] = [[self._text(r, c) for c in range(columns)] for r in range(first, last + 1)]

    def _rows_out(self, parent: QModelIndex, first: int, last: int) -> None:
        del self.cells[first : last + 1]

    def _columns_in(self, parent: QModelIndex, first: int, last: int) -> None:
        for row, cells in enumerate(self.cells):
            cells[first:first] = [self._text(row, c) for c in range(first, last + 1)]

    def _columns_out(self, parent: QModelIndex, first: int, last: int) -> None:
        for cells in self.cells:
            del cells[first : last + 1]


def test_a_cell_of_a_long_table_is_read_without_looking_at_the_others(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = 131_072
    tokens = tuple(f"t{i}" for i in range(n))
    start = Experiment.from_tokens(tokens, np.zeros((n, 2)))
    context.document.apply("long", start)
    model = TokenModel(context.document, context.settings, "tokens")

    def forbidden(*arguments: Any) -> Any:
        raise AssertionError("looked at the whole table")

    monkeypatch.setattr(Table, "array", forbidden)
    monkeypatch.setattr(Table, "rows", forbidden)
    monkeypatch.setattr(TokenSequence, "pad", property(forbidden))
    for role in Role:
        for column in range(model.columnCount()):
            model.data(model.index(n - 1, column), role)
    assert model.data(model.index(n - 1, 0)) == f"t{n - 1}"


def test_an_edit_of_a_long_table_compares_one_chunk(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 131_072
    start = Experiment.from_tokens(("t",) * n, np.zeros((n, 2)))
    context.document.apply("long", start)
    model = TokenModel(context.document, context.settings, "tokens")
    compared: list[int] = []
    original = token_changes._pairs

    def counted(before: Table, after: Table) -> Any:
        pairs = original(before, after)
        compared.append(sum(len(piece) for _, piece, _ in pairs))
        return pairs

    monkeypatch.setattr(token_changes, "_pairs", counted)
    heard = hear(model)
    assert model.setData(model.index(100_000, 2), "0.5")
    assert heard[0] == ("data", 100_000, 2, 100_000, 2)
    assert compared == [len(start.tokens.embeddings.chunks[0])]
