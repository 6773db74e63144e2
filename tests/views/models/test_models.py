"""A model of this computer in the real window: opened, captured, and changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget
from pytestqt.qtbot import QtBot

os.environ["HF_HUB_OFFLINE"] = "1"
pytest.importorskip("transformers")

from attn_gui.control import modelling
from attn_gui.files import examples
from attn_gui.model.intervention import ReplaceBy, SwitchOff
from attn_gui.model.session import Session
from attn_gui.views.capture.model_dialog import ModelDialog
from attn_gui.views.help.telling import is_control, text_of
from attn_gui.views.intervene.intervene_drawer import InterveneDrawer
from attn_gui.views.main_window import MainWindow
from tests.views.models.tiny import HEADS, LAYERS, TEXT, WORDS, probabilities, save
from tests.views.window_helpers import karina_window, settle

LONG = 60_000


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("gpt2", tmp_path_factory.mktemp("gpt2"))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("bert", tmp_path_factory.mktemp("bert"))


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made
        if made.models.dialog is not None:
            made.models.dialog.close()


def dialog_of(window: MainWindow) -> ModelDialog:
    window.models.open.trigger()
    assert window.models.dialog is not None and window.models.dialog.isVisible()
    return window.models.dialog


def open_model(window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, folder: Path) -> ModelDialog:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *arguments: str(folder))
    dialog = dialog_of(window)
    qtbot.mouseClick(dialog.folder, Qt.MouseButton.LeftButton)
    assert dialog.progress.isVisible() and dialog.cancel.isVisible() and not dialog.capture.isEnabled()
    qtbot.waitUntil(lambda: not window.models.modelling.working, timeout=LONG)
    assert not dialog.progress.isVisible()
    return dialog


def capture(window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, folder: Path, text: str) -> None:
    dialog = open_model(window, qtbot, monkeypatch, folder)
    dialog.lines.setChecked("\n" in text)
    dialog.text.setPlainText(text)
    assert not dialog.capture.isEnabled(), "the tokens are not known yet"
    qtbot.waitUntil(dialog.capture.isEnabled, timeout=LONG)
    qtbot.mouseClick(dialog.capture, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not window.models.modelling.working, timeout=LONG)
    assert not dialog.error.isVisible(), dialog.error.text()
    settle(qtbot, window)


def drawer_of(window: MainWindow, qtbot: QtBot) -> InterveneDrawer:
    qtbot.waitUntil(lambda: window.models.intervening.outcome is not None, timeout=LONG)
    drawer = next(dock.widget() for dock in window.docks if dock.objectName() == "intervene")
    assert isinstance(drawer, InterveneDrawer) and drawer.isVisible()
    return drawer


def shown(drawer: InterveneDrawer) -> dict[str, tuple[float, float]]:
    """Probabilities in the table as they can be read there, by token."""
    model, read = drawer.outcome.table.model(), {}
    for row in range(model.rowCount()):
        texts = [model.index(row, column).data() for column in range(3)]
        read[texts[0]] = tuple(0.0 if t.startswith("<0") else float(t.rstrip("%")) / 100 for t in texts[1:])
    return read


def test_a_model_is_opened_captured_and_changed(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, gpt2: Path, tmp_path: Path
) -> None:
    document, models = window.context.document, window.models
    before = document.session
    assert not models.changes.menu.menuAction().isEnabled()
    assert models.changes.menu.menuAction() not in window.formula.weights.heatmap.menu.context_menu().actions()

    (tmp_path / "empty").mkdir()
    dialog = open_model(window, qtbot, monkeypatch, tmp_path / "empty")
    assert dialog.error.isVisible() and "config.json" in dialog.error.text()
    assert document.session is before and not dialog.capture.isEnabled()
    dialog.close()

    capture(window, qtbot, monkeypatch, gpt2, TEXT)
    assert "GPT2LMHeadModel: 2 layers × 4 heads" in dialog.about.text()
    assert "Nothing is fetched" in dialog.about.text()
    assert dialog.tokens.text().endswith(" · ".join(TEXT.split())) and dialog.tokens.text().startswith("6 tokens")
    session = document.session
    assert session.model is not None and session.model.texts == (TEXT,) and len(session.experiments) == LAYERS
    assert document.modified, "a text was typed for it"
    assert not dialog.isVisible()
    assert next(dock for dock in window.docks if dock.objectName() == "layers").isVisible()

    document.show(1)
    window.context.selection.set_head(2)
    settle(qtbot, window)
    menu = window.formula.weights.heatmap.menu.context_menu()
    entry = next(action for action in menu.actions() if action.menu() is models.changes.menu)
    inner = entry.menu()
    assert isinstance(inner, QMenu) and models.changes.off in inner.actions()
    models.changes.off.trigger()
    drawer = drawer_of(window, qtbot)
    assert [drawer.list.item(row).text() for row in range(drawer.list.count())] == ["Layer 2, head 3: off"]
    p, q = probabilities(gpt2, TEXT), probabilities(gpt2, TEXT, 1, 2)
    assert drawer.outcome.place.currentText() == "after 6 “mat”"
    table = shown(drawer)
    assert len(table) == 10
    for token, (plain, changed) in table.items():
        assert plain == pytest.approx(float(p[-1, WORDS.index(token)]), abs=6e-5)
        assert changed == pytest.approx(float(q[-1, WORDS.index(token)]), abs=6e-5)
    assert any(abs(plain - changed) > 0.001 for plain, changed in table.values())
    outcome = drawer.outcome
    models.changes.forbid.trigger()
    assert models.intervening.running
    # what came out was of other changes: what the model says by itself stays
    assert outcome.told.text() == "Running the model…" and not outcome.table.isEnabled()
    before = {outcome.lines.index(row, 0).data(): outcome.lines.index(row, 1).data() for row in range(10)}
    assert before == {token: f"{100 * plain:.2f}%" for token, (plain, _) in table.items()}
    assert {outcome.lines.index(row, column).data() for row in range(10) for column in (2, 3)} == {"…"}
    drawer_of(window, qtbot)
    models.intervening.remove(1)
    outcome._give_up()
    assert outcome.told.text().startswith("Cancelled") and outcome.lines.index(0, 2).data() == "…"
    models.intervening.look(True)
    drawer_of(window, qtbot)
    assert outcome.table.isEnabled()
    drawer.outcome.place.chosen.emit(1)
    assert drawer.outcome.place.currentText() == "after 2 “cat”"
    assert shown(drawer)["the"][1] == pytest.approx(float(q[1, WORDS.index("the")]), abs=6e-5)
    assert "KL divergence here" in drawer.outcome.told.text()

    drawer.list.setFocus()
    qtbot.keyClick(drawer.list, Qt.Key.Key_Delete)
    assert models.intervening.actions == ()
    drawer_of(window, qtbot)
    assert all(plain == changed for plain, changed in shown(drawer).values())
    assert untold(drawer, dialog) == []


def test_capture_is_off_while_the_path_stands_for_another_model_than_was_read(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, gpt2: Path, tmp_path: Path
) -> None:
    dialog = open_model(window, qtbot, monkeypatch, gpt2)
    dialog.text.setPlainText(TEXT)
    qtbot.waitUntil(dialog.capture.isEnabled, timeout=LONG)
    (tmp_path / "empty").mkdir()
    dialog.path.selectAll()
    qtbot.keyClicks(dialog.path, str(tmp_path / "empty"))
    assert not dialog.capture.isEnabled() and "not read" in dialog.capture.toolTip()
    assert "Press Enter" in dialog.about.text() and not dialog.tokens.text()
    qtbot.keyClick(dialog.path, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not window.models.modelling.working, timeout=LONG)
    assert "config.json" in dialog.error.text()
    dialog.text.setPlainText("the cat")
    qtbot.wait(2 * dialog._pause.interval())
    assert "config.json" in dialog.error.text() and not dialog.capture.isEnabled() and not dialog.tokens.text()
    dialog.path.setText(str(gpt2))
    assert not dialog.error.isVisible()
    qtbot.waitUntil(dialog.capture.isEnabled, timeout=LONG)
    assert dialog.tokens.text().startswith("2 tokens")
    window.models.modelling.not_opened.emit("It is gone")
    assert not dialog.capture.isEnabled(), "the path is the same, and stands for nothing now"
    qtbot.mouseClick(dialog.folder, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(dialog.capture.isEnabled, timeout=LONG)


def untold(*parts: QWidget) -> list[str]:
    widgets = [widget for part in parts for widget in part.findChildren(QWidget) if is_control(widget)]
    return [repr(widget) for widget in widgets if not text_of(widget)]


def test_what_is_tried_by_keyboard_and_what_is_edited_in_the_window(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, gpt2: Path
) -> None:
    capture(window, qtbot, monkeypatch, gpt2, TEXT)
    document, models, selection = window.context.document, window.models, window.context.selection
    selection.set_cell(4, 1)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert len(models.intervening.actions) == 1
    drawer = drawer_of(window, qtbot)
    words = "Layer 1, head 1: no “the” to “cat”"
    assert [drawer.list.item(row).text() for row in range(drawer.list.count())] == [words]
    assert "no effect" not in models.changes.forbid.statusTip()
    selection.set_cell(1, 4)
    assert models.changes.forbid.statusTip().endswith("(already masked: no effect)")
    models.changes.forbid.trigger()
    assert drawer.list.item(1).text() == "Layer 1, head 1: no “cat” to “the” (already masked: no effect)"
    mask = next(action for action in models.changes.masks.actions() if action.text() == "None")
    mask.trigger()
    assert drawer.list.item(1).text() == "Layer 1, head 1: no “cat” to “the”", "it is masked by nothing else now"
    assert "no effect" not in models.changes.forbid.statusTip()
    models.changes.off.trigger()
    off = "(switched off: no effect)"
    assert models.changes.forbid.statusTip().endswith(off)
    told = [drawer.list.item(row).text() for row in range(drawer.list.count())]
    assert [text.endswith(off) for text in told] == [True, True, True, False]
    selection.set_head(1)
    assert "no effect" not in models.changes.forbid.statusTip(), "of another head"
    selection.set_head("mean")
    assert "no effect" not in models.changes.forbid.statusTip(), "some of the heads are not off"
    for head in range(1, HEADS):
        selection.set_head(head)
        models.changes.off.trigger()
    selection.set_head("mean")
    assert models.changes.forbid.statusTip().endswith(off), "every one of them is"
    selection.set_head(0)
    qtbot.mouseClick(drawer.clear, Qt.MouseButton.LeftButton)

    drawer.scope.button("layer").click()
    drawer.temperature.setFocus()
    drawer.temperature.selectAll()
    qtbot.keyClicks(drawer.temperature, "-2")
    qtbot.keyClick(drawer.temperature, Qt.Key.Key_Return)
    assert "1e-30 or more" in drawer.temperature.reason.text() and models.intervening.actions == ()
    drawer.temperature.selectAll()
    qtbot.keyClicks(drawer.temperature, "4")
    qtbot.keyClick(drawer.temperature, Qt.Key.Key_Return)
    drawer_of(window, qtbot)
    by_temperature = shown(drawer)
    assert drawer.list.item(0).text() == "Layer 1, every head: temperature 4"
    assert any(plain != changed for plain, changed in by_temperature.values())
    assert drawer.temperature.text() == "4", "what is in force is shown"
    drawer.scope.button("model").click()
    assert drawer.temperature.text() == "1", "of other layers nothing was said"
    drawer.scope.button("head").click()
    assert drawer.temperature.text() == "4"
    drawer.temperature.setFocus()
    drawer.temperature.selectAll()
    qtbot.keyClicks(drawer.temperature, "1")
    qtbot.keyClick(drawer.temperature, Qt.Key.Key_Return)
    told = [drawer.list.item(row).text() for row in range(drawer.list.count())]
    assert told == ["Layer 1, every head: temperature 4", "Layer 1, head 1: temperature 1"]
    selection.set_head(1)
    assert drawer.temperature.text() == "4"
    selection.set_head(0)
    assert drawer.temperature.text() == "1"
    drawer.scope.button("layer").click()
    assert drawer.temperature.text() == "4"
    models.intervening.clear()
    assert drawer.temperature.text() == "1"

    shows = next(action for action in models.changes.replace.actions() if "window" in action.text())
    shows.trigger()
    drawer_of(window, qtbot)
    assert all(abs(plain - changed) < 2e-4 for plain, changed in shown(drawer).values()), "as it was captured"
    e = document.experiment
    document.apply("Temperature", replace(e, scoring=replace(e.scoring, temperature=4.0)))
    assert models.intervening.outcome is None, "what came out before is of another experiment"
    (action,) = models.intervening.actions
    assert isinstance(action.change, ReplaceBy) and action.change.experiment is document.experiment
    drawer_of(window, qtbot)
    for token, (plain, changed) in shown(drawer).items():
        if token in by_temperature:
            assert (plain, changed) == pytest.approx(by_temperature[token], abs=2e-4)
    models.changes.set_scope("model")
    models.changes.off.trigger()
    switched = models.intervening.actions[-1]
    assert switched.change == SwitchOff() and len(switched.sites) == LAYERS and switched.heads is None
    drawer_of(window, qtbot)
    assert document.experiment.heads == HEADS


def test_an_encoder_shows_the_cosines_of_its_texts(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, bert: Path
) -> None:
    capture(window, qtbot, monkeypatch, bert, "the cat sat on the mat\nhe ran home")
    assert len(window.context.document.session.experiments) == 2 * LAYERS
    window.models.changes.replace.actions()[1].trigger()
    drawer = drawer_of(window, qtbot)
    lines = [line.what for line in drawer.outcome.lines.lines]
    assert lines[0] == "“the cat sat on the mat” with “he ran home”" and len(lines) == 3
    assert lines[2] == "“he ran home” with itself as it was"
    assert drawer.outcome.lines.lines[0].before != drawer.outcome.lines.lines[0].after
    assert drawer.list.item(0).text() == "Layer 1, head 1: replaced by even weights"
    assert not drawer.outcome.place.isVisible() and "mean of its tokens" in drawer.outcome.told.text()
    window.context.document.open(Session((examples.load("karina"),)), None)
    assert drawer.empty.isVisible() and drawer.outcome.lines.rowCount() == 0 and drawer.list.count() == 0


def test_one_text_is_not_the_one_that_moved_most(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, bert: Path
) -> None:
    capture(window, qtbot, monkeypatch, bert, "the cat sat on the mat")
    window.models.changes.off.trigger()
    drawer = drawer_of(window, qtbot)
    assert drawer.outcome.told.text().startswith("The cosine of the text with itself as it was is 0.")


def test_the_model_of_the_session_is_said_to_be_at_hand_and_a_path_is_read_after_tab(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, bert: Path, gpt2: Path
) -> None:
    capture(window, qtbot, monkeypatch, bert, "the cat sat on the mat")
    captured = window.context.document.session
    # as in a new run of the program, in another place
    window.models.modelling.model = None
    moved = replace(captured, model=replace(captured.model, path=str(bert.with_name("gone"))))
    window.context.document.open(moved, None)
    dialog = dialog_of(window)
    dialog.text.clear()
    dialog.path.clear()
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    dialog.path.setFocus()
    qtbot.keyClicks(dialog.path, str(gpt2))
    assert dialog.model is None and dialog.shut.text() == "Cl&ose" and not dialog.at_hand.isVisible()
    qtbot.keyClick(dialog.path, Qt.Key.Key_Tab)
    assert window.models.modelling.working
    qtbot.waitUntil(lambda: not window.models.modelling.working, timeout=LONG)
    assert dialog.model is not None and dialog.shut.text() == "Cl&ose", "it is another model"
    dialog.path.setFocus()
    dialog.path.selectAll()
    qtbot.keyClicks(dialog.path, str(bert))
    qtbot.keyClick(dialog.path, Qt.Key.Key_Tab, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: dialog.model is not None, timeout=LONG)
    assert dialog.at_hand.isVisible() and "Intervene" in dialog.at_hand.text()
    assert dialog.shut.text().replace("&", "") == "Use for this session" and not dialog.capture.isEnabled()
    assert untold(dialog) == []
    # what was given up, or could not be read, is not tried again for the focus alone
    dialog.path.setFocus()
    dialog.path.setText(str(gpt2))
    dialog.text.setFocus()
    assert window.models.modelling.working
    qtbot.mouseClick(dialog.cancel, Qt.MouseButton.LeftButton)
    dialog.path.setFocus()
    dialog.text.setFocus()
    assert not window.models.modelling.working
    dialog.path.setText(str(bert))
    qtbot.keyClick(dialog.path, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: dialog.model is not None and not window.models.modelling.working, timeout=LONG)
    qtbot.mouseClick(dialog.shut, Qt.MouseButton.LeftButton)
    assert not dialog.isVisible() and window.context.document.session.same_work(moved)
    assert window.models.intervening.reason() == ""


def test_given_up_and_left_without_its_package(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, gpt2: Path
) -> None:
    before = window.context.document.session
    dialog = dialog_of(window)
    dialog.open_path(gpt2)
    assert dialog.cancel.isVisible()
    qtbot.mouseClick(dialog.cancel, Qt.MouseButton.LeftButton)
    assert not window.models.modelling.working and not dialog.progress.isVisible()
    assert window.models.modelling.model is None and window.context.document.session is before
    dialog.close()
    window.docks[-1].toggleViewAction().trigger()
    drawer = window.docks[-1].widget()
    assert isinstance(drawer, InterveneDrawer)
    assert drawer.empty.isVisible() and drawer.open_model.text() == "Open model…"
    qtbot.mouseClick(drawer.open_model, Qt.MouseButton.LeftButton)
    assert dialog.isVisible()


def test_without_transformers_the_menu_says_what_is_missing(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = modelling.importlib.util.find_spec
    monkeypatch.setattr(
        modelling.importlib.util, "find_spec", lambda name: None if name == "transformers" else found(name)
    )
    with karina_window(qtbot, tmp_path) as window:
        action = window.models.open
        assert not action.isEnabled()
        assert action.text() == "Open mo&del…  (needs the package transformers: pip install 'attn_gui[models]')"
        assert "pip install 'attn_gui[models]'" in action.statusTip()
