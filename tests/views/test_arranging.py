"""Hiding special tokens and merging sub-words in the real window: what is drawn, said, copied, and left alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QAction, QGuiApplication, QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.control.notices import Kind, Notice
from attn_gui.files.session import load, save
from attn_gui.model.arranging import HIDE, MERGE, Arrangement
from attn_gui.model.derivation import Cell
from attn_gui.model.exercise import Exercise, hidden_by
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.views.bands import HEADER
from attn_gui.views.figures import percentages
from attn_gui.views.heatmap.heatmap import Heatmap
from attn_gui.views.main_window import MainWindow
from tests.views.window_helpers import cell_rect, karina_window, settle

BERT = ("[CLS]", "un", "##believ", "##able", "play", "##ers", "won", "[SEP]")
WORDS = ("unbelievable", "players", "won")
PLACES = ([1, 2, 3], [4, 5], [6])
BOTH = Arrangement(True, True)
LEFT = Qt.MouseButton.LeftButton


def experiment(**fields: object) -> Experiment:
    rng = np.random.default_rng(2)
    Q, K, V = (rng.standard_normal((2, 8, 4)) * 2 for _ in range(3))
    return Experiment.from_qkv(Q, K, V, tokens=BERT, **fields)


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        made.context.document.open(Session((NamedExperiment("Sub-words", experiment()),)), None)
        settled(qtbot, made)
        yield made


def settled(qtbot: QtBot, window: MainWindow) -> None:
    settle(qtbot, window)
    qtbot.wait(60)  # what is said comes a moment after one has stopped moving
    settle(qtbot, window)


def arrange(qtbot: QtBot, window: MainWindow, arrangement: Arrangement) -> None:
    window.context.arranging.choose(arrangement)
    settled(qtbot, window)


def weights(window: MainWindow, head: int = 0) -> np.ndarray:
    """N by its definition, in float64."""
    e = window.context.document.experiment
    Q, K = (np.asarray(e.source.parts()[name][head], np.float64) for name in "QK")
    allowed = e.allowed(slice(0, e.n_q), slice(0, e.n_k))
    raised = np.where(allowed, np.exp(Q @ K.T / np.sqrt(Q.shape[1])), 0)
    return raised / raised.sum(axis=1, keepdims=True)


def merged(N: np.ndarray) -> np.ndarray:
    return np.array([[np.mean([sum(N[i, j] for j in keys) for i in queries]) for keys in PLACES] for queries in PLACES])


def entry(window: MainWindow, name: str) -> QAction:
    view = next(a.menu() for a in window.menuBar().actions() if a.text() == "&View")
    view.aboutToShow.emit()
    return next(a for a in view.actions() if a.text().replace("&", "").startswith(name))


def heatmaps(window: MainWindow) -> tuple[Heatmap, Heatmap]:
    return window.formula.scores.heatmap, window.formula.weights.heatmap


def labels(heatmap: Heatmap) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(heatmap.plot.row_labels._labels), tuple(heatmap.plot.column_labels._labels)


def test_the_menu_merges_and_hides_and_brings_back(qtbot: QtBot, window: MainWindow) -> None:
    before = [heatmap.pictures.latest for heatmap in heatmaps(window)]
    entry(window, "Hide special").trigger()
    settled(qtbot, window)
    for heatmap in heatmaps(window):
        assert labels(heatmap) == (BERT[1:-1], BERT[1:-1])
    entry(window, "Merge sub-words").trigger()
    settled(qtbot, window)
    N = weights(window)
    for heatmap in heatmaps(window):
        assert labels(heatmap) == (WORDS, WORDS)
    shown = heatmaps(window)[1].pictures.latest
    assert shown is not None
    np.testing.assert_allclose(shown.values, merged(N), rtol=1e-5)
    assert not window.context.document.modified
    assert not window.context.document.undo_stack.canUndo()
    for name in ("Hide special", "Merge sub-words"):
        assert entry(window, name).isChecked()
        entry(window, name).trigger()
    settled(qtbot, window)
    for heatmap, picture in zip(heatmaps(window), before, strict=True):
        assert labels(heatmap) == (BERT, BERT)
        assert picture is not None and heatmap.pictures.latest is not None
        np.testing.assert_array_equal(heatmap.pictures.latest.index, picture.index)
    trace = window.context.feed.trace
    assert trace is not None
    np.testing.assert_allclose(trace.stage("N", 0), N, rtol=1e-5)


def test_what_there_is_nothing_of_is_disabled_with_the_reason(qtbot: QtBot, tmp_path: Path) -> None:
    with karina_window(qtbot, tmp_path) as window:
        for name, why in (("Hide special", "there are none"), ("Merge sub-words", "no word has several pieces")):
            action = entry(window, name)
            assert not action.isEnabled()
            assert why in action.text()


def test_the_read_out_says_what_a_number_is_made_of_and_what_is_hidden(qtbot: QtBot, window: MainWindow) -> None:
    arrange(qtbot, window, BOTH)
    window.context.selection.set_cell(4, 2)
    settled(qtbot, window)
    N, scores = weights(window), heatmaps(window)[0]
    hidden = N[[4, 5]][:, [0, 7]].sum() / 2
    told = heatmaps(window)[1].readout.sentence.full
    value = f"{merged(N)[1, 0]:.4f}"
    assert told == (
        f"query players → key unbelievable: {value} (sum over 3 keys, mean over 2 queries); "
        f"{hidden:.0%} of the queries’ weight is on 2 hidden tokens"
    )
    assert "(mean of 6 cells)" in scores.readout.sentence.full
    assert f"{hidden:.0%} of the queries’ weight" in scores.readout.sentence.full
    spoken = heatmaps(window)[1].plot.accessibleDescription()
    assert spoken.startswith("query players, key unbelievable, head 1, weight")
    assert "hidden tokens" in spoken
    # pointing selecting and picking go by what is drawn
    arrange(qtbot, window, BOTH)
    main, here = window.context.selection, window.context.arranging.selection
    plot = heatmaps(window)[1].plot
    qtbot.mouseClick(plot, LEFT, pos=cell_rect(heatmaps(window)[1], 2, 1).center())
    assert ((here.query, here.key), (main.query, main.key)) == ((2, 1), (6, 4))
    main.set_cell(5, 2)  # another piece, in the token table
    assert ((here.query, here.key), (main.query, main.key)) == ((1, 0), (5, 2))
    main.set_cell(0, 7)  # what is not drawn
    assert (here.query, here.key) == (0, 2)
    assert (main.query, main.key) == (0, 7)
    qtbot.mouseMove(plot, cell_rect(heatmaps(window)[1], 1, 2).center())
    assert (here.hover, main.hover) == ((1, 2), (4, 6))
    main.set_hover(None)
    assert here.hover is None
    here.pick(frozenset({1}), frozenset({0, 2}))
    assert (main.queries, main.keys) == (frozenset({4, 5}), frozenset({1, 2, 3, 6}))
    settled(qtbot, window)
    N = merged(weights(window))
    assert f"sum over 2 keys for 'players': {N[1, 0] + N[1, 2]:.4f}" in heatmaps(window)[1].readout.sentence.full
    main.pick(frozenset({0, 1}), frozenset())
    assert here.queries == frozenset({0})
    here.set_head(1)
    assert main.head == 1
    main.set_head("mean")
    assert here.head == "mean"


def test_the_mask_is_not_changed_where_words_are_merged_and_it_is_said(qtbot: QtBot, window: MainWindow) -> None:
    told: list[Notice] = []
    window.context.notices.said.connect(told.append)
    document, scores = window.context.document, heatmaps(window)[0]
    before = document.experiment

    def click() -> None:
        window.context.selection.set_painting(True)
        qtbot.mouseClick(scores.plot, LEFT, pos=cell_rect(scores, 1, 1).center())
        window.context.selection.set_painting(False)

    def press_space() -> None:
        scores.plot.setFocus()
        qtbot.keyClick(scores.plot, Qt.Key.Key_Space)

    for change in (click, press_space):
        arrange(qtbot, window, BOTH)
        told.clear()
        change()
        assert document.experiment is before
        assert [n.kind for n in told] == [Kind.WARNING]
        assert "Merge sub-words and Hide special tokens" in told[0].text
        arrange(qtbot, window, Arrangement())
        change()
        assert document.experiment is not before
        before = document.experiment


def test_the_table_the_clipboard_and_the_picture_are_of_what_is_drawn(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    arrange(qtbot, window, BOTH)
    N, heatmap = merged(weights(window)), heatmaps(window)[1]
    heatmap.outlet.copy_matrix()
    settled(qtbot, window)
    rows = [line.split("\t") for line in QGuiApplication.clipboard().text().splitlines()]
    np.testing.assert_allclose(np.array(rows, float), N, rtol=1e-5)
    heatmap.show_table(True)
    settled(qtbot, window)
    model = heatmap.twin.values
    assert (model.rowCount(), model.columnCount()) == (3, 3)
    assert model.description(0, 1).startswith("query unbelievable, key players, head 1, weight")
    heatmap.show_table(False)
    target = tmp_path / "n.svg"
    with qtbot.waitSignal(heatmap.outlet.images.written, timeout=10_000):
        heatmap.outlet.save(target)
    drawn = target.read_text(encoding="utf-8")
    for text in (*WORDS, "sub-words merged (sum over keys, mean over queries), 2 special tokens hidden"):
        assert text in drawn
    assert "##" not in drawn and "[CLS]" not in drawn


def drawer(qtbot: QtBot, window: MainWindow, name: str) -> QWidget:
    dock = next(dock for dock in window.docks if dock.objectName() == name)
    if dock.isHidden():
        dock.toggleViewAction().trigger()
    dock.raise_()
    settled(qtbot, window)
    made = dock.widget()
    assert made is not None
    return made


def test_why_tells_how_the_numbers_of_the_pieces_add_up(qtbot: QtBot, window: MainWindow) -> None:
    arrange(qtbot, window, BOTH)
    here = window.context.arranging.selection
    here.set_cell(1, 0)
    settled(qtbot, window)
    N = weights(window)
    expected = f"{merged(N)[1, 0]:.4f}"
    line = window.why.line.accessibleName()
    assert line.startswith(f"Why {expected}? N of “players” for “unbelievable”, head 1; Sum for “play”: ")
    assert f"Mean over queries: ({N[4, 1:4].sum():.4f} + {N[5, 1:4].sum():.4f}) / 2 = {expected}" in line
    heatmaps(window)[1].menu.why.trigger()
    why = drawer(qtbot, window, "why")
    derivation = why.steps.derivation
    assert derivation is not None and derivation.what == "N of “players” for “unbelievable”, head 1"
    assert [step.name for step in derivation.steps] == ["Sum for “play”", "Sum for “##ers”", "Mean over queries"]
    np.testing.assert_allclose(derivation.value, merged(N)[1, 0], rtol=1e-5)
    # each piece's own number can be gone on to, and come back from
    piece = derivation.steps[1].operands[2].source
    assert piece == Cell("N", 0, 5, 3)
    why.go(piece)
    settled(qtbot, window)
    derivation = why.steps.derivation
    assert derivation is not None and derivation.what == "N of “##ers” for “##able”, head 1"
    why.back.trigger()
    settled(qtbot, window)
    assert why.steps.derivation is not None and "players" in why.steps.derivation.what
    # of scores it is the mean of what is allowed
    document = window.context.document
    document.apply("Causal", replace(document.experiment, rule=Causal()))
    here.set_cell(1, 1)
    heatmaps(window)[0].menu.why.trigger()
    settled(qtbot, window)
    shown = heatmaps(window)[0].pictures.latest
    assert shown is not None and why.steps.derivation is not None
    assert why.steps.derivation.cell == Cell("A_masked", 0, 4, 4)
    np.testing.assert_allclose(why.steps.derivation.value, shown.values[1, 1], rtol=1e-5)
    assert len(why.steps.derivation.steps[0].operands) == 4  # three of four cells, and how many
    # a place of one token is derived as ever
    here.set_cell(2, 2)
    settled(qtbot, window)
    assert why.steps.derivation.cell == Cell("N", 0, 6, 6) and len(why.steps.derivation.steps) > 3
    # and all are, token by token, once nothing is merged
    here.set_cell(1, 0)
    settled(qtbot, window)
    arrange(qtbot, window, Arrangement())
    assert why.steps.derivation.what == "N of “play” for “un”, head 1"
    assert "“play” → “un”" in window.why.line.accessibleName()


def test_what_is_hidden_is_not_left_selected_and_what_is_selected_all_the_same_is_said(
    qtbot: QtBot, window: MainWindow
) -> None:
    main, here = window.context.selection, window.context.arranging.selection
    told: list[Notice] = []
    window.context.notices.said.connect(told.append)
    main.set_cell(0, 7)
    arrange(qtbot, window, Arrangement(hide_special=True))
    assert (main.query, main.key) == (1, 6) == (here.query + 1, here.key + 1)
    assert not told
    main.set_cell(0, 6)  # in the table, where every token can be edited
    assert (main.query, main.key) == (0, 6)
    assert [n.text for n in told] == ["“[CLS]” is hidden in the heatmaps, which mark “un”"]
    window.context.document.apply("Causal", replace(window.context.document.experiment, rule=Causal()))
    settled(qtbot, window)
    assert (main.query, main.key) == (0, 6), "an edit moves nothing"
    with qtbot.waitSignal(window.context.notices.withdrawn):
        main.set_cell(2, 6)


def test_compare_follows_and_its_figures_are_of_every_token(qtbot: QtBot, window: MainWindow) -> None:
    window.pins.pin.trigger()
    document = window.context.document
    before = weights(window)
    document.apply("Causal", replace(document.experiment, rule=Causal()))
    settled(qtbot, window)
    compare = drawer(qtbot, window, "compare")
    qtbot.waitUntil(lambda: compare.comparing.figures is not None, timeout=30_000)
    figures = compare.comparing.figures
    arrange(qtbot, window, BOTH)
    qtbot.waitUntil(lambda: compare.comparing.figures is not None, timeout=30_000)
    settled(qtbot, window)
    views = compare.body.views
    wanted = merged(before), merged(weights(window)), merged(weights(window)) - merged(before)
    for view, expected in zip(views, wanted, strict=True):
        assert labels(view.heatmap) == (WORDS, WORDS)
        shown = view.heatmap.pictures.latest
        assert shown is not None
        np.testing.assert_allclose(shown.values, expected, rtol=1e-4, atol=1e-6)
    assert compare.comparing.figures == figures
    assert "Pictures: words merged, 2 hidden; figures and CSV: every token" in compare.told.text()
    # a cell is the same everywhere
    here, main = window.context.arranging.selection, window.context.selection
    compare.body.selection.set_cell(2, 1)
    assert (here.query, here.key, main.query, main.key) == (2, 1, 6, 4)
    main.set_cell(5, 2)
    assert (compare.body.selection.query, compare.body.selection.key) == (1, 0)
    settled(qtbot, window)
    assert compare.body.readout.text().startswith("players → unbelievable: ")
    assert f"{merged(before)[1, 0]:.4f}" in compare.body.readout.text()
    assert figures.largest is not None
    compare.body._go_to(f"cell {figures.largest.i} {figures.largest.j}")
    assert (main.query, main.key) == (figures.largest.i, figures.largest.j)
    # a stage that is not of queries and keys has a row for every token
    compare._choose(compare_stage="V")
    settled(qtbot, window)
    assert compare.body.bands.count == 8 and "merged" not in compare.told.text()
    compare._choose(compare_stage="N")
    arrange(qtbot, window, Arrangement())
    assert labels(views[2].heatmap) == (BERT, BERT)


def test_flow_follows_and_says_what_goes_to_hidden_tokens(qtbot: QtBot, window: MainWindow) -> None:
    flow = drawer(qtbot, window, "flow")
    arrange(qtbot, window, BOTH)
    qtbot.waitUntil(lambda: flow.canvas.flow is not None and flow.canvas.flow.drawn is not None, timeout=30_000)
    found, N = flow.canvas.flow, weights(window)
    assert flow.canvas.experiment.tokens.tokens == WORDS
    lines = {(int(i), int(j)): w for i, j, w in zip(found.query, found.key, found.weight, strict=True)}
    for (i, j), weight in lines.items():
        assert weight == pytest.approx(merged(N)[i, j], rel=1e-5)
    assert len(lines) == 9
    gone = sum(np.mean(N[queries][:, [0, 7]].sum(axis=1)) for queries in PLACES) / 3
    assert f"words merged (sum over keys, mean over queries); {gone:.0%} goes to 2 hidden tokens" in flow.told.text()
    flow.canvas.point_at(("query", 1))
    assert flow.told.text().startswith("Query players looks at ")
    assert f"{N[[4, 5]][:, [0, 7]].sum() / 2:.0%} to hidden tokens" in flow.told.text()
    flow.canvas._select(("query", 2))
    assert window.context.selection.query == 6
    flow.canvas.point_at(None)
    arrange(qtbot, window, Arrangement())
    qtbot.waitUntil(lambda: flow.canvas.flow is not None and flow.canvas.flow.drawn is None, timeout=30_000)
    assert flow.canvas.experiment.tokens.tokens == BERT and "hidden" not in flow.told.text()


def test_numbers_of_every_token_are_said_to_be_so(qtbot: QtBot, window: MainWindow) -> None:
    stages = drawer(qtbot, window, "stages")
    window.files.export.trigger()
    dialog = window.files.dialog
    for arrangement, said in ((BOTH, True), (Arrangement(), False)):
        arrange(qtbot, window, arrangement)
        for name, form in (("N", "table"), ("V", "table"), ("V", "heatmap")):
            stages.show_stage(name)
            stages._choose_form(form)
            assert ("every token, none hidden or merged" in stages.told.text()) is said
            assert stages.model.rowCount() == 8 or form == "heatmap"
        stages.show_stage("N")
        assert "every token" not in stages.told.text()
        stages._choose_form("table")
        assert ("Every token is written" in dialog.plan.text()) is said
    dialog.close()


def test_an_exercise_asks_for_every_token_and_shows_what_they_are_worked_out_from(
    qtbot: QtBot, window: MainWindow
) -> None:
    e = experiment()
    posed = NamedExperiment("x", replace(e, hidden=hidden_by(("N",))), exercise=Exercise(("N",), 3, 2))
    window.context.document.open(Session((posed,), view={HIDE: True, MERGE: True}), None)
    settled(qtbot, window)
    assert window.exercise is not None
    table = window.exercise.work.table
    assert table.model().rowCount() == table.model().columnCount() == 8
    assert labels(heatmaps(window)[0]) == (BERT, BERT)
    assert "the exercise asks for every token" in entry(window, "Merge sub-words").text()
    window.context.selection.set_cell(4, 1)
    settled(qtbot, window)
    assert window.why.line.text() == ""
    # what hides nothing is drawn as the person wants it
    window.context.document.apply_named("solved", NamedExperiment("x", e))
    settled(qtbot, window)
    assert labels(heatmaps(window)[0]) == (WORDS, WORDS)


def test_a_tour_is_as_ever_and_leaves_the_choice(qtbot: QtBot, window: MainWindow) -> None:
    arrange(qtbot, window, BOTH)
    window.context.arranging.selection.set_cell(1, 0)
    window.tours.start(0)
    settled(qtbot, window)
    assert labels(heatmaps(window)[1])[0][0] == "karina" and len(labels(heatmaps(window)[1])[0]) == 5
    assert window.context.arranging.selection.query == window.context.selection.query
    window.tours.leave()
    settled(qtbot, window)
    assert labels(heatmaps(window)[1]) == (WORDS, WORDS)
    assert (window.context.selection.query, window.context.selection.key) == (4, 1)


def test_thumbnails_and_stages_follow(qtbot: QtBot, window: MainWindow) -> None:
    arrange(qtbot, window, BOTH)
    for name in ("heads", "stages"):
        next(dock for dock in window.docks if dock.objectName() == name).toggleViewAction().trigger()
        settled(qtbot, window)
    window.docks[2].raise_()
    settled(qtbot, window)
    asks = {ask for slot, ask in window.context.feed._asks.items() if slot.startswith("head.")}
    assert asks and all(ask.arranged == BOTH for ask in asks)
    stages = next(dock for dock in window.docks if dock.objectName() == "stages")
    stages.raise_()
    stages.widget().show_stage("raw")
    stages.widget()._choose_form("heatmap")
    settled(qtbot, window)
    assert labels(stages.widget().heatmaps["raw"].heatmap) == (WORDS, WORDS)
    arrange(qtbot, window, Arrangement())
    assert labels(stages.widget().heatmaps["raw"].heatmap) == (BERT, BERT)


def test_an_edit_is_drawn_in_the_same_way(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    arrange(qtbot, window, BOTH)
    document = window.context.document
    document.apply("Causal", replace(document.experiment, rule=Causal()))
    settled(qtbot, window)
    shown = heatmaps(window)[1].pictures.latest
    assert shown is not None
    np.testing.assert_allclose(shown.values, merged(weights(window)), rtol=1e-5)
    assert labels(heatmaps(window)[1]) == (WORDS, WORDS)
    document.undo_stack.undo()
    settled(qtbot, window)
    np.testing.assert_allclose(heatmaps(window)[1].pictures.latest.values, merged(weights(window)), rtol=1e-5)
    # a text without special tokens is drawn whole meanwhile
    arrange(qtbot, window, BOTH)
    plain = NamedExperiment("plain", Experiment.from_tokens(["a", "b"], np.eye(2)))
    window.context.document.apply_named("plain", plain)
    settled(qtbot, window)
    assert labels(heatmaps(window)[1]) == (("a", "b"), ("a", "b"))
    assert entry(window, "Hide special").isEnabled()  # it can be given up
    window.context.document.undo_stack.undo()
    settled(qtbot, window)
    assert labels(heatmaps(window)[1]) == (WORDS, WORDS)
    # the session keeps the choice
    arrange(qtbot, window, BOTH)
    save(window.context.document.session, tmp_path / "x.attn")
    again = load(tmp_path / "x.attn")
    assert (again.view[HIDE], again.view[MERGE]) == (True, True)
    arrange(qtbot, window, Arrangement())
    window.context.document.open(again, tmp_path / "x.attn")
    settled(qtbot, window)
    assert labels(heatmaps(window)[0]) == (WORDS, WORDS)


def test_tables_have_rows_of_their_own_and_all_of_them_can_be_seen(qtbot: QtBot, window: MainWindow) -> None:
    bands, table = window.context.bands, window.formula.tokens.table
    assert bands.aligned
    arrange(qtbot, window, BOTH)
    assert not bands.aligned and bands.count == 3
    assert bands.tokens == (0, 8)
    assert table.model().rowCount() == 8
    for row in (7, 0, 5):
        window.context.selection.set_cell(row, 1)
        settled(qtbot, window)
        assert table.viewport().rect().intersects(table.visualRect(table.model().index(row, 0)))
    arrange(qtbot, window, Arrangement())
    assert bands.aligned and bands.count == 8


def test_what_is_in_sight_is_told_in_tokens(qtbot: QtBot, window: MainWindow) -> None:
    arrange(qtbot, window, BOTH)
    seen = window.formula.in_sight()
    assert (seen.rows, seen.columns) == ((1, 7), (1, 7))
    window.formula.go_to(6, 6)
    arrange(qtbot, window, Arrangement())
    seen = window.formula.in_sight()
    assert (seen.rows, seen.columns) == ((0, 8), (0, 8))
    # zoomed in it says what the whole was
    arrange(qtbot, window, BOTH)
    heatmap = heatmaps(window)[1]
    for _ in range(6):
        heatmap.menu.zoom_in.trigger()
    settled(qtbot, window)
    arrange(qtbot, window, Arrangement(hide_special=True))
    arrange(qtbot, window, Arrangement())
    heatmap.menu.fit.trigger()
    settled(qtbot, window)
    np.testing.assert_allclose(heatmap.pictures.latest.values, weights(window), rtol=1e-5)
    # a click far below the rows selects nothing
    arrange(qtbot, window, BOTH)
    here = window.context.arranging.selection
    here.set_cell(1, 1)
    plot = heatmaps(window)[1].plot
    qtbot.mouseClick(plot, LEFT, pos=QPoint(plot.area.right() + 1, plot.area.bottom()))
    QApplication.processEvents()
    assert (here.query, here.key) == (1, 1)


@pytest.mark.parametrize("arrangement", [BOTH, Arrangement(True, False), Arrangement(False, True)])
@pytest.mark.parametrize("head", [0, "mean"])
def test_the_sentence_on_top_tells_what_is_drawn(
    window: MainWindow, qtbot: QtBot, arrangement: Arrangement, head: int | str
) -> None:
    window.context.selection.set_head(head)
    window.context.selection.set_cell(4, 1)
    arrange(qtbot, window, arrangement)
    found = window.context.arranging.found
    assert found is not None
    N = weights(window) if head == 0 else (weights(window, 0) + weights(window, 1)) / 2
    queries = [4, 5] if arrangement.merge_words else [4]
    row = N[queries].mean(axis=0)
    drawn = [row[start:stop].sum() for start, stop in zip(found.keys.starts, found.keys.stops, strict=True)]
    plain = all(name.isalpha() for name in found.keys.names)
    names = [name if plain else f"“{name}”" for name in found.keys.names]
    unseen = [row[0] + row[7]] if arrangement.hide_special else []
    figures = percentages([*map(float, drawn), *map(float, unseen)])
    told = [f"{name} {share}" for name, share in zip(names, figures, strict=False)]
    told += [f"2 hidden tokens {figures[-1]}"] if unseen else []
    start = "In head 1, " if head == 0 else "On the mean of the heads, "
    query = "players" if arrangement.merge_words else "play"
    assert window.sentence.sentence.accessibleName() == f"{start}“{query}” looks at {', '.join(told)}."
    arrange(qtbot, window, Arrangement())
    assert "“[SEP]” " in window.sentence.sentence.accessibleName()


def test_a_row_whose_every_allowed_key_is_hidden_says_where_its_weight_is(window: MainWindow, qtbot: QtBot) -> None:
    e = window.context.document.experiment
    forbidden = [(2, j) for j in range(1, 8)]
    window.context.document.apply("mask", replace(e, painted=e.painted.with_cells(forbidden, False)))
    window.context.selection.set_cell(2, 1)
    arrange(qtbot, window, Arrangement(True, False))
    assert window.sentence.sentence.accessibleName() == "In head 1, “##believ” looks at 2 hidden tokens 100%."


def test_the_sums_say_that_hidden_keys_are_among_what_is_added(window: MainWindow, qtbot: QtBot) -> None:
    column = heatmaps(window)[1].plot.sums
    assert column is not None and column.accessibleDescription() == "every row sums to 1"

    def told_at(y: int) -> str:
        at = QPoint(column.width() // 2, y)
        QApplication.sendEvent(column, QHelpEvent(QEvent.Type.ToolTip, at, column.mapToGlobal(at)))
        return QToolTip.text()

    arrange(qtbot, window, Arrangement(True, False))
    assert column.accessibleDescription() == "every row sums to 1; of every key, the 2 hidden keys too"
    assert told_at(4) == "Sums of the rows: of every key, the 2 hidden keys too"
    assert told_at(column.height() // 2).endswith("; of every key, the 2 hidden keys too")
    column.set_header(HEADER)
    head = column.grab(QRect(0, 0, column.width(), HEADER)).toImage()
    edges = [(x, y) for x in range(head.width()) for y in (0, head.height() - 1)]
    edges += [(x, y) for x in (0, head.width() - 1) for y in range(head.height())]
    assert len({head.pixel(x, y) for x, y in edges}) == 1, "no letter of its heading is cut off"
    assert len({head.pixel(x, head.height() // 2) for x in range(head.width())}) > 1
    arrange(qtbot, window, Arrangement(False, True))
    assert column.accessibleDescription() == "every row sums to 1", "of merged pieces every one is drawn"
