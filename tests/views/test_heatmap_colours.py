"""How values become colours, and what the colour bar says of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from attn_gui.model.masks import Causal
from attn_gui.model.picture import LAST_COLOUR, LOG_FLOOR, MASKED, NON_FINITE, Picture, PictureRequest
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.views.context import Context
from attn_gui.views.figures import LARGE, figure
from attn_gui.views.heatmap.colour_bar import described
from attn_gui.views.heatmap.scale import scale_of
from tests.views.heatmaps import Pair, grabbed, is_one_of, place, random_experiment, reference


@pytest.fixture
def pair(qtbot: QtBot, context: Context) -> Pair:
    made = Pair(qtbot, context)
    made.show_experiment(random_experiment(7))
    return made


def test_the_ends_of_the_bar_are_the_true_ends(context: Context, pair: Pair) -> None:
    A, N, _ = reference(context.document.experiment)
    scores, weights = pair.A.heatmap.footer.bar.scale, pair.N.heatmap.footer.bar.scale
    assert scores is not None
    assert weights is not None
    bound = f"{np.abs(A).max():.4f}".rstrip("0")
    assert (scores.low, scores.high) == (f"−{bound}", bound)
    assert (weights.low, weights.high) == ("0", f"{N.max():.4f}".rstrip("0"))
    assert (scores.mapping, scores.masked, scores.non_finite) == ("", False, False)


def test_the_bar_runs_through_the_whole_table(context: Context, pair: Pair) -> None:
    bar = pair.N.heatmap.footer.bar
    image = bar.grab().toImage()
    table = context.look.theme.sequential
    found = []
    for x in range(image.width()):
        colour = image.pixelColor(x, image.height() // 2)
        rgb = colour.red(), colour.green(), colour.blue()
        found += [k for k in range(LAST_COLOUR + 1) if tuple(table[k, :3]) == rgb][:1]
    assert min(found) <= 8
    assert max(found) >= LAST_COLOUR - 8
    assert sorted(found) == found or len(set(found)) > 60


@pytest.mark.parametrize("mapping", ["log", "row maximum", "fixed 0..1", "without first key"])
def test_each_mapping_colours_N_as_it_says(pair: Pair, context: Context, mapping: str) -> None:
    _, N, _ = reference(context.document.experiment)
    heatmap = pair.N.heatmap
    next(a for a in heatmap.menu.mapping.actions() if a.data() == mapping).trigger()
    pair.settle()
    low, high = 0.0, 1.0
    expected = N
    if mapping == "log":
        low, high = LOG_FLOOR, N.max()
        expected = (np.log(np.maximum(N, LOG_FLOOR)) - np.log(low)) / (np.log(high) - np.log(low))
    elif mapping == "row maximum":
        expected = N / N.max(axis=1, keepdims=True)
    elif mapping == "without first key":
        high = N[:, 1:].max()
        expected = np.minimum(N / high, 1.0)
    image = grabbed(heatmap)
    for i in range(7):
        for j in range(7):
            colour = image.pixelColor(place(heatmap, i, j, 0.2, 0.22) - heatmap.plot.area.topLeft())
            assert is_one_of(colour, context.look.theme.sequential, expected[i, j] * LAST_COLOUR), (i, j)
    scale = heatmap.footer.bar.scale
    assert scale is not None
    names = {"log": f"log, floor {LOG_FLOOR:g}", "fixed 0..1": "fixed", "without first key": "without first key"}
    assert scale.mapping == names.get(mapping, "")
    assert scale.high == ("row maximum" if mapping == "row maximum" else f"{high:.4f}".rstrip("0").rstrip("."))
    if scale.mapping:
        assert scale.mapping in described(scale)


def test_scores_offer_only_what_may_be_negative_with_the_reason(pair: Pair) -> None:
    actions = {action.data(): action for action in pair.A.heatmap.menu.mapping.actions()}
    assert actions["linear"].isEnabled()
    assert actions["linear"].isChecked()
    for name in ("log", "row maximum", "fixed 0..1"):
        assert not actions[name].isEnabled()
        assert "negative" in actions[name].text()
    assert all(action.isEnabled() for action in pair.N.heatmap.menu.mapping.actions())


def test_the_choice_is_kept_in_the_session_and_taken_from_it(pair: Pair, context: Context) -> None:
    pair.N.heatmap.choices.set_mapping("log")
    pair.N.heatmap.choices.set_pooling("mean")
    kept = context.document.session.view
    assert not context.document.dirty  # a view choice is no change
    experiment = random_experiment(4)
    context.document.open(Session((NamedExperiment("other", experiment),)), None)
    assert pair.N.heatmap.pictures.mapping == "linear"
    context.document.open(Session((NamedExperiment("again", experiment),), view=kept), None)
    assert (pair.N.heatmap.pictures.mapping, pair.N.heatmap.pictures.pooling) == ("log", "mean")
    assert pair.A.heatmap.pictures.mapping == "linear"
    odd = {"N colours": ["log"], "N pooling": 3, "A colours": "log"}
    context.document.open(Session((NamedExperiment("odd", experiment),), view=odd), None)
    assert (pair.N.heatmap.pictures.mapping, pair.N.heatmap.pictures.pooling) == ("linear", "max")
    assert pair.A.heatmap.pictures.mapping == "linear"  # scores have no logarithm


def test_pooling_decides_what_a_pixel_shows(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    experiment = random_experiment(1800, 3)
    pair.show_experiment(experiment)
    A, _, _ = reference(experiment)
    heatmap = pair.A.heatmap
    heatmap.choices.set_pooling("min")
    pair.settle()
    image, height = grabbed(heatmap), heatmap.plot.area.height()
    bound = np.abs(A).max()
    x = place(heatmap, 0, 1).x() - heatmap.plot.area.left()
    for y in range(20, height, 5):
        index = (A[y * 1800 // height : (y + 1) * 1800 // height, 1].min() + bound) / (2 * bound) * LAST_COLOUR
        assert is_one_of(image.pixelColor(x, y), context.look.theme.diverging, index)


def test_the_bar_says_masked_only_when_something_is(pair: Pair, context: Context) -> None:
    bar = pair.A.heatmap.footer.bar
    assert bar.scale is not None
    assert "masked" not in described(bar.scale)
    context.document.apply("mask", replace(context.document.experiment, rule=Causal()))
    pair.settle()
    assert "masked cells are hatched" in described(bar.scale)
    assert bar.accessibleDescription() == described(bar.scale)
    image = bar.grab().toImage()
    masked = context.look.theme.colour("masked").rgb()
    assert any(image.pixel(x, y) == masked for x in range(image.width()) for y in range(image.height()))


@given(value=st.floats(-1e300, 1e300), decimals=st.integers(0, 8))
def test_a_figure_never_hides_a_number(value: float, decimals: int) -> None:
    text = figure(value, decimals)
    read = float(text.replace("−", "-"))
    assert (read == 0) == (value == 0)
    if value != 0:
        assert abs(read - value) <= max(0.5 * 10.0**-decimals * 1.0001, 5e-4 * abs(value))
    if abs(value) >= LARGE:
        assert len(text) < 14


def test_a_scale_knows_its_signs() -> None:
    request = PictureRequest("N", 0, (0, 1), (0, 3), (1, 3))
    for index, masked, non_finite in (
        ([0, 3, LAST_COLOUR], False, False),
        ([0, MASKED, 3], True, False),
        ([NON_FINITE, 2, 3], False, True),
        ([NON_FINITE, MASKED, 3], True, True),
    ):
        picture = Picture(request, np.array([index], np.uint8), np.zeros((1, 3)), 0.0, 1.0, True)
        scale = scale_of(picture, 4)
        assert (scale.masked, scale.non_finite) == (masked, non_finite)
