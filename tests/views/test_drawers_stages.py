"""The Stages drawer on real widgets, against the trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.files.layout import Layout
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.picture import LAST_COLOUR
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.tokens import TokenSequence
from attn_gui.views.cell_ranges import CellRange
from attn_gui.views.context import Context
from attn_gui.views.drawers.array_picture import ArrayPicture
from attn_gui.views.drawers.stage_model import StageModel
from attn_gui.views.drawers.stage_table import StageTable
from attn_gui.views.drawers.stage_text import formula, told
from attn_gui.views.drawers.stages_drawer import StagesDrawer
from attn_gui.views.theme import THEMES
from tests.views.drawer_helpers import asks_recorded, given, open_experiment, several_heads

Traced = Callable[[], None]


@pytest.fixture
def drawer(context: Context, qtbot: QtBot) -> StagesDrawer:
    made = StagesDrawer(context)
    qtbot.addWidget(made)
    made.resize(800, 300)
    return made


@pytest.fixture
def shown(drawer: StagesDrawer, context: Context, qtbot: QtBot, wait_traced: Traced) -> StagesDrawer:
    """The drawer open on an experiment that has every stage."""
    context_tokens = TokenSequence.of("uvw", np.random.RandomState(3).standard_normal((3, 6)))
    X = np.random.RandomState(5).standard_normal((4, 4))
    e = Experiment.from_tokens("abcd", X, context=context_tokens, heads=2)
    open_experiment(context, replace(e, scoring=Scoring(softcap=2.0), rule=Causal()))
    context.document.start()
    drawer.show()
    qtbot.waitExposed(drawer)
    wait_traced()
    return drawer


def values(drawer: StagesDrawer) -> np.ndarray:
    model = drawer.model
    return np.array(
        [[float(t) for t in row] for row in model.cells(range(model.rowCount()), range(model.columnCount()))]
    )


def wait_values(drawer: StagesDrawer, qtbot: QtBot, expected: np.ndarray) -> None:
    def right() -> bool:
        found = values(drawer) if drawer.model.rowCount() else np.empty((0, 0))
        return found.shape == expected.shape and np.array_equal(found.astype(expected.dtype), expected)

    qtbot.waitUntil(right, timeout=10_000)


@pytest.mark.parametrize("head", [0, 1])
def test_every_stage_is_a_table_of_exact_numbers(
    shown: StagesDrawer, context: Context, qtbot: QtBot, head: int
) -> None:
    reference = trace(context.document.experiment)
    context.selection.set_head(head)
    offered = [shown.stage.itemText(k).split()[0] for k in range(shown.stage.count())]
    assert offered == list(stages_of(context.document.experiment))
    assert len(offered) == 14
    for index, name in enumerate(offered):
        shown.stage.setCurrentIndex(index)
        shown.stage.activated.emit(index)
        wait_values(shown, qtbot, reference.stage(name, head))


def test_the_mean_over_heads_of_scores_and_weights(shown: StagesDrawer, context: Context, qtbot: QtBot) -> None:
    context.selection.set_head("mean")
    shown.show_stage("N")
    N = trace(context.document.experiment).matrix("N", "mean").block(slice(0, 4), slice(0, 3))
    wait_values(shown, qtbot, N)
    assert "mean over heads" in shown.told.text()
    shown.show_stage("Q")
    wait_values(shown, qtbot, trace(context.document.experiment).stage("Q", 0))
    assert "head 1: only scores and weights have a mean" in shown.told.text()


def test_shapes_formula_and_precision_are_told(drawer: StagesDrawer, context: Context, wait_traced: Traced) -> None:
    context.document.start()
    drawer.show()
    wait_traced()
    assert drawer.told.text() == "Q = X W_Q  ·  5 × 2 (tokens × d_k), float32"
    drawer.show_stage("N")
    assert drawer.told.text() == "N = softmax(A)  ·  5 × 5 (queries × keys), float32"


def test_the_formula_is_that_of_the_experiment(context: Context) -> None:
    plain = context.document.experiment
    assert formula(plain, "A") == "A = Q Kᵀ / √d_k"
    assert formula(plain, "output") == "output = N V"
    capped = replace(plain, scoring=Scoring(scale=2.0, softcap=30.0))
    assert formula(capped, "scaled") == "scaled = 2 · Q Kᵀ"
    assert formula(capped, "A") == "A = 30 · tanh(scaled / 30)"
    assert formula(several_heads(), "output") == "output = concat W_O"
    assert formula(given(), "Q") == "Q, given"
    assert told(several_heads(), "V", 2).endswith("float32  ·  head 3")


def test_before_the_first_trace_it_says_what_it_waits_for(
    drawer: StagesDrawer, context: Context, wait_traced: Traced
) -> None:
    drawer.show()
    assert drawer.waiting.isVisible()
    assert drawer.waiting.accessibleName() == "Starting torch"
    context.document.start()
    wait_traced()
    assert not drawer.waiting.isVisible()


def test_what_is_copied_is_exact(shown: StagesDrawer, context: Context, qtbot: QtBot) -> None:
    shown.show_stage("N")
    N = trace(context.document.experiment).stage("N", 0)
    wait_values(shown, qtbot, N)
    shown.table.select_block(CellRange(0, 0, 3, 2))
    shown.table.blocks.copy()
    rows = [line.split("\t") for line in QGuiApplication.clipboard().text().split("\n")]
    assert np.array_equal(np.array(rows, dtype=np.float32), N)
    assert not shown.model.flags(shown.model.index(0, 0)) & Qt.ItemFlag.ItemIsEditable


def test_a_stage_that_is_not_square_is_drawn_as_computed(shown: StagesDrawer, context: Context, qtbot: QtBot) -> None:
    shown.form.button("heatmap").click()
    shown.show_stage("V")
    V = trace(context.document.experiment).stage("V", 0)  # [3, d_v]
    picture = shown.picture
    qtbot.waitUntil(lambda: picture.place() is not None, timeout=10_000)
    place = picture.place()
    assert place is not None
    table = THEMES["light"].diverging
    context.settings.theme = "light"
    image = picture.grab().toImage()
    bound = np.abs(V).max()
    for (i, j), value in np.ndenumerate(V):
        # beside the number
        x = place.image.left() + j * place.cell_width + 2
        y = place.image.top() + i * place.cell_height + 2
        got = image.pixelColor(int(x), int(y))
        index = round((float(value) / float(bound) + 1) / 2 * LAST_COLOUR)
        near = [table[max(0, min(index + k, LAST_COLOUR))][:3].tolist() for k in (-1, 0, 1)]
        assert [got.red(), got.green(), got.blue()] in near
    text = picture.text_at(place.image.left() + 1, place.image.top() + 1)
    assert text is not None
    assert text.startswith("u, v1: ")
    assert picture.bar.scale is not None
    assert picture.bar.scale.masked is False


def test_a_square_stage_is_a_heatmap_with_rows_of_its_own(shown: StagesDrawer, context: Context, qtbot: QtBot) -> None:
    before = context.bands.height, context.bands.count
    shown.form.button("heatmap").click()
    shown.show_stage("raw")
    heatmap = shown.heatmaps["raw"].heatmap
    assert heatmap.isVisible()
    expected = trace(context.document.experiment).stage("raw", 0)

    def shown_whole() -> bool:
        latest = heatmap.pictures.latest
        return latest is not None and latest.values.shape == expected.shape

    # what was asked for before the layout had settled may have been less
    qtbot.waitUntil(shown_whole, timeout=10_000)
    assert np.array_equal(heatmap.pictures.latest.values, expected)
    assert (context.bands.height, context.bands.count) == before
    shown.show_stage("N")
    assert not heatmap.isVisible()
    assert shown.heatmaps["N"].isVisible()
    shown.show_stage("raw")
    assert shown.heatmaps["raw"].heatmap is heatmap


def test_choices_are_kept_with_the_session(shown: StagesDrawer, context: Context) -> None:
    shown.show_stage("K")
    shown.form.button("heatmap").click()
    view = context.document.session.view
    assert (view["stage"], view["stage_as"]) == ("K", "heatmap")
    assert not context.document.undo_stack.canUndo()


def test_a_stage_that_the_experiment_lacks_gives_way(
    shown: StagesDrawer, context: Context, qtbot: QtBot, wait_traced: Traced
) -> None:
    shown.show_stage("context")
    e = several_heads()
    context.document.apply("self-attention", e)
    wait_traced()
    assert shown.stage.currentText().startswith("Q")
    wait_values(shown, qtbot, trace(e).stage("Q", 0))


@pytest.mark.parametrize("form", ["table", "heatmap"])
@pytest.mark.parametrize("stage", ["Q", "N"])
def test_a_hidden_drawer_asks_nothing(
    drawer: StagesDrawer, context: Context, qtbot: QtBot, wait_traced: Traced, stage: str, form: str
) -> None:
    context.document.keep_view(stage=stage, stage_as=form)
    with asks_recorded(context.feed) as asked:
        context.document.start()
        wait_traced()
        context.selection.set_cell(0, 0)
        assert asked == []
        drawer.show()
        qtbot.waitExposed(drawer)
        assert {slot.split(".")[0] for slot, ask in asked if ask is not None} == {"stages"}
        drawer.hide()
        assert {slot for slot, ask in dict(asked).items() if ask is not None} == set()
        asked.clear()
        context.document.apply("several heads", several_heads())
        wait_traced()
        context.selection.set_head(2)
        context.selection.set_cell(1, 2)
        context.selection.set_hover((0, 1))
        qtbot.wait(100)
        assert asked == []


def test_an_edit_reaches_what_is_open(shown: StagesDrawer, context: Context, qtbot: QtBot, wait_traced: Traced) -> None:
    shown.show_stage("output")
    e = several_heads()
    context.document.apply("another", e)
    wait_traced()
    wait_values(shown, qtbot, trace(e).stage("output"))
    context.document.apply("float64", replace(e, precision=Precision.FLOAT64))
    wait_traced()
    wait_values(shown, qtbot, trace(replace(e, precision=Precision.FLOAT64)).stage("output"))
    assert "float64" in shown.told.text()


def test_cells_are_read_out_by_what_they_are(shown: StagesDrawer, context: Context, qtbot: QtBot) -> None:
    shown.show_stage("N")
    N = trace(context.document.experiment).stage("N", 0)
    wait_values(shown, qtbot, N)
    said = shown.model.index(2, 1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert said == f"N, query c, key v, {shown.model.index(2, 1).data(Qt.ItemDataRole.EditRole)}"


def test_headers_take_tokens_as_they_are(context: Context) -> None:
    model = StageModel(context)
    layout = Layout("query", "key", ("<b>x</b>", "a\nb"), ("k1",))
    model.show_stage("N", np.ones((2, 1)), layout, Precision.FLOAT64)
    names = [model.headerData(k, Qt.Orientation.Vertical) for k in range(2)]
    assert names == ["<b>x</b>", "a↵b"]
    tip = model.headerData(0, Qt.Orientation.Vertical, Qt.ItemDataRole.ToolTipRole)
    assert tip == "<span>&lt;b&gt;x&lt;/b&gt;</span>"


def test_a_picture_without_anything_draws_nothing(context: Context, qtbot: QtBot) -> None:
    picture = ArrayPicture(context)
    qtbot.addWidget(picture)
    picture.resize(300, 200)
    assert picture.place() is None
    assert picture.text_at(100, 100) is None
    picture.grab()


def test_the_model_is_a_sound_one(context: Context, qtmodeltester: ModelTester) -> None:
    model = StageModel(context)
    model.show_stage("V", np.eye(3), Layout("key", "dimension", ("a", "b", "c"), ("v1", "v2", "v3")), Precision.FLOAT64)
    qtmodeltester.check(model)


def test_columns_are_wide_enough_for_numbers_and_names(context: Context, qtbot: QtBot) -> None:
    model = StageModel(context)
    table = StageTable(context, model)
    qtbot.addWidget(table)
    layout = Layout("query", "dimension", ("a",), ("x", "a longer name"))
    model.show_stage("X", np.array([[1.5, 2.0]]), layout, Precision.FLOAT64)
    assert table.columnWidth(0) > table.fontMetrics().horizontalAdvance("a longer name")
    model.show_stage("X", np.array([[-1.5e8, 2.0]]), layout, Precision.FLOAT64)
    assert table.columnWidth(1) >= table.fontMetrics().horizontalAdvance("−150000000.0") + 16
