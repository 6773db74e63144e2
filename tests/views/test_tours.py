"""Tours are played from start to end, and leave everything as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.files import examples, tours
from attn_gui.model.edits import set_cells
from attn_gui.model.session import Session
from attn_gui.model.tour import PLACES, Step
from attn_gui.views.main_window import MainWindow
from attn_gui.views.shortcuts import shortcuts
from attn_gui.views.tour.bar import TourBar
from attn_gui.views.tour.guide import Guide
from tests.views.window_helpers import karina_window, settle, type_in

TOURS = list(tours.listed())


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made


def guide_of(window: MainWindow) -> Guide:
    guide = window.tours.guide
    assert guide is not None
    return guide


def started(window: MainWindow, number: int = 0) -> TourBar:
    window.tours.start(number)
    QApplication.processEvents()
    return guide_of(window).bar


def edit(window: MainWindow, value: float) -> None:
    document = window.context.document
    document.apply(f"to {value}", set_cells(document.experiment, "tokens", 0, 0, value))


def state(window: MainWindow) -> dict[str, Any]:
    """What a tour must leave as it was."""
    context, stack = window.context, window.context.document.undo_stack
    s = context.selection
    return {
        "session": context.document.session,
        "path": context.document.path,
        "history": (stack.index(), [stack.text(k) for k in range(stack.count())]),
        "modified": window.isWindowModified(),
        "selection": (s.head, s.query, s.key, s.queries, s.keys, s.painting),
        "title": window.windowTitle(),
        "drawers": [(dock.objectName(), dock.isVisible()) for dock in window.docks],
        "note": window.sentence.note.text(),
    }


def clipped(widget: QWidget) -> list[str]:
    """The texts below ``widget`` that have less room than they need."""
    found = []
    for label in widget.findChildren(QLabel) + widget.findChildren(QPushButton):
        if not label.isVisible() or not label.text():
            continue
        wraps = isinstance(label, QLabel) and label.wordWrap()
        needed = label.heightForWidth(label.width()) if wraps else label.sizeHint().height()
        wide = not wraps and label.sizeHint().width() > label.width()
        inside = widget.rect().contains(label.geometry().translated(label.parentWidget().mapTo(widget, QPoint())))
        if needed > label.height() or wide or not inside:
            found.append(label.text())
    return found


def check_stop(window: MainWindow, bar: TourBar) -> None:
    guide, formula = guide_of(window), window.formula
    assert window.width() == 1280 and window.height() == 720
    assert clipped(bar) == [] and clipped(guide.instrument.widget()) == []
    assert bar.visibleRegion().boundingRect() == bar.rect()
    assert formula.visibleRegion().boundingRect() == formula.rect(), "something covers the formula"
    assert bar.mapTo(window, bar.rect().bottomLeft()).y() < formula.mapTo(window, QPoint()).y()
    scene = guide.touring.scene
    assert scene is not None and window.context.document.experiment is scene.named.experiment
    selection = window.context.selection
    assert (selection.head, (selection.query, selection.key)) == (scene.head, scene.cell)
    assert guide.outline.target is (None if scene.highlight is None else guide.places()[scene.highlight])
    assert [dock.objectName() for dock in window.docks if dock.isVisible()] == [scene.drawer] * (
        scene.drawer is not None
    )
    if scene.instrument is not None:
        scroll = guide.instrument.widget().verticalScrollBar()
        assert guide.instrument.isVisible() and scroll.maximum() == 0, "the instrument needs more room than there is"


def play(qtbot: QtBot, window: MainWindow, number: int, pictures: Path) -> None:
    """Play a tour; a picture of each place, to be looked at, goes to ``pictures``."""
    bar = started(window, number)
    touring, instrument = guide_of(window).touring, guide_of(window).instrument
    tour, heights = touring.tour, set[tuple[bool, int]]()
    assert tour is not None
    for place in range(len(tour)):
        assert touring.place == place and f"{place + 1} of {len(tour)}" in bar.place.text()
        # what stands in the bar does not wait for the numbers, but the size of an instrument does
        if place == 0:
            settle(qtbot, window)
        QApplication.processEvents()
        check_stop(window, bar)
        if not isinstance(touring.stop, Step):
            assert not bar.answer.isVisible() and not bar.try_it.isVisible()
            bar.reveal.click()
            assert bar.answer.accessibleName() == touring.stop.answer.text and bar.try_it.isEnabled()
            bar.try_it.click()
            QApplication.processEvents()
            check_stop(window, bar)
            assert not bar.try_it.isEnabled()
        picture = window.grab().toImage()
        assert picture.save(str(pictures / f"tour-{number + 1}-{place + 1}.png"))
        written = picture.copy(bar.geometry().translated(bar.mapTo(window, QPoint()) - bar.pos()))
        inks = {written.pixel(x, y) for x in range(0, written.width(), 2) for y in range(0, written.height(), 2)}
        assert len(inks) > 2, "nothing is written in the bar"
        heights.add((instrument.isHidden(), bar.height()))
        bar.next.click()
    assert touring.tour is None and bar.isHidden()
    assert len(heights) == len({hidden for hidden, _ in heights}), "the formula does not jump from step to step"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_tour_is_played_and_leaves_everything_as_it_was(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, theme: str
) -> None:
    window.context.settings.theme = theme
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    window.resize(1280, 720)
    edit(window, 2)
    edit(window, 3)
    window.context.document.undo_stack.undo()
    window.context.selection.set_cell(4, 2)
    window.docks[1].toggleViewAction().trigger()
    window.context.settings.first_tour = False
    settle(qtbot, window)
    before = state(window)
    for number in range(len(TOURS)):
        play(qtbot, window, number, pictures)
        settle(qtbot, window)
        assert state(window) == before
    assert len(list(pictures.iterdir())) == sum(len(tours.load(tour.path)) for tour in TOURS)
    window.context.document.undo_stack.redo()
    assert window.context.document.experiment.tokens.embeddings[0, 0] == 3


def test_every_place_that_a_tour_may_point_at_is_there(window: MainWindow) -> None:
    started(window)
    places = guide_of(window).places()
    assert set(places) == set(PLACES)
    assert len({id(place) for place in places.values()}) == len(PLACES)
    assert all(place.isVisible() for name, place in places.items() if name != "heads")


def test_keys_go_through_a_tour_and_escape_leaves_it(window: MainWindow, qtbot: QtBot) -> None:
    before = state(window)
    bar = started(window)
    touring = guide_of(window).touring
    assert bar.next.hasFocus()
    qtbot.keyClick(window.formula.tokens.table, Qt.Key.Key_F8)
    assert touring.place == 1
    qtbot.keyClick(bar.next, Qt.Key.Key_PageDown)
    assert touring.place == 2
    qtbot.keyClick(bar.next, Qt.Key.Key_PageUp)
    qtbot.keyClick(window, Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)
    assert touring.place == 0 and not bar.back.isEnabled() and not window.tours.back.isEnabled()
    for focused in (bar.next, window.formula.tokens.table, window.formula.weights.heatmap.plot, window.top_bar.heads):
        if touring.tour is None:
            started(window)
        qtbot.keyClick(focused, Qt.Key.Key_Escape)
        assert touring.tour is None, focused
        settle(qtbot, window)
        assert state(window) == before
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert state(window) == before


def test_escape_ends_what_it_always_ended_first(window: MainWindow, qtbot: QtBot) -> None:
    started(window)
    touring, table = guide_of(window).touring, window.formula.tokens.table
    window.context.selection.set_painting(True)
    qtbot.keyClick(window.formula.scores.heatmap.plot, Qt.Key.Key_Escape)
    assert not window.context.selection.painting and touring.tour is not None
    table.setFocus()
    table.setCurrentIndex(table.model().index(1, 1))
    qtbot.keyClicks(table, "7")
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert touring.tour is not None
    qtbot.keyClick(table, Qt.Key.Key_Escape)
    assert touring.tour is None


def test_what_is_half_typed_is_taken_before_a_tour_begins(window: MainWindow, qtbot: QtBot) -> None:
    table = window.formula.tokens.table
    table.setFocus()
    table.setCurrentIndex(table.model().index(0, 1))
    qtbot.keyClicks(table, "7")
    window.tours.start(0)
    guide_of(window).bar.leave.click()
    assert window.context.document.experiment.tokens.embeddings[0, 0] == 7
    qtbot.keyClicks(table, "x")
    window.tours.start(0)
    assert guide_of(window).touring.tour is None, "one stays to read why it was refused"


def test_what_is_changed_in_a_tour_can_be_had_back(window: MainWindow, qtbot: QtBot) -> None:
    edit(window, 2)
    bar = started(window)
    assert not window.isWindowModified()
    type_in(qtbot, window.formula.tokens.table, 1, 1, "9")
    assert not window.isWindowModified() and window.context.document.undo_stack.canUndo()
    bar.leave.click()
    document = window.context.document
    assert document.experiment.tokens.embeddings[0, 0] == 2 and window.tours.keep.isEnabled()
    window.tours.keep.trigger()
    assert document.experiment.tokens.embeddings[1, 0] == 9 and not window.tours.keep.isEnabled()
    document.undo_stack.undo()
    assert document.experiment.tokens.embeddings[0, 0] == 2


def test_a_number_in_the_text_selects_its_cell(window: MainWindow, qtbot: QtBot) -> None:
    bar = started(window)
    bar.step(3)
    stop = guide_of(window).touring.stop
    assert [claim.place for claim in stop.text.claims] == [(0, 1, 3), (0, 1, 0)]
    bar.text.linkActivated.emit("1")
    assert (window.context.selection.query, window.context.selection.key) == (1, 0)


def test_the_window_closes_in_a_tour_as_it_was_before_it(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(window, "_may_go", lambda work: asked.append(work.name) or True)
    edit(window, 2)
    started(window, 4)
    edit(window, 5)
    assert guide_of(window).instrument.isVisible()
    window.close()
    assert asked == ["Karina"], "the person's work alone"
    assert guide_of(window).touring.tour is None and guide_of(window).instrument.isHidden()


def test_opening_something_else_ends_the_tour(window: MainWindow, qtbot: QtBot) -> None:
    bar = started(window, 4)
    window.new_session()
    settle(qtbot, window)
    assert guide_of(window).touring.tour is None and bar.isHidden()
    assert guide_of(window).instrument.isHidden() and guide_of(window).outline.target is None
    assert window.context.document.session.named.name == "Karina"


def test_a_text_that_is_ready_in_a_later_tour_does_not_take_its_place(window: MainWindow, qtbot: QtBot) -> None:
    before, shown = window.context.document.session, list[str]()
    window.context.notices.said.connect(lambda notice: shown.append(notice.text))
    window.open_long_example(1024)
    bar = started(window)
    settle(qtbot, window)
    scene = guide_of(window).touring.scene
    assert scene is not None and window.context.document.experiment is scene.named.experiment
    assert "1,024 words was not shown" in shown[-1]
    bar.leave.click()
    assert window.context.document.session is before and not window.tours.keep.isEnabled()


def test_what_was_selected_before_is_not_selected_in_what_is_opened(window: MainWindow, qtbot: QtBot) -> None:
    selection = window.context.selection
    selection.set_cell(4, 0)
    started(window, 0)
    settle(qtbot, window)
    at = selection.query, selection.key
    window.context.document.open(Session((examples.load("karina"),)), None)
    assert (selection.query, selection.key) == at != (4, 0)


def test_a_tour_that_cannot_be_read_changes_nothing(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "broken.md"
    path.write_text("# A\n\n## B\n\ntext\n", encoding="utf-8")
    monkeypatch.setattr(tours, "listed", lambda: (tours.Listed(path, "A", "B."),))
    said: list[str] = []
    window.context.notices.said.connect(lambda notice: said.append(notice.text))
    before = state(window)
    started(window)
    assert state(window) == before and guide_of(window).bar.isHidden()
    assert len(said) == 1 and "example: " in said[0] and "broken.md" in said[0]


def test_the_menu_lists_the_tours_and_the_sheet_their_keys(window: MainWindow, qtbot: QtBot) -> None:
    menu = window.tours.menu
    learn = next(a.menu() for a in window.menuBar().actions() if a.text() == "&Learn")
    assert isinstance(learn, QMenu) and menu.menuAction() in learn.actions()
    menu.aboutToShow.emit()
    texts = [action.text() for action in menu.actions()[: len(TOURS)]]
    assert texts == [f"&{k + 1}  {tour.title}" for k, tour in enumerate(TOURS)]
    assert ("Next step", "F8") in shortcuts(window.menuBar())
    action: QAction = menu.actions()[2]
    action.trigger()
    assert guide_of(window).bar.place.text().startswith("Many heads: 1 of ")


def test_the_sliders_measure_anew(window: MainWindow, qtbot: QtBot) -> None:
    started(window, 4)
    settle(qtbot, window)
    view = guide_of(window).instrument.saturation
    assert view.divided.isChecked() and "2.50 at 0.125" in view.entropy.accessibleDescription()
    view.d_k.setValue(9)
    settle(qtbot, window)
    assert view.divided.isChecked() and "2.46 at 0.04419" in view.entropy.accessibleDescription()
    view.scale.setValue(0)
    settle(qtbot, window)
    assert not view.divided.isChecked() and "0.10 at 1;" in view.entropy.accessibleDescription()
    assert "0.04 at 1;" in view.gradient.accessibleDescription()
    assert "key 1 100%" in view.row.accessibleDescription()


def test_the_influence_follows_the_selection_and_the_experiment(window: MainWindow, qtbot: QtBot) -> None:
    started(window, 5)
    settle(qtbot, window)
    view = guide_of(window).instrument.influence
    assert view.title.text() == "What reaches “was”" and "cat 37%" in view.bars.accessibleDescription()
    window.context.selection.set_cell(7, 0)
    assert view.title.text() == "What reaches “hungry”"
    qtbot.mouseClick(view.recurrent, Qt.MouseButton.LeftButton, pos=QPoint(20, 30))
    assert window.context.selection.query == 0 and "RNN: the 100%" in view.bars.accessibleDescription()
    window.top_bar.variant.chosen.emit(window.context.document.experiment.variant.CROSS)
    settle(qtbot, window)
    assert view.refusal.isVisible() and not view.bars.isVisible()


def test_nothing_of_a_tour_is_made_before_one_is_asked_for(window: MainWindow) -> None:
    assert window.tours.guide is None and not window.tours.next.isEnabled() and not window.tours.keep.isEnabled()


def test_a_number_of_an_answer_is_looked_at_where_it_is_so(window: MainWindow, qtbot: QtBot) -> None:
    bar = started(window)
    touring = guide_of(window).touring
    assert touring.tour is not None
    touring.go_to(len(touring.tour) - 1)
    bar.reveal.click()
    claim = bar.touring.stop.answer.claims[0]  # type: ignore[union-attr]
    assert not touring.answered and claim.place is not None
    bar.answer.followed.emit(*claim.place)
    assert touring.answered
    settle(qtbot, window)
    head, query, key = claim.place
    qtbot.waitUntil(lambda: f"{claim.text}" in window.sentence.sentence.accessibleName())
    selection = window.context.selection
    assert (selection.head, selection.query, selection.key) == (head, query, key)


def test_questions_are_asked_of_what_the_answers_start_from(window: MainWindow) -> None:
    started(window)
    touring = guide_of(window).touring
    assert touring.tour is not None
    touring.go_to(len(touring.tour.steps))
    assert window.context.document.experiment.tokens.embeddings[1, 0] == 0, "not what the last step made of it"
    started(window, 6)
    touring.go_to(len(touring.tour.steps))
    assert window.context.document.experiment.rule.kind == "none" and window.context.selection.head == "mean"


def test_what_the_step_speaks_of_can_be_set_up_again(window: MainWindow, qtbot: QtBot) -> None:
    bar = started(window, 2)
    touring, document = guide_of(window).touring, window.context.document
    bar.next.click()
    scene, height = touring.scene, bar.height()
    assert scene is not None and not bar.again.isVisible()
    window.open_example("karina")  # the words in the bar are of another experiment now
    assert bar.again.isVisible() and document.session.named.name == "Karina"
    assert clipped(bar) == [] and bar.height() == height
    bar.again.click()
    assert document.experiment is scene.named.experiment and not bar.again.isVisible()
    document.undo_stack.undo()
    assert document.session.named.name == "Karina" and bar.again.isVisible()
    document.undo_stack.undo()
    assert document.experiment is scene.named.experiment and not bar.again.isVisible()
    document.undo_stack.undo()  # beyond the step, to what the step before spoke of
    assert bar.again.isVisible() is (document.experiment is not scene.named.experiment)
    bar.next.click()
    assert not bar.again.isVisible()
    bar.go_away()


@pytest.mark.parametrize("number", [4, 5])
def test_an_instrument_never_covers_the_bar_and_is_docked_where_there_is_room(
    window: MainWindow, qtbot: QtBot, number: int
) -> None:
    window.resize(960, 640)
    bar = started(window, number)
    guide = guide_of(window)
    tour = guide.touring.tour
    assert tour is not None
    while not guide.instrument.isVisible():
        bar.next.click()
    settle(qtbot, window)

    def on_screen(widget: QWidget) -> QRect:
        return QRect(widget.mapToGlobal(QPoint()), widget.size())

    assert guide.instrument.isFloating()
    assert not guide.instrument.frameGeometry().intersects(on_screen(bar))
    assert on_screen(window).contains(on_screen(guide.instrument))
    window.resize(1280, 720)
    settle(qtbot, window)
    assert not guide.instrument.isFloating() and guide.instrument.isVisible()
    window.resize(960, 640)
    settle(qtbot, window)
    assert guide.instrument.isFloating()
    bar.go_away()
