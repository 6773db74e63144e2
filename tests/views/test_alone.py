"""One panel alone over the whole width, and all of them back as they were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.files.export_parts import Window
from attn_gui.model.experiment import Experiment
from attn_gui.views.lone_button import LoneButton, corners
from attn_gui.views.main_window import MainWindow
from attn_gui.views.panel import Panel
from tests.views.window_helpers import karina_window, settle

CTRL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
DIGITS = (Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_3, Qt.Key.Key_4)


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path, lambda made: made.resize(1280, 800)) as made:
        yield made


def button(panel: Panel) -> LoneButton:
    (found,) = panel.findChildren(LoneButton)
    return found


def in_sight(window: MainWindow) -> list[Panel]:
    return [panel for panel in window.formula.panels if panel.isVisible()]


def press(qtbot: QtBot, window: MainWindow, panel: Panel) -> None:
    qtbot.mouseClick(button(panel), Qt.MouseButton.LeftButton)
    settle(qtbot, window)


def many(n: int) -> Experiment:
    return Experiment.from_tokens([f"t{k}" for k in range(n)], [[k % 7 / 7, k % 5 / 5, 1.0, k % 3] for k in range(n)])


@pytest.mark.parametrize("number", range(4))
def test_the_button_of_each_panel_has_it_alone_and_brings_the_others_back(
    qtbot: QtBot, window: MainWindow, number: int
) -> None:
    formula, widths = window.formula, window.formula.sizes()
    panel = formula.panels[number]
    shown = button(panel)
    assert (shown.accessibleName(), shown.isChecked()) == ("Show this panel alone", False)
    assert shown.toolTip().startswith("Show this panel alone (")
    press(qtbot, window, panel)
    assert in_sight(window) == [panel]
    assert panel.width() == formula.width()
    assert (shown.accessibleName(), shown.isChecked()) == ("Show all panels", True)
    assert shown.toolTip().startswith("Show all panels (")
    assert formula.rect().contains(shown.mapTo(formula, shown.rect().bottomRight()))
    press(qtbot, window, panel)
    assert in_sight(window) == list(formula.panels)
    assert formula.sizes() == widths


def test_dividers_moved_by_hand_are_where_they_were(qtbot: QtBot, window: MainWindow) -> None:
    formula = window.formula
    formula.moveSplitter(formula.tokens.width() + 60, 1)
    formula.moveSplitter(formula.output.x() - 40, 3)
    QApplication.processEvents()
    widths = formula.sizes()
    for panel in (formula.weights, formula.tokens, formula.scores):
        formula.alone.show(panel)  # from one to the next, without the others in between
        QApplication.processEvents()
    formula.alone.show(None)
    QApplication.processEvents()
    assert formula.sizes() == widths


def test_rows_and_cells_are_as_high_as_before(qtbot: QtBot, window: MainWindow) -> None:
    bands = window.context.bands
    before = bands.pitch, bands.height, bands.header, window.formula.height()
    press(qtbot, window, window.formula.weights)
    assert bands.pitch > before[0], "there is room for cells that are more nearly square"
    press(qtbot, window, window.formula.weights)
    assert (bands.pitch, bands.height, bands.header, window.formula.height()) == before


def test_keys_menu_and_a_double_click_do_the_same(qtbot: QtBot, window: MainWindow) -> None:
    formula = window.formula
    for digit, panel in zip(DIGITS, formula.panels, strict=True):
        qtbot.keyClick(window, digit, CTRL_SHIFT)
        assert in_sight(window) == [panel]
    qtbot.keyClick(window, DIGITS[-1], CTRL_SHIFT)
    assert in_sight(window) == list(formula.panels)
    title = formula.weights.formula
    for expected in ([formula.weights], list(formula.panels)):
        qtbot.mouseDClick(title, Qt.MouseButton.LeftButton)
        assert in_sight(window) == expected
    menu = next(m for m in window.findChildren(QMenu) if m.title() == "Show &alone")
    entries: dict[str, QAction] = {action.text().replace("&", ""): action for action in menu.actions()}
    assert not entries["All panels"].isEnabled()
    entries["Scores A"].trigger()
    assert in_sight(window) == [formula.scores] and entries["Scores A"].isChecked()
    entries["Output"].trigger()
    assert in_sight(window) == [formula.output] and not entries["Scores A"].isChecked()
    qtbot.keyClick(window, Qt.Key.Key_0, CTRL_SHIFT)
    assert in_sight(window) == list(formula.panels) and not entries["Output"].isChecked()


def test_a_double_click_on_a_control_in_the_title_is_that_controls(qtbot: QtBot, window: MainWindow) -> None:
    window.open_example("cat")
    settle(qtbot, window)
    heads = window.formula.heads
    assert heads.isVisible()
    qtbot.mouseDClick(heads.choice, Qt.MouseButton.LeftButton)
    heads.choice.hidePopup()
    qtbot.mouseDClick(heads, Qt.MouseButton.LeftButton, pos=QPoint(1, 1))
    assert window.formula.alone.panel is None


def test_the_switch_of_heads_is_where_the_heatmap_is(qtbot: QtBot, window: MainWindow) -> None:
    window.open_example("cat")
    settle(qtbot, window)
    formula = window.formula
    for panel in (formula.weights, formula.scores, formula.weights):
        formula.alone.show(panel)
        QApplication.processEvents()
        assert formula.heads.isVisible() and panel.isAncestorOf(formula.heads)
        right = [widget.mapTo(panel, QPoint(widget.width(), 0)).x() for widget in (formula.heads, button(panel))]
        assert right[0] < right[1] <= panel.width()
    formula.alone.show(None)
    QApplication.processEvents()
    assert formula.scores.isAncestorOf(formula.heads) and formula.heads.isVisible()


def test_the_focus_stays_in_sight(qtbot: QtBot, window: MainWindow) -> None:
    formula = window.formula
    taker = {
        formula.tokens: formula.tokens.table,
        formula.scores: formula.scores.heatmap.plot,
        formula.weights: formula.weights.heatmap.plot,
        formula.output: formula.output.table,
    }
    for panel, there in taker.items():
        formula.alone.show(None)
        other: QWidget = formula.output.table if panel is not formula.output else formula.tokens.table
        other.setFocus()
        formula.alone.show(panel)
        assert QApplication.focusWidget() is there
        qtbot.keyClick(there, Qt.Key.Key_F6)
        assert QApplication.focusWidget() is there, "no other panel is gone to"
        formula.alone.show(None)
        assert QApplication.focusWidget() is there
    window.top_bar.variant.setFocus()
    formula.alone.show(formula.weights)
    assert QApplication.focusWidget() is window.top_bar.variant, "what is elsewhere stays there"


@pytest.mark.parametrize("number", range(4))
def test_rows_fill_the_panel_that_is_alone(qtbot: QtBot, window: MainWindow, number: int) -> None:
    context, formula = window.context, window.formula
    context.document.apply("Many", many(60))
    settle(qtbot, window)
    panel = formula.panels[number]
    formula.alone.show(panel)
    for height in (800, 660, 900):
        window.resize(1280, height)
        for _ in range(3):
            settle(qtbot, window)
        if panel in (formula.scores, formula.weights):
            seen = panel.heatmap.plot.area.height()
        else:
            table = formula.tokens.table if panel is formula.tokens else formula.output.table
            seen = table.viewport().height()
            context.selection.set_cell(59, 0)
            settle(qtbot, window)
            last = table.visualRect(table.model().index(59, 0))
            assert last.top() >= 0 and last.bottom() < seen
        assert context.bands.height == seen


def test_where_one_is_is_told_of_the_heatmap_in_sight(qtbot: QtBot, window: MainWindow) -> None:
    context, formula = window.context, window.formula
    context.document.apply("Many", many(400))
    settle(qtbot, window)
    formula.alone.show(formula.weights)
    settle(qtbot, window)
    window.resize(1280, 900)
    context.bands.show_rows(100, 200)
    formula.weights.heatmap.plot.columns.show_keys(300, 350)
    settle(qtbot, window)
    grid = formula.weights.heatmap.plot.grid
    assert formula.in_sight() == Window((grid.queries.start, grid.queries.stop), (grid.keys.start, grid.keys.stop))
    formula.go_to(20, 30)
    settle(qtbot, window)
    grid = formula.weights.heatmap.plot.grid
    assert 20 in grid.queries and 30 in grid.keys and 300 not in grid.keys
    asked = formula.scores.heatmap.pictures.ask
    formula.alone.show(None)
    settle(qtbot, window)
    settle(qtbot, window)
    assert formula.scores.heatmap.pictures.ask != asked, "what was out of sight is asked for as it comes back"
    scores = formula.scores.heatmap.plot.grid
    assert (scores.queries, scores.keys) == (
        formula.weights.heatmap.plot.grid.queries,
        formula.weights.heatmap.plot.grid.keys,
    )


def test_a_walk_that_points_elsewhere_brings_all_back(qtbot: QtBot, window: MainWindow) -> None:
    formula = window.formula
    formula.alone.show(formula.tokens)
    window.walk_through()
    settle(qtbot, window)
    assert window.walk is not None
    walking = window.walk.walking
    walking.go_to(walking.stops.index("N"))
    settle(qtbot, window)
    assert in_sight(window) == list(formula.panels)


def test_a_tour_has_all_panels_and_gives_back_the_one(qtbot: QtBot, window: MainWindow) -> None:
    formula = window.formula
    formula.alone.show(formula.output)
    window.tours.start(0)
    settle(qtbot, window)
    assert in_sight(window) == list(formula.panels)
    formula.alone.show(formula.tokens)
    window.tours.next.trigger()
    settle(qtbot, window)
    assert in_sight(window) == list(formula.panels), "a step may speak of any of them"
    window.tours.leave()
    settle(qtbot, window)
    assert in_sight(window) == [formula.output]


def test_a_panel_with_nothing_in_it_is_not_alone(qtbot: QtBot, window: MainWindow) -> None:
    formula, document = window.formula, window.context.document
    formula.alone.show(formula.scores)
    document.apply("Given", Experiment.from_weights([[0.5, 0.5], [0.25, 0.75]], [[1.0, 2.0], [3.0, 4.0]]))
    settle(qtbot, window)
    assert in_sight(window) == list(formula.panels) and formula.scores.absent
    assert not button(formula.scores).isEnabled() and button(formula.scores).toolTip() == formula.scores.absent
    formula.alone.show(formula.weights)
    assert formula.weights.isAncestorOf(formula.heads)
    document.undo_stack.undo()
    settle(qtbot, window)
    assert button(formula.scores).isEnabled() and in_sight(window) == [formula.weights]


def test_the_choice_is_the_windows_and_not_kept(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    document, session = window.context.document, window.context.document.session
    window.formula.alone.show(window.formula.weights)
    assert document.session is session and not document.modified
    window.close()
    with karina_window(qtbot, tmp_path) as again:
        assert in_sight(again) == list(again.formula.panels)


def test_the_button_points_out_and_in(qtbot: QtBot, window: MainWindow) -> None:
    for inwards in (False, True):
        for corner in corners(inwards):
            meet, end = corner.at(1), corner.at(0)
            assert (abs(meet.x()) < abs(end.x())) == inwards
    shown = button(window.formula.scores)
    pictures = []
    for theme in ("light", "dark", "contrast"):
        window.context.settings.theme = theme
        QApplication.processEvents()
        for lone in (False, True):
            window.formula.alone.show(window.formula.scores if lone else None)
            QApplication.processEvents()
            QApplication.sendEvent(shown, QEvent(QEvent.Type.Leave))
            pictures.append(shown.grab().toImage())
    assert all(a != b for k, a in enumerate(pictures) for b in pictures[:k])
    assert all((image.width(), image.height()) == (20, 20) for image in pictures)
