"""The real window, driven as a person drives it: what is drawn and written is compared with a computation by hand."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAction, QDropEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QLabel,
    QMenu,
    QMessageBox,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from attn_gui.app import open_window
from attn_gui.control.exports import Order
from attn_gui.control.settings import Settings
from attn_gui.files import examples
from attn_gui.files import session as session_files
from attn_gui.model.masks import Causal
from attn_gui.model.session import Session
from attn_gui.views import main_window
from attn_gui.views.main_window import MainWindow
from attn_gui.views.sentence_bar import SHOWN_KEYS
from attn_gui.views.status import Status
from tests.views.window_helpers import (
    cell_rect,
    close_colours,
    drawn_colours,
    expected_colours,
    karina_window,
    settle,
    type_in,
)


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    def prepare(made: MainWindow) -> None:
        made.context.settings.theme = "light"
        made.context.settings.reduced_motion = True
        made.resize(1280, 800)

    with karina_window(qtbot, tmp_path, prepare) as made:
        yield made


# parts of Qt's own widgets, which name themselves
QT_INTERNAL = ("QComboBoxPrivateContainer", "QTableView", "QTabBar", "QMessageBox")


def by_hand(X: np.ndarray, allowed: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, N and output of identity weights, from the formula."""
    A = X @ X.T / np.sqrt(X.shape[1])
    masked = A if allowed is None else np.where(allowed, A, -np.inf)
    E = np.exp(masked)
    N = E / E.sum(axis=1, keepdims=True)
    return A, N, N @ X


KARINA = np.array([[1, 0], [0, 1], [1, 1], [1, 1], [0.5, 1]], float)


def assert_drawn(window: MainWindow, X: np.ndarray) -> None:
    A, N, output = by_hand(X)
    theme = window.context.look.theme
    bound = np.abs(A).max()
    scores, weights = window.formula.scores.heatmap, window.formula.weights.heatmap
    assert close_colours(drawn_colours(scores, A.shape), expected_colours(A, -bound, bound, theme.diverging))
    assert close_colours(drawn_colours(weights, N.shape), expected_colours(N, 0, N.max(), theme.sequential))
    model = window.formula.output.table.model()
    shown = [[model.index(i, j).data() for j in range(output.shape[1])] for i in range(len(X))]
    assert shown == [[f"{value:.4f}".replace("-", "−") for value in row] for row in output]


def test_typing_in_a_cell_is_drawn_and_undone(window: MainWindow, qtbot: QtBot) -> None:
    assert_drawn(window, KARINA)
    type_in(qtbot, window.formula.tokens.table, 0, 1, "2.5")
    settle(qtbot, window)
    changed = KARINA.copy()
    changed[0, 0] = 2.5
    assert_drawn(window, changed)
    assert window.isWindowModified()
    window.context.document.undo_stack.undo()
    settle(qtbot, window)
    assert_drawn(window, KARINA)
    assert not window.isWindowModified()


