"""Check my work on real widgets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from attn_gui.control.document import Document
from attn_gui.files import examples
from attn_gui.files.session import load, save
from attn_gui.model.check import GivenTable, Verdict
from attn_gui.model.edits import delete_tokens
from attn_gui.model.exercise import Exercise
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.views.check.check_drawer import CheckDrawer
from attn_gui.views.check.check_table import CheckTable
from attn_gui.views.check.kept import MOST_KEPT, VIEW, Kept
from attn_gui.views.context import Context
from attn_gui.views.theme import THEMES
from tests.views.drawer_helpers import open_experiment, several_heads

Traced = Callable[[], None]


@pytest.fixture
def drawer(context: Context, qtbot: QtBot, wait_traced: Traced) -> CheckDrawer:
    """The drawer open on the Karina example."""
    made = CheckDrawer(context)
    qtbot.addWidget(made)
    made.resize(900, 260)
    context.document.start()
    made.show()
    qtbot.waitExposed(made)
    wait_traced()
    return made


def typed(drawer: CheckDrawer, qtbot: QtBot, row: int, column: int, text: str) -> None:
    """Type into a cell as a person does."""
    drawer.table.setFocus()
    drawer.table.go_to(row, column)
    qtbot.keyClicks(drawer.table, text[0])
    editor = drawer.table.editing
    qtbot.keyClicks(editor, text[1:])
    qtbot.keyClick(editor, Qt.Key.Key_Return)


def paste(drawer: CheckDrawer, text: str) -> None:
    drawer.table.go_to(0, 0)
    QGuiApplication.clipboard().setText(text)
    drawer.table.blocks.paste()


def lines(drawer: CheckDrawer) -> list[str]:
    return [drawer.given.item(row).text() for row in range(drawer.given.count())]


def verdicts(drawer: CheckDrawer) -> list[list[Verdict]]:
    rows, columns = range(drawer.model.rowCount()), range(drawer.model.columnCount())
    return [[drawer.model.verdict(row, column) for column in columns] for row in rows]


def block(values: np.ndarray, decimals: int = 4) -> str:
    return "\n".join("\t".join(f"{value:.{decimals}f}" for value in row) for row in values)


def test_the_model_keeps_qts_rules(drawer: CheckDrawer, qtbot: QtBot) -> None:
    drawer.take_printed()
    ModelTester(drawer.model).check(drawer.model)


def test_a_cell_is_judged_as_it_is_typed(drawer: CheckDrawer, qtbot: QtBot, wait_traced: Traced) -> None:
    assert "Type or paste your A: 5 × 5 numbers" in drawer.summary.text()
    typed(drawer, qtbot, 0, 0, "0.71")
    typed(drawer, qtbot, 2, 2, "1,42")
    wait_traced()
    assert drawer.model.verdict(0, 0) is Verdict.RIGHT
    assert drawer.model.verdict(2, 2) is Verdict.WRONG
    assert drawer.model.verdict(1, 1) is Verdict.BLANK
    assert drawer.model.index(2, 2).data(Qt.ItemDataRole.ToolTipRole) == "wrong, 0.00579 too large"
    spoken = drawer.model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "A, query karina, key karina, 0.71, right"
    assert drawer.summary.text().startswith("1 of 2 right, 23 not answered.")
    assert lines(drawer) == ["A   1 of 2 right"]


def test_karinas_printed_tables_are_one_click_away(drawer: CheckDrawer, qtbot: QtBot, wait_traced: Traced) -> None:
    assert drawer.printed.isVisible() and drawer.printed.text() == "Karina’s printed tables"
    qtbot.mouseClick(drawer.printed, Qt.MouseButton.LeftButton)
    wait_traced()
    assert drawer.summary.text() == "20 of 25 right. All 25 fit √2 taken as 1.41."
    assert lines(drawer) == ["A   20 of 25 right", "N   0 of 25 right", "output   0 of 10 right"]
    assert sum(row.count(Verdict.WRONG) for row in verdicts(drawer)) == 5
    drawer.given.setCurrentRow(2)
    wait_traced()
    assert drawer.key == ("output", 0)
    assert "follows neither from your own N nor from the right one" in drawer.summary.text()


def test_they_are_offered_with_no_other_example(drawer: CheckDrawer, context: Context, wait_traced: Traced) -> None:
    context.document.depart("Example", examples.load("cat_one_head"))
    wait_traced()
    assert not drawer.printed.isVisible()


def test_what_follows_from_an_earlier_table_has_an_arrow(
    drawer: CheckDrawer, context: Context, wait_traced: Traced
) -> None:
    scores = np.array(context.feed.trace.stage("A", 0)).round(1)  # type: ignore[union-attr]
    paste(drawer, block(scores, 1))
    drawer.show_stage("N")
    paste(drawer, block(np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)))
    wait_traced()
    judged = [verdict for row in verdicts(drawer) for verdict in row]
    assert judged.count(Verdict.CARRIED) > 0 and judged.count(Verdict.WRONG) == 0
    place = divmod(judged.index(Verdict.CARRIED), 5)
    words = drawer.model.index(*place).data(Qt.ItemDataRole.ToolTipRole)
    assert words.startswith("follows from your own A, which is rounded")


@pytest.mark.parametrize(
    "text",
    [
        "0.71 0.0 0.71 0.71 0.35\n0 0.71 0.71 0.71 0.71",
        "0.71, 0.0, 0.71, 0.71, 0.35\n0, 0.71, 0.71, 0.71, 0.71",
        "[[0.71 0.0 0.71 0.71 0.35]\n [0 0.71 0.71 0.71 0.71]]",
        "0,71\t0,0\t0,71\t0,71\t0,35\n0\t0,71\t0,71\t0,71\t0,71",
    ],
)
def test_blocks_come_in_as_people_have_them(drawer: CheckDrawer, wait_traced: Traced, text: str) -> None:
    paste(drawer, text)
    wait_traced()
    assert verdicts(drawer)[0] == verdicts(drawer)[1] == [Verdict.RIGHT] * 5
    assert verdicts(drawer)[2] == [Verdict.BLANK] * 5


def test_what_is_no_number_is_refused_at_its_place(drawer: CheckDrawer, qtbot: QtBot) -> None:
    typed(drawer, qtbot, 0, 0, "0.7x")
    assert drawer.table.held and drawer.table.reason.text() == "‘0.7x’ is not a number"
    assert drawer.model.table.is_blank
    editor = drawer.table.editing
    assert editor is not None
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    paste(drawer, "0.7\tx")
    assert "row 1, column 2" in drawer.table.reason.text() and drawer.model.table.is_blank


def test_delete_empties_and_undo_brings_back(drawer: CheckDrawer, qtbot: QtBot, context: Context) -> None:
    paste(drawer, "0.71\t0.5")
    drawer.table.blocks.clear()
    assert drawer.model.table.is_blank
    before = context.document.undo_stack.count()
    qtbot.keyClick(drawer.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert drawer.model.table.cells[0][:2] == ("0.71", "0.5")
    qtbot.keyClick(drawer.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert drawer.model.table.is_blank
    qtbot.keyClick(drawer.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert not drawer.model.table.is_blank
    assert context.document.undo_stack.count() == before == 0


def test_clear_empties_one_table(drawer: CheckDrawer, qtbot: QtBot, wait_traced: Traced) -> None:
    drawer.take_printed()
    qtbot.mouseClick(drawer.clear, Qt.MouseButton.LeftButton)
    wait_traced()
    assert lines(drawer) == ["N   0 of 25 right", "output   0 of 10 right"]
    assert not drawer.clear.isEnabled()
    drawer.show_stage("N")
    wait_traced()
    # nothing is left that the weights could follow from
    assert "your own" not in drawer.summary.text()


def test_what_is_typed_stays_while_stages_and_heads_change(
    drawer: CheckDrawer, context: Context, wait_traced: Traced
) -> None:
    open_experiment(context, several_heads())
    wait_traced()
    context.selection.set_head(1)
    drawer.show_stage("N")
    paste(drawer, "0.5\t0.25")
    context.selection.set_head(2)
    assert drawer.model.table.is_blank and drawer.key == ("N", 2)
    drawer.show_stage("output")
    paste(drawer, "0.125")
    wait_traced()
    assert [line.split("   ")[0] for line in lines(drawer)] == ["N of head 2", "output"]
    drawer.given.setCurrentRow(0)
    assert context.selection.head == 1 and drawer.model.table.cells[0][:2] == ("0.5", "0.25")
    context.selection.set_head("mean")
    assert drawer.key == ("N", "mean")
    drawer.show_stage("V")
    assert drawer.key == ("V", 0)


def test_another_shape_keeps_what_was_typed(drawer: CheckDrawer, context: Context, wait_traced: Traced) -> None:
    drawer.take_printed()
    wait_traced()
    context.document.apply("Delete token", delete_tokens(context.document.experiment, "tokens", [4]))
    wait_traced()
    assert (drawer.model.rowCount(), drawer.model.columnCount()) == (4, 4)
    assert drawer.summary.text() == "12 of 16 right. All 16 fit √2 taken as 1.41."
    context.document.undo_stack.undo()
    wait_traced()
    assert drawer.summary.text() == "20 of 25 right. All 25 fit √2 taken as 1.41."


def test_without_judging_as_one_types_nothing_is_said_before_check(
    drawer: CheckDrawer, qtbot: QtBot, wait_traced: Traced
) -> None:
    drawer.live_box.setChecked(False)
    assert not drawer.live
    drawer.take_printed()
    wait_traced()
    assert {v for row in verdicts(drawer) for v in row} == {Verdict.BLANK}
    assert lines(drawer) == ["A   not checked", "N   not checked", "output   not checked"]
    assert drawer.button.isEnabled()
    qtbot.mouseClick(drawer.button, Qt.MouseButton.LeftButton)
    wait_traced()
    assert lines(drawer) == ["A   20 of 25 right", "N   not checked", "output   not checked"]
    drawer.show_stage("N")
    assert {v for row in verdicts(drawer) for v in row} == {Verdict.BLANK}
    drawer.show_stage("A")
    wait_traced()
    assert drawer.summary.text().startswith("20 of 25 right.")
    typed(drawer, qtbot, 2, 2, "1.41")
    wait_traced()
    assert {v for row in verdicts(drawer) for v in row} == {Verdict.BLANK}
    assert lines(drawer)[0] == "A   not checked"
    drawer.live_box.setChecked(True)
    wait_traced()
    assert lines(drawer)[0] == "A   21 of 25 right" and not drawer.button.isEnabled()


def test_a_file_comes_in_with_its_decimals(
    drawer: CheckDrawer, qtbot: QtBot, tmp_path: Path, wait_traced: Traced
) -> None:
    path = tmp_path / "V.csv"
    drawer.show_stage("V")
    path.write_text("key,v1,v2\na,1.0,0.00\nb,0,1\nc,1,1\nd,1,1\ne,0.5,2\n", encoding="utf-8")
    drawer.open_file(path)
    wait_traced()
    assert drawer.model.table.cells[0] == ("1.0", "0.00")
    assert drawer.summary.text().startswith("9 of 10 right.")
    path.write_text("1,2\n", encoding="utf-8")
    drawer.open_file(path)
    qtbot.waitUntil(lambda: "expected 5 × 2 numbers, received 1 × 2" in drawer.summary.text())
    assert drawer.model.table.cells[0] == ("1.0", "0.00")


def test_what_is_pasted_may_have_names_around_it(drawer: CheckDrawer, wait_traced: Traced) -> None:
    names = "\tkarina\tis\tto\tthe\tstore\n"
    paste(drawer, names + "\n".join(f"{k}\t0.1\t0.2\t0.3\t0.4\t0.5" for k in "abcde"))
    assert drawer.model.table.cells == (("0.1", "0.2", "0.3", "0.4", "0.5"),) * 5


def test_a_column_with_decimal_commas_is_pasted_as_a_column(drawer: CheckDrawer) -> None:
    paste(drawer, "0,5\n0,25\n0,75")
    assert [row[:2] for row in drawer.model.table.cells[:3]] == [("0,5", ""), ("0,25", ""), ("0,75", "")]


def test_what_is_too_large_is_refused_with_both_sizes(drawer: CheckDrawer) -> None:
    block = [["0.1"] * 9] * 7
    assert drawer.model.set_block(0, 0, block, "Paste") == "Expected 5 × 5 numbers, received 7 × 9"
    assert drawer.model.table.is_blank


def test_the_session_keeps_it(drawer: CheckDrawer, context: Context, tmp_path: Path, wait_traced: Traced) -> None:
    drawer.take_printed()
    save(context.document.session, tmp_path / "mine.attn")
    context.document.open(Session((examples.load("cat"),)), None)
    wait_traced()
    assert drawer.given.count() == 0
    context.document.open(load(tmp_path / "mine.attn"), None)
    wait_traced()
    assert lines(drawer) == ["A   20 of 25 right", "N   0 of 25 right", "output   0 of 10 right"]
    assert not context.document.modified


def test_an_experiment_of_another_name_has_tables_of_its_own(
    drawer: CheckDrawer, context: Context, wait_traced: Traced
) -> None:
    drawer.take_printed()
    wait_traced()
    context.document.depart("Example", examples.load("cat_one_head"))
    wait_traced()
    assert drawer.given.count() == 0
    context.document.undo_stack.undo()
    wait_traced()
    assert drawer.given.count() == 3


@pytest.mark.parametrize(
    "view",
    [
        7,
        {"Karina": 3},
        {"Karina": [5, {"stage": "A"}, {"stage": "Z", "head": 0, "rows": []}]},
        {"Karina": [{"stage": "A", "head": -1, "rows": ["1"]}, {"stage": "A", "head": True, "rows": ["1"]}]},
        {"Karina": [{"stage": "A", "head": 0, "rows": [1]}, {"stage": [], "head": 0, "rows": ["1"]}]},
    ],
)
def test_what_a_file_says_may_be_anything(context: Context, view: object) -> None:
    named = NamedExperiment("Karina", context.document.experiment)
    context.document.open(Session((named,), view={VIEW: view}), None)
    assert dict(Kept(context.document).tables()) == {}


def test_more_than_a_session_file_holds_stays_out_of_it(context: Context) -> None:
    document: Document = context.document
    kept = Kept(document)
    small = GivenTable.of("A", 0, [["0.5"]])
    large = GivenTable.of("N", 0, [["0.12345678"] * 100] * (MOST_KEPT // 1000))
    kept.keep({("A", 0): small, ("N", 0): large})
    assert kept.tables()["N", 0] is large
    assert [table["stage"] for table in document.session.view[VIEW]["Karina"]] == ["A"]
    assert kept.is_too_large(("N", 0)) and not kept.is_too_large(("A", 0)) and not kept.is_too_large(("V", 0))


def test_a_hidden_stage_is_not_offered(drawer: CheckDrawer, context: Context, wait_traced: Traced) -> None:
    drawer.take_printed()
    session = context.document.session
    exercise = NamedExperiment("Karina", session.experiment, exercise=Exercise(("N",)))
    context.document.open(Session((exercise,), view=session.view), None)
    hidden = context.document.experiment.hidden
    wait_traced()
    offered = [drawer.stage.itemText(k).split()[0] for k in range(drawer.stage.count())]
    assert "A" in offered and "N" in hidden and not hidden.intersection(offered)
    assert lines(drawer) == ["A   20 of 25 right"]


def test_nothing_is_asked_while_it_is_out_of_sight(drawer: CheckDrawer, context: Context) -> None:
    drawer.take_printed()
    assert "check" in context.feed._asks
    drawer.hide()
    assert "check" not in context.feed._asks


@pytest.mark.parametrize("theme", list(THEMES))
def test_signs_differ_in_shape(drawer: CheckDrawer, context: Context, wait_traced: Traced, theme: str) -> None:
    """Three cells with the three verdicts, compared as black and white."""
    context.settings.theme = theme
    context.look.refresh()
    scores = np.array(context.feed.trace.stage("A", 0)).round(1)  # type: ignore[union-attr]
    paste(drawer, block(scores, 1))
    drawer.show_stage("N")
    made = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    made[0, 0] = 0.9
    paste(drawer, block(made))
    drawer.table.go_to(4, 4)
    wait_traced()
    found = {v: (r, c) for r, row in enumerate(verdicts(drawer)) for c, v in enumerate(row)}
    assert found.keys() == {Verdict.RIGHT, Verdict.CARRIED, Verdict.WRONG} or found.keys() == {
        Verdict.CARRIED,
        Verdict.WRONG,
    }
    shapes = [_shape(drawer.table, *place) for place in found.values()]
    for k, shape in enumerate(shapes):
        assert shape.any()
        for other in shapes[k + 1 :]:
            assert (shape != other).sum() > 20


def _shape(table: CheckTable, row: int, column: int) -> np.ndarray:
    """Where the sign of a cell is drawn: what differs from the cell's backdrop."""
    QApplication.processEvents()
    rect = table.visualRect(table.grid.index(row, column))
    image = table.viewport().grab().toImage()
    backdrop = image.pixelColor(rect.topLeft() + QPoint(2, 3))
    place = [(rect.left() + 4 + x, rect.center().y() - 7 + y) for y in range(16) for x in range(16)]
    return np.array([_far(image.pixelColor(x, y), backdrop) for x, y in place])


