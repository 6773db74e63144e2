"""Painting the mask: clicks, drags and the space bar, each stroke one undo step."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from attn_gui.control.notices import Kind, Notice
from attn_gui.model import painted
from attn_gui.model.masks import Causal
from attn_gui.views.context import Context
from attn_gui.views.heatmap.heatmap import Heatmap
from attn_gui.views.heatmap.painting import LABEL, Stroke, cells_between
from tests.views.heatmaps import LEFT, Pair, place, random_experiment

Cell = tuple[int, int]
cells = st.tuples(st.integers(0, 60), st.integers(0, 60))


@given(start=cells, stop=cells)
def test_a_line_of_cells_is_connected_and_straight(start: Cell, stop: Cell) -> None:
    line = list(cells_between(start, stop))
    assert (line[0], line[-1]) == (start, stop)
    di, dj = stop[0] - start[0], stop[1] - start[1]
    assert len(line) == max(abs(di), abs(dj)) + 1
    for (i0, j0), (i1, j1) in pairwise(line):
        assert max(abs(i1 - i0), abs(j1 - j0)) == 1
    for i, j in line:
        # distance along the shorter axis from the true line
        if abs(di) >= abs(dj):
            assert abs(start[1] + (i - start[0]) * (dj / di if di else 0) - j) <= 0.5 + 1e-9
        else:
            assert abs(start[0] + (j - start[1]) * (di / dj) - i) <= 0.5 + 1e-9


def painted_cells(context: Context) -> dict[Cell, bool]:
    e = context.document.experiment
    found = {(i, j): e.painted.at(i, j) for i in range(e.n_q) for j in range(e.n_k)}
    return {cell: allowed for cell, allowed in found.items() if allowed is not None}


def drag(qtbot: QtBot, heatmap: Heatmap, *through: Cell) -> None:
    plot = heatmap.plot
    qtbot.mousePress(plot, LEFT, pos=place(heatmap, *through[0]))
    for cell in through[1:]:
        qtbot.mouseMove(plot, place(heatmap, *cell))
    qtbot.mouseRelease(plot, LEFT, pos=place(heatmap, *through[-1]))


@pytest.fixture
def pair(qtbot: QtBot, context: Context) -> Pair:
    made = Pair(qtbot, context)
    made.show_experiment(random_experiment(8))
    context.selection.set_painting(True)
    return made


def test_a_click_toggles_a_cell(qtbot: QtBot, context: Context, pair: Pair) -> None:
    heatmap, stack = pair.A.heatmap, context.document.undo_stack
    qtbot.mouseClick(heatmap.plot, LEFT, pos=place(heatmap, 2, 5))
    assert painted_cells(context) == {(2, 5): False}
    assert stack.undoText() == LABEL
    pair.settle()
    trace = context.feed.trace
    assert trace is not None
    assert trace.stage("N", 0)[2, 5] == 0
    qtbot.mouseClick(heatmap.plot, LEFT, pos=place(heatmap, 2, 5))
    assert painted_cells(context) == {}, "as the rule has it"
    stack.undo()
    stack.undo()
    assert painted_cells(context) == {}


def test_a_drag_sets_every_cell_on_its_way_as_one_step(qtbot: QtBot, context: Context, pair: Pair) -> None:
    drag(qtbot, pair.A.heatmap, (0, 0), (0, 7), (7, 7))
    touched = {(0, j) for j in range(8)} | {(i, 7) for i in range(8)}
    assert painted_cells(context) == dict.fromkeys(touched, False)
    stack = context.document.undo_stack
    assert stack.count() == 1
    stack.undo()
    assert painted_cells(context) == {}
    stack.redo()
    assert painted_cells(context) == dict.fromkeys(touched, False)


def test_a_drag_gives_all_cells_the_opposite_of_the_first(qtbot: QtBot, context: Context, pair: Pair) -> None:
    drag(qtbot, pair.A.heatmap, (3, 2), (3, 4))
    drag(qtbot, pair.A.heatmap, (3, 3), (3, 6))
    # the others are as the rule has them, and need no paint
    expected = {(3, 2): False, (3, 3): True, (3, 4): True}
    assert painted_cells(context) == expected
    assert context.document.undo_stack.count() == 2


def test_strokes_that_follow_one_another_stay_two_steps(qtbot: QtBot, context: Context, pair: Pair) -> None:
    for cell in ((1, 1), (5, 5)):
        drag(qtbot, pair.A.heatmap, cell, (cell[0], cell[1] + 2))
    context.document.undo_stack.undo()
    assert set(painted_cells(context)) == {(1, 1), (1, 2), (1, 3)}


def test_the_mask_is_live_while_dragging(qtbot: QtBot, context: Context, pair: Pair) -> None:
    plot = pair.A.heatmap.plot
    qtbot.mousePress(plot, LEFT, pos=place(pair.A.heatmap, 1, 1))
    qtbot.mouseMove(plot, place(pair.A.heatmap, 4, 1))
    assert set(painted_cells(context)) == {(i, 1) for i in range(1, 5)}
    pair.settle()
    trace = context.feed.trace
    assert trace is not None
    assert (trace.stage("N", 0)[1:5, 1] == 0).all()
    qtbot.mouseRelease(plot, LEFT, pos=place(pair.A.heatmap, 4, 1))


def test_painting_lies_on_top_of_another_mask(qtbot: QtBot, context: Context, pair: Pair) -> None:
    context.document.apply("mask", replace(context.document.experiment, rule=Causal()))
    pair.settle()
    qtbot.mouseClick(pair.A.heatmap.plot, LEFT, pos=place(pair.A.heatmap, 1, 6))
    assert painted_cells(context) == {(1, 6): True}
    pair.settle()
    assert int(pair.A.heatmap.pictures.latest.index[1, 6]) < 254
    assert int(pair.A.heatmap.pictures.latest.index[1, 5]) == 254


@pytest.mark.parametrize("painting", [True, False])
def test_space_toggles_the_selected_cell(qtbot: QtBot, context: Context, pair: Pair, painting: bool) -> None:
    context.selection.set_painting(painting)
    context.selection.set_cell(4, 1)
    pair.A.heatmap.plot.setFocus()
    qtbot.keyClick(pair.A.heatmap.plot, Qt.Key.Key_Space)
    assert painted_cells(context) == {(4, 1): False}
    qtbot.keyClick(pair.A.heatmap.plot, Qt.Key.Key_Space)
    assert not context.document.experiment.painted, "as the rule has it, it needs no paint"
    assert context.document.undo_stack.count() == 2


def test_without_painting_and_on_N_nothing_is_painted(qtbot: QtBot, context: Context, pair: Pair) -> None:
    qtbot.mouseClick(pair.N.heatmap.plot, LEFT, pos=place(pair.N.heatmap, 2, 3))
    qtbot.keyClick(pair.N.heatmap.plot, Qt.Key.Key_Space)
    context.selection.set_painting(False)
    qtbot.mouseClick(pair.A.heatmap.plot, LEFT, pos=place(pair.A.heatmap, 2, 3))
    assert painted_cells(context) == {}
    assert context.document.undo_stack.count() == 0


def test_the_pointer_shows_what_it_would_do(context: Context, pair: Pair) -> None:
    assert pair.A.heatmap.plot.cursor().shape() == Qt.CursorShape.CrossCursor
    assert pair.N.heatmap.plot.cursor().shape() == Qt.CursorShape.ArrowCursor
    context.selection.set_painting(False)
    assert pair.A.heatmap.plot.cursor().shape() == Qt.CursorShape.ArrowCursor


def test_a_stroke_beyond_the_edge_stays_within(qtbot: QtBot, context: Context, pair: Pair) -> None:
    plot = pair.A.heatmap.plot
    qtbot.mousePress(plot, LEFT, pos=place(pair.A.heatmap, 6, 6))
    qtbot.mouseMove(plot, QPoint(plot.width() + 50, plot.height() + 50))
    qtbot.mouseRelease(plot, LEFT, pos=QPoint(plot.width() + 50, plot.height() + 50))
    assert set(painted_cells(context)) == {(6, 6), (7, 7)}


def test_a_stroke_on_a_cell_that_the_document_has_no_more_does_nothing(context: Context, pair: Pair) -> None:
    small = random_experiment(3)
    context.document.apply("fewer", small)
    stroke = Stroke(context.document, context.notices, 6, 6, 0)
    stroke.move_to(1, 1)
    assert context.document.experiment is small


def test_the_action_is_checked_while_painting(context: Context, pair: Pair) -> None:
    action = pair.A.heatmap.menu.paint
    assert action.isChecked()
    action.trigger()
    assert not context.selection.painting
    context.selection.set_painting(True)
    assert action.isChecked()


@pytest.fixture
def notices(context: Context, monkeypatch: pytest.MonkeyPatch) -> list[Notice]:
    """What is said while the mask holds 3 rectangles at most."""
    monkeypatch.setattr(painted, "MAX_RECTANGLES", 3)
    said: list[Notice] = []
    context.notices.said.connect(said.append)
    context.notices.withdrawn.connect(lambda topic: said.clear())
    return said


WORDS = "Painted mask: expected at most 3 rectangles, received 4. What was painted before stays."


def test_a_stroke_of_too_many_rectangles_is_said_once_and_loses_nothing(
    qtbot: QtBot, context: Context, pair: Pair, notices: list[Notice]
) -> None:
    plot, stack = pair.A.heatmap.plot, context.document.undo_stack
    qtbot.mousePress(plot, LEFT, pos=place(pair.A.heatmap, 0, 0))
    for k in range(1, 6):
        qtbot.mouseMove(plot, place(pair.A.heatmap, k, k))
    assert painted_cells(context) == {(k, k): False for k in range(3)}
    assert [(notice.kind, notice.text) for notice in notices] == [(Kind.ERROR, WORDS)]
    pair.settle()
    qtbot.mouseRelease(plot, LEFT, pos=place(pair.A.heatmap, 5, 5))
    assert stack.count() == 1
    # rectangles of before may be painted over
    drag(qtbot, pair.A.heatmap, (0, 0), (0, 1))
    assert painted_cells(context) == {(1, 1): False, (2, 2): False}
    assert notices == []
    stack.undo()
    stack.undo()
    assert painted_cells(context) == {}


def test_a_stroke_that_becomes_fewer_rectangles_is_painted_after_all(
    qtbot: QtBot, context: Context, pair: Pair, notices: list[Notice]
) -> None:
    heatmap = pair.A.heatmap
    zigzag = [(0, 0), (0, 2), (1, 0), (2, 1)]
    cells = {(0, 0), (0, 1), (0, 2), (1, 1), (1, 0), (2, 1)}
    assert len(painted.Painted().with_cells(cells, False).rectangles) == painted.MAX_RECTANGLES
    qtbot.mousePress(heatmap.plot, LEFT, pos=place(heatmap, *zigzag[0]))
    for cell in [*zigzag[1:], (3, 0)]:
        qtbot.mouseMove(heatmap.plot, place(heatmap, *cell))
    assert set(painted_cells(context)) == cells
    assert [notice.text for notice in notices] == [WORDS]
    for cell in [(2, 0), (3, 1)]:
        qtbot.mouseMove(heatmap.plot, place(heatmap, *cell))
    qtbot.mouseRelease(heatmap.plot, LEFT, pos=place(heatmap, 3, 1))
    assert set(painted_cells(context)) == cells | {(3, 0), (2, 0), (3, 1)}
    assert notices == []


def test_space_says_so_as_well(qtbot: QtBot, context: Context, pair: Pair, notices: list[Notice]) -> None:
    pair.A.heatmap.plot.setFocus()
    for k in range(4):
        context.selection.set_cell(k, k)
        qtbot.keyClick(pair.A.heatmap.plot, Qt.Key.Key_Space)
    assert painted_cells(context) == {(k, k): False for k in range(3)}
    assert [notice.text for notice in notices] == [WORDS]
    assert context.document.undo_stack.count() == 3