def test_what_is_saved_opens_again_and_what_is_exported_is_right(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    type_in(qtbot, window.formula.tokens.table, 2, 2, "-3")
    changed = KARINA.copy()
    changed[2, 1] = -3
    path = tmp_path / "my work.attn"
    assert window.services.storage.save_and_wait(path)
    assert not window.context.document.dirty
    window.new_session()
    settle(qtbot, window)
    assert_drawn(window, KARINA)
    with qtbot.waitSignal(window.services.storage.opened, timeout=10_000):
        window.services.storage.open(path)
    settle(qtbot, window)
    assert_drawn(window, changed)
    assert window.windowTitle().startswith("my work.attn")
    assert window.context.settings.recent == [path.absolute()]
    assert np.array_equal(session_files.load(path).experiment.tokens.embeddings.array(), changed)


def test_files_are_dropped_on_the_window(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "dropped.attn"
    cat = examples.load("cat")
    session_files.save(Session((cat,)), path)
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    event = QDropEvent(
        QPointF(50, 50), Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    with qtbot.waitSignal(window.services.storage.opened, timeout=10_000):
        window.dropEvent(event)
    settle(qtbot, window)
    assert window.context.document.experiment.tokens.tokens == cat.experiment.tokens.tokens
    assert window.context.document.path == path


def test_a_file_that_cannot_be_read_leaves_everything_and_says_why(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "broken.attn"
    path.write_bytes(b"PK\x03\x04 not a zip at all")
    before = window.context.document.session
    with qtbot.waitSignal(window.context.notices.said, timeout=10_000) as said:
        window.services.storage.open(path)
    assert "broken.attn" in said.args[0].text
    assert window.context.document.session is before


def test_dragging_over_a_paints_the_mask_in_one_undo_step(window: MainWindow, qtbot: QtBot) -> None:
    document = window.context.document
    qtbot.keyClick(window, Qt.Key.Key_P)
    assert window.context.selection.painting
    heatmap = window.formula.scores.heatmap
    places = [cell_rect(heatmap, 1, j).center() for j in (1, 2, 3)]
    plot = heatmap.plot
    qtbot.mousePress(plot, Qt.MouseButton.LeftButton, pos=places[0])
    for place in places[1:]:
        qtbot.mouseMove(plot, place)
        QApplication.processEvents()
    qtbot.mouseRelease(plot, Qt.MouseButton.LeftButton, pos=places[-1])
    settle(qtbot, window)
    allowed = np.ones((5, 5), bool)
    allowed[1, 1:4] = False
    assert np.array_equal(document.experiment.allowed(slice(0, 5), slice(0, 5)), allowed)
    _, N, _ = by_hand(KARINA, allowed)
    colours = drawn_colours(window.formula.weights.heatmap, N.shape)
    expected = expected_colours(N, 0, N.max(), window.context.look.theme.sequential)
    assert close_colours(colours[allowed], expected[allowed])
    document.undo_stack.undo()
    settle(qtbot, window)
    assert not document.experiment.painted
    assert_drawn(window, KARINA)


def test_the_four_panels_show_a_token_at_one_height(window: MainWindow, qtbot: QtBot) -> None:
    document = window.context.document
    for example in ("karina", "animal", "translation"):
        document.apply_named("example", examples.load(example))
        settle(qtbot, window)
        QApplication.processEvents()
        for row in range(document.experiment.n_q):
            heights = set()
            for panel in (window.formula.scores, window.formula.weights):
                rect = cell_rect(panel.heatmap, row, 0)
                heights.add((panel.heatmap.plot.mapTo(window, rect.topLeft()).y(), rect.height()))
            for table in (window.formula.tokens.table, window.formula.output.table):
                top = table.viewport().mapTo(window, QPoint(0, table.rowViewportPosition(row))).y()
                heights.add((top, table.rowHeight(row)))
            assert len(heights) == 1, (example, row, heights)


def test_switching_examples_and_back_keeps_everything_undoable(window: MainWindow, qtbot: QtBot) -> None:
    document = window.context.document
    before = document.session
    for name in examples.names():
        window.open_example(name)
        settle(qtbot, window)
        assert document.session.named.name == examples.load(name).name
    for _ in examples.names():
        document.undo_stack.undo()
    settle(qtbot, window)
    assert document.experiment is before.experiment
    assert document.session.named.name == "Karina"


def test_an_example_opens_on_what_its_note_speaks_of_and_leaves_the_open_file_alone(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    document, path = window.context.document, tmp_path / "lesson.attn"
    type_in(qtbot, window.formula.tokens.table, 0, 1, "7")
    assert window.services.storage.save_and_wait(path)
    window.context.selection.set_painting(True)
    window.open_example("animal")
    tokens, selection = document.experiment.tokens.tokens, window.context.selection
    assert (tokens[selection.query], tokens[selection.key]) == ("it", "animal")
    assert document.path is None and not document.dirty and not selection.painting
    document.undo_stack.undo()
    assert document.path == path
    assert document.experiment.tokens.embeddings[0, 0] == 7
    document.undo_stack.redo()
    assert document.path is None


def test_every_action_is_in_a_menu_and_every_control_has_a_name(window: MainWindow) -> None:
    nameless = []
    for kind in (QAbstractButton, QComboBox, QAbstractSpinBox, QAbstractItemView):
        for widget in window.findChildren(kind):
            named = widget.accessibleName() or (isinstance(widget, QAbstractButton) and widget.text())
            parent = widget.parent()
            internal = parent.metaObject().className() in QT_INTERNAL or widget.objectName().startswith("qt_")
            if not (named or internal or isinstance(widget, QHeaderView)):
                nameless.append(f"{type(widget).__name__} in {type(widget.parent()).__name__}")
    assert not nameless


def test_unsaved_work_is_asked_about_before_it_is_lost(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = window.context.document
    document.apply("mask", replace(document.experiment, rule=Causal()))
    answers = iter([QMessageBox.StandardButton.Cancel, QMessageBox.StandardButton.Discard])
    monkeypatch.setattr(QMessageBox, "exec", lambda box: next(answers))
    window.new_session()
    assert document.experiment.rule == Causal()
    window.new_session()
    assert document.experiment.rule.kind == "none"
    assert not document.dirty


def test_theme_size_and_drawers_are_kept_for_the_next_start(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    window.context.settings.theme = "dark"
    window.docks[0].show()
    window.resize(1100, 700)
    settle(qtbot, window)
    window.close()
    again = open_window(window.context.document.session, tmp_path / "profile")
    again.show()
    qtbot.waitExposed(again)
    settle(qtbot, again)
    assert again.context.look.theme.name == "dark"
    assert again.docks[0].isVisible()
    # the screen of the tests is narrower than the window may be, so that Qt brings only the height back
    assert again.height() == 700
    again.close()
    again.context.worker.close()
    again.deleteLater()


def test_a_burst_of_edits_ends_with_the_last(window: MainWindow, qtbot: QtBot) -> None:
    table = window.formula.tokens.table
    model = table.model()
    for k in range(60):
        model.setData(model.index(0, 1), str(k / 10))
        if k % 7 == 0:
            QApplication.processEvents()
    settle(qtbot, window)
    changed = KARINA.copy()
    changed[0, 0] = 5.9
    assert_drawn(window, changed)


def test_csv_of_what_is_shown(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    target = tmp_path / "N.csv"
    with qtbot.waitSignal(window.services.exports.finished, timeout=10_000):
        window.services.exports.export(Order("csv", "N", 0), window.context.document.session.named, target)
    with target.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    assert rows[0][1:] == [row[0] for row in rows[1:]] == ["karina", "is", "to", "the", "store"]
    written = np.array([[float(cell) for cell in row[1:]] for row in rows[1:]])
    assert np.abs(written - by_hand(KARINA)[1]).max() < 4 * 2**-23


def test_a_device_of_last_time_that_is_gone_is_told_and_the_cpu_computes(qtbot: QtBot, tmp_path: Path) -> None:
    settings = Settings(tmp_path / "profile")
    settings.device = "cuda:7"
    settings.sync()
    window = open_window(Session((examples.load("karina"),)), tmp_path / "profile")
    with qtbot.waitSignal(window.context.notices.said, timeout=60_000) as said:
        window.show()
    settle(qtbot, window)
    assert "cuda:7 cannot be used" in said.args[0].text
    assert window.context.feed.trace is not None and window.context.feed.trace.device == "cpu"
    window.close()
    window.context.worker.close()
    window.deleteLater()
    QApplication.processEvents()


BUTTONS = QMessageBox.StandardButton


def answering(monkeypatch: pytest.MonkeyPatch, *answers: QMessageBox.StandardButton) -> list[str]:
    """Answers the next questions; the list tells what was asked."""
    asked: list[str] = []
    given = iter(answers)

    def ask(box: QMessageBox) -> QMessageBox.StandardButton:
        asked.append(box.text())
        return next(given)

    monkeypatch.setattr(QMessageBox, "exec", ask)
    return asked


@pytest.mark.parametrize("answer", [BUTTONS.Save, BUTTONS.Discard, BUTTONS.Cancel])
def test_what_was_unsaved_before_an_example_is_asked_about_by_its_own_name(
    window: MainWindow,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: QMessageBox.StandardButton,
) -> None:
    mine = tmp_path / "mine.attn"
    assert window.services.storage.save_and_wait(mine)
    type_in(qtbot, window.formula.tokens.table, 0, 1, "7")
    window.open_example("translation")
    assert not window.isWindowModified()
    asked = answering(monkeypatch, answer)
    window.new_session()
    assert asked == ["Save the changes to “mine.attn”?"]
    written = session_files.load(mine).experiment.tokens.embeddings[0, 0]
    assert written == (7 if answer == BUTTONS.Save else 1)
    went_on = window.context.document.session.named.name == "Karina"
    assert went_on == (answer != BUTTONS.Cancel)


def test_every_unsaved_document_is_asked_about(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(qtbot, window.formula.tokens.table, 0, 1, "7")
    window.open_example("translation")
    type_in(qtbot, window.formula.tokens.table, 0, 1, "8")
    asked = answering(monkeypatch, BUTTONS.Discard, BUTTONS.Cancel)
    window.new_session()
    assert asked == [f"Save the changes to “{examples.load(name).name}”?" for name in ("karina", "translation")]
    assert window.context.document.experiment.tokens.embeddings[0, 0] == 8


def test_an_untouched_example_is_never_modified(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch)
    document = window.context.document
    window.new_session()
    window.open_example("translation")
    window.open_example("cat")
    for move in (document.undo_stack.undo, document.undo_stack.undo, document.undo_stack.redo):
        move()
        assert not window.isWindowModified()
    window.new_session()
    assert asked == []


def test_an_error_goes_once_the_person_goes_on(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    status = window.statusBar().findChild(Status)
    assert status is not None
    with qtbot.waitSignal(window.services.storage.failed):
        window.services.storage.open(tmp_path / "n.png")
    assert "n.png was not opened" in status.notice.text()
    window.new_session()
    assert status.notice.text() == ""
    window.context.notices.error("Scores was not saved", "A picture")
    assert window.services.storage.save_and_wait(tmp_path / "mine.attn")
    assert status.notice.text() == "Saved mine.attn"


def test_the_note_of_an_example_goes_with_its_numbers(window: MainWindow, qtbot: QtBot) -> None:
    note = window.sentence.note
    before = note.accessibleName()
    type_in(qtbot, window.formula.tokens.table, 2, 1, "7")
    assert note.accessibleName() == f"Of the example as shipped: {before}"
    window.context.document.undo_stack.undo()
    assert note.accessibleName() == before


def test_copying_is_in_the_menu_for_a_heatmap_too(window: MainWindow, qtbot: QtBot) -> None:
    copy = next(a for a in window.formula.tokens.edit_actions.actions() if a is not None and a.text() == "&Copy")
    window.context.selection.set_cell(0, 0)
    window.activateWindow()
    window.formula.weights.heatmap.plot.setFocus()
    qtbot.waitUntil(copy.isEnabled)
    QApplication.clipboard().setText("")
    copy.trigger()
    qtbot.waitUntil(lambda: QApplication.clipboard().text() != "")
    trace = window.context.feed.trace
    assert trace is not None
    assert np.float32(QApplication.clipboard().text()) == trace.stage("N", 0)[0, 0]


def mnemonic(text: str) -> str:
    found = re.search("&(.)", text.replace("&&", ""))
    return found.group(1).lower() if found else ""


def test_no_two_things_in_sight_answer_to_one_letter(window: MainWindow) -> None:
    window.recovery_bar.show()
    for dock in window.docks:
        dock.show()
    QApplication.processEvents()
    texts = [action.text() for action in window.menuBar().actions()]
    labels = [w for w in window.findChildren(QLabel) if w.buddy() is not None]
    texts += [w.text() for w in (*labels, *window.findChildren(QAbstractButton)) if w.window() is window]
    letters = Counter(mnemonic(text) for text in texts if mnemonic(text))
    assert {"f", "m", "s"} <= letters.keys(), "menus, labels and buttons are among them"
    assert [text for text in texts if letters[mnemonic(text)] > 1] == []


def test_no_two_entries_of_a_menu_answer_to_one_letter(window: MainWindow) -> None:
    menus = [action.menu() for action in window.menuBar().actions()]
    while menus:
        menu = menus.pop()
        assert isinstance(menu, QMenu)
        menus += [action.menu() for action in menu.actions() if action.menu() is not None]
        letters = Counter(mnemonic(action.text()) for action in menu.actions() if mnemonic(action.text()))
        assert max(letters.values(), default=1) == 1, (menu.title(), letters)


def test_a_long_text_is_made_from_the_menu_and_one_goes_to_a_word(window: MainWindow, qtbot: QtBot) -> None:
    action = next(a for a in window.findChildren(QAction) if a.text().replace("&", "") == "1,024 words")
    before = window.context.document.session.named.name
    action.trigger()
    qtbot.waitUntil(lambda: window.context.document.experiment.n_q == 1024, timeout=30_000)
    assert "head 3" in window.context.document.session.named.note
    qtbot.waitUntil(lambda: not window.context.worker.busy, timeout=60_000)
    window.formula.scores.heatmap.pointer.zoom(8, QPointF(window.formula.scores.heatmap.plot.area.center()))
    window.find_bar.open()
    window.find_bar.field.setText("700")
    qtbot.keyClick(window.find_bar.field, Qt.Key.Key_Return)
    assert window.context.selection.query == 699
    grid = window.formula.scores.heatmap.plot.grid
    assert 699 in grid.queries
    assert 699 in grid.keys
    window.context.document.undo_stack.undo()
    assert window.context.document.session.named.name == before


def test_no_part_is_a_window_of_its_own_while_the_window_is_made(qtbot: QtBot, tmp_path: Path) -> None:
    class Watch(QObject):
        seen: ClassVar[list[str]] = []

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
                self.seen.append(type(watched).__name__)
            return False

    watch = Watch()
    application = QApplication.instance()
    assert application is not None
    application.installEventFilter(watch)
    with karina_window(qtbot, tmp_path):
        application.removeEventFilter(watch)
    assert watch.seen == ["MainWindow"]


def test_a_sentence_that_is_too_long_for_the_window_leaves_keys_out(window: MainWindow, qtbot: QtBot) -> None:
    window.open_long_example(1024)
    qtbot.waitUntil(lambda: window.context.document.experiment.n_q == 1024)
    settle(qtbot, window)
    bar = window.sentence
    counts = []
    for width in (960, 1280, 2400):
        window.resize(width, 720)
        QApplication.processEvents()
        assert bar.sentence.sizeHint().width() <= bar.sentence.width(), width
        assert "others" in bar.sentence.text()
        counts.append(bar.sentence.text().count("%") - 1)
    assert counts == sorted(counts) and counts[0] < counts[-1] == SHOWN_KEYS
    assert bar.sentence.accessibleName().count("%") - 1 == SHOWN_KEYS


def test_a_long_text_opens_on_a_number_that_its_note_speaks_of(window: MainWindow, qtbot: QtBot) -> None:
    window.context.selection.set_cell(1, 3)
    window.open_long_example(1024)
    qtbot.waitUntil(lambda: window.context.document.experiment.n_q == 1024)
    settle(qtbot, window)
    selection = window.context.selection
    assert (selection.head, selection.query, selection.key) == (0, 512, 511), "head 1 looks near"
    assert "others" in window.sentence.sentence.text() and not window.why.accessibleName().startswith("Why 0?")


def test_buttons_that_open_a_menu_have_nothing_over_their_text(window: MainWindow) -> None:
    button = QToolButton(window)
    button.setText("Copy…")
    button.show()
    button.adjustSize()
    plain = button.grab().toImage()
    button.setMenu(QMenu(button))
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    button.resize(plain.size())
    assert button.grab().toImage() == plain


def test_the_window_can_lie_within_a_small_screen(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main_window.QGuiApplication, "platformName", lambda: "xcb")
    with karina_window(qtbot, tmp_path, lambda made: None) as made:
        screen = made.screen().availableSize()
        assert screen.width() < 960, "the least width elsewhere"
        assert made.width() < screen.width() and made.height() < screen.height()
        assert made.minimumWidth() < screen.width() and made.minimumHeight() == 640