def _far(colour: object, other: object) -> bool:
    return sum(abs(getattr(colour, c)() - getattr(other, c)()) for c in ("red", "green", "blue")) > 120


def test_large_tables_are_typed_into_without_delay(context: Context, qtbot: QtBot, wait_traced: Traced) -> None:
    n = 60
    open_experiment(context, Experiment.from_qkv(*(np.random.RandomState(k).rand(n, 2) for k in range(3))))
    made = CheckDrawer(context)
    qtbot.addWidget(made)
    context.document.start()
    made.show()
    wait_traced()
    scores = np.array(context.feed.trace.stage("A", 0))  # type: ignore[union-attr]
    paste(made, block(scores, 3))
    wait_traced()
    assert made.summary.text() == f"{n * n:,} of {n * n:,} right."


def test_undo_and_redo_are_in_the_menu_of_the_table(drawer: CheckDrawer) -> None:
    undo, redo = drawer.table.extra_actions
    assert undo is not None and redo is not None and not undo.isEnabled()
    paste(drawer, "0.71")
    assert undo.isEnabled() and undo.text() == "Undo Paste"
    undo.trigger()
    assert drawer.model.table.is_blank and redo.isEnabled()


def test_nothing_said_is_cut_in_a_low_drawer(drawer: CheckDrawer, wait_traced: Traced) -> None:
    drawer.take_printed()
    drawer.show_stage("N")
    drawer.resize(700, 130)
    wait_traced()
    QApplication.processEvents()
    assert drawer.summary.height() >= drawer.summary.heightForWidth(drawer.summary.width())
    assert drawer.summary.geometry().bottom() < drawer.given.geometry().top()


