"""Why this number: the drawer, its links, Back, copies, and how it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import QApplication, QTableView
from pytestqt.qtbot import QtBot

from attn_gui.compute.deriving import derive
from attn_gui.compute.trace import trace
from attn_gui.files.derivation_text import latex, markdown, plain_text
from attn_gui.model.derivation import Cell, DerivationAsk, Parameter
from attn_gui.model.exercise import Exercise
from attn_gui.model.masks import Causal
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.views.context import Context
from attn_gui.views.drawers.weights_drawer import WeightsDrawer
from attn_gui.views.main_window import MainWindow
from attn_gui.views.theme import THEMES
from attn_gui.views.why.asking import TEXT
from attn_gui.views.why.why_drawer import WhyDrawer
from attn_gui.views.why_line import WhyLine
from tests.views.drawer_helpers import asks_recorded, open_experiment, several_heads
from tests.views.window_helpers import karina_window, settle

Traced = Callable[[], None]


@pytest.fixture
def parameters() -> list[Parameter]:
    return []


@pytest.fixture
def drawer(context: Context, qtbot: QtBot, wait_traced: Traced, parameters: list[Parameter]) -> WhyDrawer:
    made = WhyDrawer(context, parameters.append)
    qtbot.addWidget(made)
    made.resize(900, 300)
    context.document.start()
    made.show()
    qtbot.waitExposed(made)
    wait_traced()
    return made


def text_of(drawer: WhyDrawer) -> str:
    """What would be copied of all that is seen."""
    drawer.steps.selectAll()
    text = drawer.steps.createMimeDataFromSelection().text()
    drawer.steps.moveCursor(QTextCursor.MoveOperation.Start)
    return text


def links(drawer: WhyDrawer) -> dict[str, QUrl]:
    """The links by the names of their operands, the first of each."""
    found: dict[str, QUrl] = {}
    at = 0
    while (operand := drawer.steps.operand_at(QUrl(f"#{at}"))) is not None:
        found.setdefault(operand.name, QUrl(f"#{at}"))
        at += 1
    return found


def follow(drawer: WhyDrawer, name: str, wait: Traced) -> None:
    drawer.steps.anchorClicked.emit(links(drawer)[name])
    wait()


def test_the_steps_of_the_selected_weight_are_shown_and_follow_the_selection(
    drawer: WhyDrawer, context: Context, wait_traced: Traced
) -> None:
    assert drawer.told.text() == "N of “is” for “the” = 0.2226, float32"
    text = text_of(drawer)
    for line in ("0 × 1 + 1 × 1 = 1", "1 / √2 = 0.7071", "0.4931 + 1 + 1 + 1 + 1 = 4.4931", "1 / 4.4931 = 0.2226"):
        assert line in text
    assert "q · k = ∑" in text, "a formula is copied as text"
    context.selection.set_cell(2, 2)
    wait_traced()
    assert drawer.told.text().startswith("N of “to” for “to” = 0.2711")
    context.document.apply("Mask", replace(context.document.experiment, rule=Causal()))
    wait_traced()
    context.selection.set_cell(0, 3)
    wait_traced()
    assert "masked by “Causal”" in text_of(drawer)


def test_a_number_leads_to_where_it_came_from_and_back_again(
    drawer: WhyDrawer, context: Context, wait_traced: Traced
) -> None:
    assert not drawer.back.isEnabled()
    follow(drawer, "exponential for “karina”", wait_traced)
    assert drawer.told.text().startswith("A of “is” for “karina” = 0,")
    assert (context.selection.query, context.selection.key) == (1, 0), "it is selected in the heatmaps"
    follow(drawer, "key “karina”, dimension 2", wait_traced)
    assert drawer.told.text().startswith("K of “karina”, dimension 2 = 0,")
    follow(drawer, "x of “karina”, dimension 1", wait_traced)
    assert drawer.told.text().startswith("X of “karina”, dimension 1 = 1,")
    assert context.selection.query == 0
    for told in ("K of “karina”, dimension 2", "A of “is” for “karina”", "N of “is” for “the”"):
        assert drawer.back.isEnabled()
        drawer.back.trigger()
        wait_traced()
        assert drawer.told.text().startswith(told)
    assert (context.selection.query, context.selection.key) == (1, 3)
    assert not drawer.back.isEnabled()


def test_every_link_of_every_stage_can_be_followed(
    drawer: WhyDrawer, context: Context, wait_traced: Traced, parameters: list[Parameter]
) -> None:
    open_experiment(context, several_heads(2, width=4))
    wait_traced()
    for stage in ("output", "N"):
        drawer.go(Cell(stage, 1, 1, 1))
        wait_traced()
        for name in links(drawer):
            before, known = drawer.told.text(), len(parameters)
            follow(drawer, name, wait_traced)
            if len(parameters) == known:
                assert drawer.told.text() != before
                drawer.back.trigger()
                wait_traced()
            assert drawer.told.text() == before
    assert {parameter.table for parameter in parameters} == {"W_O"}


def test_from_number_to_number_by_keyboard(
    drawer: WhyDrawer, context: Context, qtbot: QtBot, wait_traced: Traced
) -> None:
    qtbot.waitActive(drawer)
    drawer.setFocus()
    assert drawer.steps.hasFocus()
    qtbot.keyClick(drawer.steps, Qt.Key.Key_Tab)
    assert drawer.pointed.text() == "query “is”, dimension 1"
    qtbot.keyClick(drawer.steps, Qt.Key.Key_Tab)
    assert drawer.pointed.text() == "key “the”, dimension 1"
    qtbot.keyClick(drawer.steps, Qt.Key.Key_Return)
    wait_traced()
    assert drawer.told.text().startswith("K of “the”, dimension 1")
    qtbot.keyClick(drawer.steps, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    wait_traced()
    assert drawer.told.text().startswith("N of “is” for “the”")


def test_a_screen_reader_has_the_steps_as_text(drawer: WhyDrawer, context: Context) -> None:
    derivation = drawer.steps.derivation
    assert derivation is not None
    assert drawer.steps.accessibleName() == "Steps of N of “is” for “the”"
    assert drawer.steps.accessibleDescription() == plain_text(derivation, context.settings.decimals)
    cursor = drawer.steps.textCursor()
    cursor.setPosition(drawer.steps.document().toRawText().index("0.4931") + 1)
    assert cursor.charFormat().toolTip() == "exponential for “karina”"


def test_copies_are_those_of_the_derivation(drawer: WhyDrawer, context: Context) -> None:
    expected = derive(trace(context.document.experiment), DerivationAsk("N", 0, 1, 3))
    actions = {action.text().replace("&", ""): action for action in drawer.copy_button.menu().actions()}
    for name, write in (("Text", plain_text), ("Markdown", markdown), ("LaTeX", latex)):
        actions[name].trigger()
        assert QGuiApplication.clipboard().text() == write(expected, 4)
    context.settings.decimals = 2
    actions["Text"].trigger()
    assert QGuiApplication.clipboard().text() == plain_text(expected, 2)
    assert "= 0.22, float32" in drawer.told.text()


def test_a_cell_that_an_edit_removes_gives_way_to_the_selected_weight(
    drawer: WhyDrawer, context: Context, wait_traced: Traced
) -> None:
    masked = replace(context.document.experiment, rule=Causal())
    context.document.apply("Mask", masked)
    drawer.go(Cell("X", 0, 4, 1))
    wait_traced()
    assert drawer.told.text().startswith("X of “store”, dimension 2")
    e = several_heads()
    open_experiment(context, e)
    wait_traced()
    assert drawer.told.text().startswith("X of “t4”, dimension 2"), "the same place of another experiment"


def test_what_an_exercise_hides_is_neither_derived_nor_left_standing(
    drawer: WhyDrawer, context: Context, qtbot: QtBot, wait_traced: Traced
) -> None:
    line = WhyLine(context)
    qtbot.addWidget(line)
    wait_traced()
    assert "0.2226" in line.line.accessibleName()
    asked = NamedExperiment("asked", context.document.experiment, exercise=Exercise(("N",)))
    context.document.open(Session((asked,)), None)
    wait_traced()
    assert line.line.text() == line.line.toolTip() == line.line.accessibleName() == ""
    assert drawer.steps.derivation is None and drawer.steps.accessibleDescription() == ""
    assert drawer.told.text() == "" and not drawer.copy_button.isEnabled()
    assert drawer.empty.isVisible() and drawer.empty.accessibleName() == "Hidden"
    drawer.go(Cell("raw", 0, 1, 3))
    wait_traced()
    assert drawer.told.text().startswith("raw of “is” for “the” = 1,"), "what comes before it is shown"


def test_out_of_sight_nothing_is_asked(drawer: WhyDrawer, context: Context, wait_traced: Traced) -> None:
    with asks_recorded(context.feed) as asks:
        drawer.hide()
        context.selection.set_cell(0, 0)
        wait_traced()
    assert [ask for slot, ask in asks if slot == "why.steps"] == [None]
    assert drawer.steps.derivation is None, "no number of an older trace is seen when it is opened again"
    drawer.show()
    wait_traced()
    assert drawer.told.text().startswith("N of “karina” for “karina”")


def test_the_steps_fit_their_width_in_every_theme(drawer: WhyDrawer, context: Context, wait_traced: Traced) -> None:
    for name in THEMES:
        context.settings.theme = name
        QApplication.processEvents()
        document = drawer.steps.document()
        for width in (560, 1256):
            assert drawer.steps.needed_height(width) > 100
            document.setTextWidth(width)
            assert document.idealWidth() <= width
        colours = {link_colour(drawer)}
        assert colours == {context.look.theme.accent}


def link_colour(drawer: WhyDrawer) -> str:
    cursor = drawer.steps.textCursor()
    cursor.setPosition(drawer.steps.document().toRawText().index("0.4931") + 1)
    return cursor.charFormat().foreground().color().name()


# in the window


@pytest.fixture(scope="module")
def module_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("why")


@pytest.fixture
def window(qtbot: QtBot, module_folder: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, module_folder) as made:
        yield made


def why_dock(window: MainWindow) -> WhyDrawer | None:
    dock = next(dock for dock in window.docks if dock.objectName() == "why")
    found = dock.widget()
    assert found is None or isinstance(found, WhyDrawer)
    return found if dock.isVisible() else None


def told(window: MainWindow, qtbot: QtBot) -> str:
    settle(qtbot, window)
    drawer = why_dock(window)
    assert drawer is not None
    return drawer.told.text()


def test_the_line_of_why_opens_to_all_steps(window: MainWindow, qtbot: QtBot) -> None:
    assert why_dock(window) is None
    window.why.line.setFocus()
    qtbot.keyClick(window.why.line, Qt.Key.Key_Return)
    assert told(window, qtbot) == "N of “is” for “the” = 0.2226, float32"
    drawer = why_dock(window)
    assert drawer is not None and drawer.steps.hasFocus()
    dock = next(dock for dock in window.docks if dock.objectName() == "why")
    dock.close()
    qtbot.mouseDClick(window.why.line, Qt.MouseButton.LeftButton, pos=QPoint(20, 8))
    assert told(window, qtbot).startswith("N of “is”")

    # a cell of the output, of a heatmap and of the Stages drawer
    table = window.formula.output.table
    table.setCurrentIndex(table.model().index(2, 1))
    menu_action(table).trigger()
    assert told(window, qtbot) == "output of “to”, dimension 2 = 0.8663, float32"
    window.context.selection.set_cell(4, 0)
    window.formula.scores.heatmap.menu.why.trigger()
    assert told(window, qtbot).startswith("A_masked of “store” for “karina” = 0.3536")
    stages = next(dock for dock in window.docks if dock.objectName() == "stages")
    stages.toggleViewAction().trigger()
    settle(qtbot, window)
    shown = stages.widget()
    shown.show_stage("K")
    settle(qtbot, window)
    shown.table.setCurrentIndex(shown.table.model().index(3, 1))
    menu_action(shown.table).trigger()
    assert told(window, qtbot) == "K of “the”, dimension 2 = 1, float32"

    # a weight of the projection is shown where it is edited
    drawer = why_dock(window)
    assert drawer is not None
    drawer.steps.anchorClicked.emit(links(drawer)["W_K, row 2, column 2"])
    settle(qtbot, window)
    projections = next(dock for dock in window.docks if dock.objectName() == "weights").widget()
    assert isinstance(projections, WeightsDrawer) and projections.isVisible()
    assert projections.model.part is not None and projections.model.part.name == "W_K"
    index = projections.table.currentIndex()
    assert (index.row(), index.column()) == (1, 1)


def menu_action(table: QTableView):  # type: ignore[no-untyped-def]
    return next(action for action in table.extra_actions if action is not None and action.text() == TEXT)
