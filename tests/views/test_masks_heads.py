"""Masks that differ from head to head, on screen: hatching, painting, the table twin and the line of why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from attn_gui.files import examples
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, SlidingWindow, Term
from attn_gui.model.masks.imported import Imported
from attn_gui.model.picture import MASKED
from attn_gui.views.context import Context
from attn_gui.views.heatmap.heatmap import Heatmap
from attn_gui.views.why_line import WhyLine
from tests.views.heatmaps import Pair, grabbed, place


@pytest.fixture
def cells() -> np.ndarray:
    return np.random.RandomState(1).rand(3, 11, 11) < 0.6


@pytest.fixture
def pair(qtbot: QtBot, context: Context, cells: np.ndarray) -> Pair:
    made = Pair(qtbot, context)
    e = examples.load("animal").experiment
    made.show_experiment(replace(e, rule=Imported(cells)))
    return made


def hatched(heatmap: Heatmap) -> np.ndarray:
    """Which cells have the colour of what is masked, with lines over it."""
    image, grid, context = grabbed(heatmap), heatmap.plot.grid, heatmap.context
    ground = context.look.theme.masked
    found = np.zeros((grid.n_q, grid.n_k), bool)
    for i in range(grid.n_q):
        for j in range(grid.n_k):
            cell = grid.cell(i, j).adjusted(2, 2, -2, -2).toAlignedRect()
            colours = {
                image.pixelColor(x, y).name()
                for x in range(cell.left(), cell.right())
                for y in range(cell.top(), cell.bottom())
            }
            found[i, j] = ground in colours and len(colours) > 2
    return found


@pytest.mark.parametrize("head", [0, 1, 2, "mean"])
def test_each_head_is_hatched_by_its_own_mask(pair: Pair, context: Context, cells: np.ndarray, head: int | str) -> None:
    context.selection.set_head(head)  # type: ignore[arg-type]
    pair.settle()
    wanted = ~(cells.any(axis=0) if head == "mean" else cells[int(head)])
    for heatmap in (pair.A.heatmap, pair.N.heatmap):
        latest = heatmap.pictures.latest
        assert latest is not None
        np.testing.assert_array_equal(latest.index == MASKED, wanted)
    np.testing.assert_array_equal(hatched(pair.A.heatmap), wanted)


@pytest.mark.parametrize("head", [1, "mean"])
def test_the_table_says_masked_where_the_head_is(
    pair: Pair, context: Context, cells: np.ndarray, head: int | str
) -> None:
    context.selection.set_head(head)  # type: ignore[arg-type]
    pair.N.heatmap.show_table(True)
    pair.settle()
    table = pair.N.heatmap.twin.values
    wanted = cells.any(axis=0) if head == "mean" else cells[int(head)]
    for i in range(11):
        for j in range(11):
            assert (table.data(table.index(i, j)) == "masked") != wanted[i, j]


def test_painting_starts_from_the_head_in_sight_and_counts_for_all(
    qtbot: QtBot, pair: Pair, context: Context, cells: np.ndarray
) -> None:
    i, j = (int(k) for k in np.argwhere(cells[0] & ~cells[2])[0])
    context.selection.set_painting(True)
    for head, allow in ((2, True), (0, False)):
        context.selection.set_head(head)
        pair.settle()
        qtbot.mouseClick(pair.A.heatmap.plot, Qt.MouseButton.LeftButton, pos=place(pair.A.heatmap, i, j))
        painted: Experiment = context.document.experiment
        assert painted.painted.at(i, j) is allow
        for each in range(3):
            assert painted.allowed(slice(i, i + 1), slice(j, j + 1), each)[0, 0] == allow
        context.document.undo_stack.undo()
        pair.settle()
    context.selection.set_head(2)
    context.selection.set_cell(i, j)
    pair.settle()
    pair.A.heatmap.plot.setFocus()
    qtbot.keyClick(pair.A.heatmap.plot, Qt.Key.Key_Space)
    assert context.document.experiment.painted.at(i, j) is True


def test_why_names_the_rule_that_forbids(qtbot: QtBot, pair: Pair, context: Context) -> None:
    why = WhyLine(context)
    qtbot.addWidget(why)
    terms = (Term(Causal(), heads=(0,)), Term(SlidingWindow(2)), Term(Causal("top-left"), "or", True, (2,)))
    context.document.apply("rule", replace(context.document.experiment, rule=Combined(terms)))
    both = "Sliding window” and “not Causal"
    for head, cell, name in ((0, (1, 2), "Causal"), (1, (9, 0), "Sliding window"), (2, (9, 0), both)):
        context.selection.set_head(head)
        context.selection.set_cell(*cell)
        pair.settle()
        assert f"masked by “{name}”" in why.line.accessibleName()