def test_what_is_too_large_to_check_is_said_to_be(context: Context, qtbot: QtBot, wait_traced: Traced) -> None:
    context.document.start()
    wait_traced()
    made = CheckDrawer(context)
    qtbot.addWidget(made)
    made.resize(900, 260)
    made.show()
    assert not made.empty.isVisible()
    large = Experiment.from_tokens([f"t{k}" for k in range(520)], np.ones((520, 2)))
    open_experiment(context, large)
    wait_traced()
    assert made.empty.isVisible() and "270,400 scores over all heads, at most 262,144" in (
        made.empty.accessibleDescription()
    )
    open_experiment(context, Experiment.from_tokens(["a", "b"], np.ones((2, 2))))
    wait_traced()
    assert not made.empty.isVisible()


def test_without_a_table_there_is_no_box_to_take_for_a_field(drawer: CheckDrawer, wait_traced: Traced) -> None:
    assert drawer.given.isHidden()
    drawer.take_printed()
    wait_traced()
    assert drawer.given.isVisible() and drawer.given.count() == 3


def test_a_verdict_that_comes_while_one_types_leaves_the_editor_alone(
    drawer: CheckDrawer, qtbot: QtBot, wait_traced: Traced
) -> None:
    typed(drawer, qtbot, 0, 0, "-1")
    drawer.table.go_to(0, 1)
    qtbot.keyClicks(drawer.table, "-")
    editor = drawer.table.editing
    assert editor is not None
    wait_traced()  # the verdict on the first cell is there
    assert drawer.model.verdict(0, 0) is not Verdict.BLANK
    assert drawer.table.editing is editor and editor.text() == "-"
    drawer.model.show_verdicts(None)
    qtbot.keyClicks(editor, "2")
    assert editor.text() == "-2"
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert drawer.model.table.cells[0][:2] == ("-1", "-2")


def test_why_a_block_was_refused_is_said_until_something_else_is_done(drawer: CheckDrawer, qtbot: QtBot) -> None:
    drawer.show_stage("output")
    drawer.table.go_to(4, 1)
    QGuiApplication.clipboard().setText("1\n2\n3")
    drawer.table.blocks.paste()
    words = "The block has 3 rows and only 1 from row 5 on: choose another place"
    assert drawer.table.reason.text() == words
    drawer.take_printed()
    assert drawer.table.reason.isHidden()
    drawer.table.blocks.paste()
    assert drawer.table.reason.text() == words
    drawer.show_stage("A")
    assert drawer.table.reason.isHidden()
