"""The Heads drawer on real widgets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.model.asks import Ask, PictureAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.initialise import initial_weights
from attn_gui.model.masks import Causal
from attn_gui.model.painted import Painted
from attn_gui.model.picture import MASKED
from attn_gui.model.trace import Head
from attn_gui.model.variant import Variant
from attn_gui.views.context import Context
from attn_gui.views.drawers.heads_drawer import HeadsDrawer
from attn_gui.views.drawers.heads_model import HeadsModel
from tests.views.drawer_helpers import asks_recorded, given, open_experiment, several_heads

Traced = Callable[[], None]


@pytest.fixture
def drawer(context: Context, qtbot: QtBot) -> HeadsDrawer:
    made = HeadsDrawer(context)
    qtbot.addWidget(made)
    made.resize(700, 330)
    return made


@pytest.fixture
def shown(drawer: HeadsDrawer, context: Context, qtbot: QtBot, wait_traced: Traced) -> HeadsDrawer:
    """The drawer open on four heads, everything computed and drawn."""
    open_experiment(context, several_heads())
    context.document.start()
    drawer.show()
    qtbot.waitExposed(drawer)
    wait_traced()
    wait_pictures(drawer, qtbot, ["mean", 0, 1, 2, 3])
    return drawer


def wait_pictures(drawer: HeadsDrawer, qtbot: QtBot, heads: list[Head]) -> None:
    model = drawer.grid.model()
    assert isinstance(model, HeadsModel)
    qtbot.waitUntil(lambda: all(model.thumbnail(head) is not None for head in heads), timeout=10_000)


def in_force(asked: list[tuple[str, Ask | None]]) -> set[str]:
    """The slots that hold an ask after all that was asked."""
    return {slot for slot, ask in dict(asked).items() if ask is not None}


def model_of(drawer: HeadsDrawer) -> HeadsModel:
    model = drawer.grid.model()
    assert isinstance(model, HeadsModel)
    return model


def test_every_head_and_the_mean_show_what_was_computed(shown: HeadsDrawer, context: Context) -> None:
    model = model_of(shown)
    N = trace(context.document.experiment).stage("N")  # [heads, n_q, n_k]
    assert model.rowCount() == 5
    for head in range(4):
        thumbnail = model.thumbnail(head)
        assert thumbnail is not None
        assert np.array_equal(thumbnail.picture.values, N[head])
        assert thumbnail.largest == N[head].max()
        assert model.name(head) == f"Head {head + 1}"
        assert model.largest(head) == f"{N[head].max():.4f}"
    mean = model.thumbnail("mean")
    assert mean is not None
    np.testing.assert_allclose(mean.picture.values, N.mean(axis=0), atol=1e-7)


def test_a_click_opens_a_head(shown: HeadsDrawer, context: Context, qtbot: QtBot) -> None:
    grid, model = shown.grid, model_of(shown)
    for row, head in ((3, 2), (0, "mean"), (1, 0)):
        place = grid.visualRect(model.index(row)).center()
        qtbot.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert context.selection.head == head
        assert model.is_open(head)  # type: ignore[arg-type]


def test_the_arrow_keys_move_and_enter_opens(shown: HeadsDrawer, context: Context, qtbot: QtBot) -> None:
    grid = shown.grid
    grid.setFocus()
    assert grid.currentIndex().row() == 1
    qtbot.keyClick(grid, Qt.Key.Key_Right)
    qtbot.keyClick(grid, Qt.Key.Key_Right)
    assert grid.currentIndex().row() == 3
    assert context.selection.head == 0
    qtbot.keyClick(grid, Qt.Key.Key_Return)
    assert context.selection.head == 2
    qtbot.keyClick(grid, Qt.Key.Key_Home)
    qtbot.keyClick(grid, Qt.Key.Key_Space)
    assert context.selection.head == "mean"


def test_a_head_chosen_elsewhere_is_marked(shown: HeadsDrawer, context: Context) -> None:
    context.selection.set_head(3)
    model = model_of(shown)
    assert shown.grid.currentIndex().row() == 4
    assert str(model.index(4).data(Qt.ItemDataRole.AccessibleTextRole)).endswith(", shown")
    tile = shown.grid.visualRect(model.index(4))
    image = shown.grid.viewport().grab().toImage()
    outline = image.pixelColor(tile.left() + 40, tile.top() + 1)
    assert outline == context.look.theme.colour("accent")


def test_scores_are_shown_instead_and_the_choice_is_kept(shown: HeadsDrawer, context: Context, qtbot: QtBot) -> None:
    shown.stage.button("A").click()
    wait_pictures(shown, qtbot, ["mean", 0, 1, 2, 3])
    A = trace(context.document.experiment).stage("A")
    thumbnail = model_of(shown).thumbnail(1)
    assert thumbnail is not None
    assert np.array_equal(thumbnail.picture.values, A[1])
    assert thumbnail.picture.request.diverging
    assert context.document.session.view["heads_stage"] == "A"
    assert "largest score" in str(model_of(shown).index(2).data(Qt.ItemDataRole.AccessibleTextRole))


def test_masked_cells_are_no_part_of_the_largest_and_are_hatched(
    drawer: HeadsDrawer, context: Context, qtbot: QtBot, wait_traced: Traced
) -> None:
    e = several_heads()
    masked = Experiment(e.tokens, e.source, e.variant, e.heads, e.kv_heads, rule=Causal())
    open_experiment(context, masked)
    context.document.keep_view(heads_stage="A")
    context.document.start()
    drawer.show()
    wait_traced()
    wait_pictures(drawer, qtbot, ["mean", 0, 1, 2, 3])
    A = trace(masked).stage("A")[0]
    thumbnail = model_of(drawer).thumbnail(0)
    assert thumbnail is not None
    assert thumbnail.largest == A[np.tril_indices(5)].max()
    assert (thumbnail.picture.index[0, 1:] == MASKED).all()
    image = drawer.grid.viewport().grab().toImage()
    tile = drawer.grid.visualRect(model_of(drawer).index(1))
    line = {image.pixelColor(tile.left() + x, tile.top() + 14).name() for x in range(40, 100)}
    assert context.look.theme.masked in line
    assert len(line) > 1


def test_a_head_without_allowed_cells_says_so(
    drawer: HeadsDrawer, context: Context, qtbot: QtBot, wait_traced: Traced
) -> None:
    e = several_heads()
    painted = Painted().with_cells([(i, j) for i in range(5) for j in range(5)], allowed=False)
    open_experiment(context, Experiment(e.tokens, e.source, e.variant, e.heads, e.kv_heads, painted=painted))
    context.document.start()
    drawer.show()
    wait_traced()
    wait_pictures(drawer, qtbot, [0])
    assert model_of(drawer).largest(0) == "all masked"


def test_one_head_says_how_to_get_more_and_does_it(
    drawer: HeadsDrawer, context: Context, qtbot: QtBot, wait_traced: Traced
) -> None:
    context.document.start()
    drawer.show()
    qtbot.waitExposed(drawer)
    assert drawer.empty.isVisible()
    assert "multi-head variant" in drawer.empty.accessibleDescription()
    drawer.more_heads.click()
    assert context.document.experiment.variant is Variant.MULTI_HEAD_SELF
    assert context.document.experiment.heads == 2
    assert drawer.grid.isVisible()
    wait_traced()
    wait_pictures(drawer, qtbot, ["mean", 0, 1])
    context.document.undo_stack.undo()
    assert drawer.empty.isVisible()


def test_one_head_of_a_multi_head_variant_is_offered_more(drawer: HeadsDrawer, context: Context, qtbot: QtBot) -> None:
    open_experiment(context, several_heads(1))
    drawer.show()
    qtbot.waitExposed(drawer)
    assert drawer.more_heads.text() == "Use 2 heads"
    drawer.more_heads.click()
    assert context.document.experiment.heads == 2


def test_given_q_k_v_with_one_head_offer_nothing_that_cannot_be(drawer: HeadsDrawer, context: Context) -> None:
    open_experiment(context, given())
    drawer.show()
    assert drawer.empty.isVisible()
    assert not drawer.more_heads.isVisible()
    assert "given with one head" in drawer.empty.accessibleDescription()


def test_a_hidden_drawer_asks_nothing(drawer: HeadsDrawer, context: Context, qtbot: QtBot, wait_traced: Traced) -> None:
    with asks_recorded(context.feed) as asked:
        open_experiment(context, several_heads())
        context.document.start()
        wait_traced()
        assert asked == []
        drawer.show()
        qtbot.waitExposed(drawer)
        wait_pictures(drawer, qtbot, ["mean", 0, 1, 2, 3])
        assert {slot for slot, ask in asked if ask is not None} == {"head.mean", *(f"head.{h}" for h in range(4))}
        asked.clear()
        drawer.hide()
        assert {slot for slot, ask in asked if ask is None} == {"head.mean", *(f"head.{h}" for h in range(4))}
        assert model_of(drawer).thumbnail(0) is None
        asked.clear()
        open_experiment(context, several_heads(3))
        wait_traced()
        assert asked == []


def test_of_many_heads_only_those_in_sight_are_asked_for(
    drawer: HeadsDrawer, context: Context, qtbot: QtBot, wait_traced: Traced
) -> None:
    width = 144
    weights = initial_weights("normal", width, width, width, seed=1)
    X = np.random.RandomState(0).standard_normal((6, width))
    open_experiment(context, Experiment.from_tokens("abcdef", X, weights, heads=144))
    context.document.start()
    with asks_recorded(context.feed) as asked:
        drawer.show()
        qtbot.waitExposed(drawer)
        wait_traced()
        in_sight = drawer.grid.in_sight()
        assert 5 < len(in_sight) < 40
        wait_pictures(drawer, qtbot, in_sight)
        assert in_force(asked) == {f"head.{head}" for head in in_sight}
        bar = drawer.grid.verticalScrollBar()
        bar.setValue(bar.maximum())
        now = drawer.grid.in_sight()
        assert 143 in now
        assert 0 not in now
        wait_pictures(drawer, qtbot, now)
        assert in_force(asked) == {f"head.{head}" for head in now}


def test_the_pictures_are_small(shown: HeadsDrawer, context: Context) -> None:
    with asks_recorded(context.feed) as asked:
        shown.hide()
        shown.show()
    sizes = {ask.size for _, ask in asked if isinstance(ask, PictureAsk)}
    assert len(sizes) == 1
    assert max(sizes.pop()) <= 96 * 3


def test_an_edit_brings_new_pictures(shown: HeadsDrawer, context: Context, qtbot: QtBot, wait_traced: Traced) -> None:
    before = model_of(shown).thumbnail(0)
    later = several_heads(n=7)
    context.document.apply("more tokens", later)
    wait_traced()
    qtbot.waitUntil(lambda: model_of(shown).thumbnail(0) is not before, timeout=10_000)
    thumbnail = model_of(shown).thumbnail(0)
    assert thumbnail is not None
    assert thumbnail.picture.values.shape == (7, 7)


def test_tiles_are_drawn_in_every_theme(shown: HeadsDrawer, context: Context) -> None:
    corner = shown.grid.visualRect(model_of(shown).index(2)).topLeft() + QPoint(2, 2)
    place = shown.grid.viewport().mapTo(shown, corner)
    for theme in ("light", "dark", "contrast"):
        context.settings.theme = theme
        image = shown.grab().toImage()
        assert image.pixelColor(place) == context.look.theme.colour("panel")


def test_the_model_is_a_sound_one(qtmodeltester: ModelTester) -> None:
    model = HeadsModel()
    model.set_heads(3)
    qtmodeltester.check(model)
