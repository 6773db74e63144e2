"""The cache: how many tokens it holds, its table beside the others, and how the key axis sets it apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from attn_gui.model import edits, reshape
from attn_gui.model.cache import with_past
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Padding
from attn_gui.model.sources import AppendedKey
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.views.cache_choice import CacheChoice
from attn_gui.views.context import Context
from attn_gui.views.heatmap.parts_item import parts_of
from attn_gui.views.heatmap.words import cell_description, key_name
from attn_gui.views.token_panel import TokenPanel, sides_of
from tests.views.heatmaps import LEFT, Pair, grabbed, place

# without a theme's colours in the way
GAP = 2


@pytest.fixture
def choice(context: Context, qtbot: QtBot) -> CacheChoice:
    made = CacheChoice(context)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


@pytest.fixture
def panel(context: Context, qtbot: QtBot) -> TokenPanel:
    made = TokenPanel(context)
    made.resize(300, 460)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def set_cache(context: Context, count: int) -> None:
    context.document.apply("cache", with_past(context.document.experiment, count))


def appended(e: Experiment) -> Experiment:
    key = AppendedKey("bias", Table.of(np.ones((1, e.kv_heads * e.d_k))), Table.of(np.ones((1, e.kv_heads * e.d_v))))
    return replace(e, appended=(key,))


def test_tokens_go_to_the_cache_and_come_back_as_one_step(choice: CacheChoice, context: Context) -> None:
    start = context.document.experiment
    assert choice.count.text() == "none" and choice.count.maximum() == 4
    choice.count.setValue(1)
    assert choice.count.text() == "1 token"
    choice.count.setValue(3)
    e = context.document.experiment
    assert e.past is not None and e.past.tokens == ("karina", "is", "to")
    assert e.tokens.tokens == ("the", "store")
    assert e.keys.tokens == start.keys.tokens
    assert choice.count.text() == "3 tokens" and choice.count.maximum() == 4
    context.document.undo_stack.undo()
    assert context.document.experiment is start, "steps of the spin box are one"
    assert choice.count.value() == 0


def test_why_there_can_be_no_cache(choice: CacheChoice, context: Context) -> None:
    e = context.document.experiment
    values = TokenSequence.of(e.tokens.tokens, np.ones((5, 2)))
    context.document.apply("values", replace(e, values=values))
    assert not choice.count.isEnabled()
    assert choice.reason.text() == "Values have embeddings of their own"
    context.document.undo_stack.undo()
    assert choice.count.isEnabled() and choice.reason.text() == ""
    context.document.apply("one", edits.delete_tokens(context.document.experiment, "tokens", range(4)))
    assert not choice.count.isEnabled() and "one must be present" in choice.reason.text()


def test_the_cache_is_a_table_of_its_own(panel: TokenPanel, context: Context, qtbot: QtBot) -> None:
    assert not panel.switch.isVisible()
    set_cache(context, 2)
    assert panel.switch.isVisible() and panel.side == "tokens"
    assert panel.switch.values == ["tokens", "past"]
    qtbot.mouseClick(panel.switch.button("past"), LEFT)
    table = panel.table
    assert panel.side == "past" and table.isVisible()
    assert [table.tokens.data(table.tokens.index(r, 0)) for r in range(2)] == ["karina", "is"]
    assert table.accessibleName() == "Tokens and embeddings of the cache"
    assert not panel.text_to_tokens.isEnabled()
    query = context.selection.query
    table.go_to(1, 1)
    assert (context.selection.query, context.selection.key) == (query, 1), "its rows are keys"
    context.selection.set_cell(0, 4)
    assert table.currentIndex().row() == 1 and table.lit == 4, "a present key is none of its rows"
    context.selection.set_cell(0, 0)
    assert table.currentIndex().row() == 0
    assert table.tokens.setData(table.tokens.index(0, 1), "9")
    e = context.document.experiment
    assert e.past is not None and e.past.embeddings[0, 0] == 9
    set_cache(context, 0)
    assert panel.side == "tokens" and not panel.switch.isVisible()


def test_rows_and_dimensions_of_the_cache_are_edited_with_what_hangs_on_them(
    panel: TokenPanel, context: Context
) -> None:
    set_cache(context, 2)
    panel.show_side("past")
    panel.actions_on_tokens.add_token.trigger()
    e = context.document.experiment
    assert e.offset == 3 and e.keys.tokens == ("karina", "is", "token3", "to", "the", "store")
    panel.actions_on_tokens.add_dimension.trigger()
    e = context.document.experiment
    assert e.past is not None and e.past.width == e.tokens.width == 3
    panel.table.go_to(0, 0)
    context.selection.set_cell(0, 4)
    panel.table.selectRow(0)
    context.selection.set_cell(0, 4)
    panel.actions_on_tokens.delete_tokens.trigger()
    assert context.document.experiment.offset == 2
    assert context.document.experiment.keys.tokens[0] == "is"


def test_the_selected_present_key_stays_when_the_cache_changes(panel: TokenPanel, context: Context) -> None:
    context.document.apply("cross", reshape.with_variant(context.document.experiment, Variant.CROSS))
    set_cache(context, 2)
    panel.show_side("context")
    panel.table.go_to(1, 0)
    assert context.selection.key == 3
    now = edits.delete_tokens(context.document.experiment, "past", [0])
    context.document.apply("less", now)
    assert context.selection.key == 2, "the same token, one place earlier"
    panel.show_side("past")
    panel.table.go_to(0, 0)
    context.selection.set_cell(0, 3)
    context.document.apply("more", edits.insert_tokens(context.document.experiment, "past", 0, ["new"]))
    assert context.selection.key != 1, "the cache's current row does not take the selection of a present key"


def test_which_tables_there_are(context: Context) -> None:
    e = context.document.experiment
    assert sides_of(e) == ["tokens"]
    cross = reshape.with_variant(e, Variant.CROSS)
    assert sides_of(cross) == ["tokens", "context"]
    assert sides_of(with_past(cross, 1)) == ["tokens", "context", "past"]
    assert sides_of(replace(e, values=TokenSequence.of(e.tokens.tokens, np.ones((5, 2))))) == ["tokens", "values"]


def test_names_of_tables_are_short_where_there_is_little_room(context: Context, qtbot: QtBot) -> None:
    context.document.apply("cross", reshape.with_variant(context.document.experiment, Variant.CROSS))
    set_cache(context, 1)
    host, texts = QWidget(), {}
    qtbot.addWidget(host)
    panel = TokenPanel(context, host)
    host.resize(800, 500)
    host.show()
    for width in (480, 240):
        panel.setGeometry(0, 0, width, 460)
        qtbot.waitUntil(lambda: panel.switch.width() == panel.switch.sizeHint().width())
        texts[width] = [panel.switch.button(side).text() for side in panel.switch.values]
    assert texts[480] == ["Queries X", "Context X′", "Cache"]
    assert texts[240] == ["X", "X′", "Cache"]


def test_the_position_column_is_a_choice_of_view(panel: TokenPanel, context: Context) -> None:
    panel.show_positions.trigger()
    assert context.document.session.view["positions"] is True
    assert panel.table.tokens.columns == ["position"]
    assert context.document.undo_stack.count() == 0
    panel.show_positions.trigger()
    assert panel.table.tokens.columns == []


def test_the_key_axis_says_what_is_the_cache_and_what_no_token(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    e = appended(with_past(context.document.experiment, 2))
    pair.show_experiment(e)
    assert parts_of(e) == (2, 5)
    labels = pair.A.heatmap.plot.column_labels
    centres = [labels.place(j).center().toPoint() for j in range(6)]
    assert [labels.tooltip(centre) for centre in centres[:3]] == [
        "<b>karina</b><br>cache, key 1 of 6",
        "<b>is</b><br>cache, key 2 of 6",
        "<b>to</b><br>key 3 of 6",
    ]
    assert labels.tooltip(centres[5]) == "<b>bias</b><br>appended, key 6 of 6"
    assert [key_name(e, j) for j in (0, 2, 5)] == ["karina (cache)", "to", "bias (appended)"]
    assert (
        cell_description(e, "N", 0, (0, 1), (0.5, True), 4)
        == "query to, key is (cache), head 1, weight 0.5000, allowed"
    )
    context.selection.set_cell(0, 1)
    assert "key is (cache)" in pair.N.heatmap.readout.sentence.full


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_a_gap_stands_before_each_part(qtbot: QtBot, context: Context, theme: str) -> None:
    context.settings.theme = theme
    pair = Pair(qtbot, context)
    pair.show_experiment(appended(with_past(context.document.experiment, 2)))
    for heatmap in (pair.A.heatmap, pair.N.heatmap):
        image, grid, colours = grabbed(heatmap), heatmap.plot.grid, context.look.theme
        for j in range(1, 6):
            x, y = round(grid.x(j)), round(grid.y(0)) + 8
            across = [image.pixelColor(x + dx, y).name() for dx in (-GAP, 0, GAP)]
            apart = across == [colours.panel, colours.muted, colours.panel]
            assert apart == (j in (2, 5)), (j, across)


def test_without_a_cache_nothing_is_set_apart(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    pair.show_experiment(context.document.experiment)
    labels = pair.A.heatmap.plot.column_labels
    assert labels.set_apart() == []
    assert parts_of(context.document.experiment) == ()
    assert labels.tooltip(QPoint(labels.place(0).center().toPoint())) == "<b>karina</b><br>key 1 of 5"
    pair.show_experiment(with_past(context.document.experiment, 3))
    (shade,) = labels.set_apart()
    assert (shade.start, shade.start + shade.size) == (labels.place(0).left(), labels.place(2).right())


def test_rows_stay_aligned_with_the_present_tokens(qtbot: QtBot, context: Context, panel: TokenPanel) -> None:
    context.document.apply("pad", replace(context.document.experiment, rule=Padding()))
    set_cache(context, 2)
    context.bands.set_count(context.document.experiment.n_q)
    table = panel.tables["tokens"]
    assert table.tokens.rowCount() == 3
    for row in range(3):
        assert table.rowViewportPosition(row) == row * context.bands.row_height


def test_painting_lies_on_cached_keys_too(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    pair.show_experiment(with_past(context.document.experiment, 2))
    context.selection.set_painting(True)
    qtbot.mouseClick(pair.A.heatmap.plot, Qt.MouseButton.LeftButton, pos=place(pair.A.heatmap, 1, 0))
    assert context.document.experiment.painted.at(1, 0) is False
