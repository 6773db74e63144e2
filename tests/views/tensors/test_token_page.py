"""Names of tokens: typed, pasted, from files, for queries and keys apart."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from attn_gui.files.tensors.token_lists import parsed
from attn_gui.views.main_window import MainWindow
from attn_gui.views.tensors.dialog import TensorsDialog
from attn_gui.views.tensors.reading_tabs import NAMES
from attn_gui.views.tensors.token_box import as_text
from tests.views.tensors.conftest import Look, at_rest, normal, press, softmaxed


def on_names(look: Look, path: Path, *shape: int) -> TensorsDialog:
    np.save(path / "attn.npy", softmaxed(0, *shape))
    dialog = look(path / "attn.npy")
    dialog.tabs.setCurrentIndex(NAMES)
    return dialog


def read(qtbot: QtBot, window: MainWindow, dialog: TensorsDialog) -> None:
    qtbot.waitUntil(lambda: not dialog.tabs.token_page.pending)
    at_rest(qtbot, window)


def test_typed(look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = on_names(look, tmp_path, 2, 3, 3)
    page = dialog.tabs.token_page
    assert page.queries.note.text() == "Numbered from 1 to 3"
    page.queries.editor.setFocus()
    qtbot.keyClicks(page.queries.editor, "the cat")
    assert page.pending and not dialog.ok.isEnabled()
    read(qtbot, window, dialog)
    assert page.queries.note.text() == "⚠ 2 names; 3 needed"
    assert not dialog.ok.isEnabled() and dialog.tabs.tabText(NAMES).endswith("⚠")
    qtbot.keyClicks(page.queries.editor, " sat")
    read(qtbot, window, dialog)
    assert page.queries.note.text() == "3 names" and dialog.ok.isEnabled()
    dialog.ok.setFocus()
    press(qtbot, window)
    e = window.context.document.experiment
    assert e.tokens.tokens == e.keys.tokens == ("the", "cat", "sat")


def test_keys_have_names_of_their_own(look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = on_names(look, tmp_path, 2, 2, 4)
    page = dialog.tabs.token_page
    QGuiApplication.clipboard().setText('["le", "chat"]')
    page.queries.editor.setFocus()
    qtbot.keyClick(page.queries.editor, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    if not page.own_keys.isChecked():
        page.own_keys.setFocus()
        qtbot.keyClick(page.own_keys, Qt.Key.Key_Space)
    page.keys.editor.setFocus()
    for word in ("the", "cat", "sat", "down"):
        qtbot.keyClicks(page.keys.editor, word)
        qtbot.keyClick(page.keys.editor, Qt.Key.Key_Return)
    read(qtbot, window, dialog)
    dialog.ok.setFocus()
    press(qtbot, window)
    e = window.context.document.experiment
    assert (e.tokens.tokens, e.keys.tokens) == (("le", "chat"), ("the", "cat", "sat", "down"))
    assert e.variant.is_cross


def test_from_a_file(
    look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = on_names(look, tmp_path, 2, 3, 3)
    (tmp_path / "names.json").write_text(json.dumps(["[CLS]", "a b", "[SEP]"]))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *arguments: (str(tmp_path / "names.json"), ""))
    qtbot.mouseClick(dialog.tabs.token_page.queries.open, Qt.MouseButton.LeftButton)
    read(qtbot, window, dialog)
    assert dialog.reading is not None and dialog.reading.tokens == ("[CLS]", "a b", "[SEP]")
    (tmp_path / "names.json").write_bytes(b"\xff\xfea\x00")
    qtbot.mouseClick(dialog.tabs.token_page.queries.open, Qt.MouseButton.LeftButton)
    read(qtbot, window, dialog)
    assert dialog.tabs.token_page.queries.note.text().startswith("⚠ names.json")
    assert not dialog.ok.isEnabled()
    dialog.tabs.token_page.queries.editor.clear()
    assert dialog.ok.isEnabled() and dialog.reading.tokens is None


def tokenizer(path: Path) -> Path:
    """As the tokenizers library writes one that splits at blanks."""
    vocabulary = {"[UNK]": 0, "the": 1, "cat": 2, "sat": 3}
    model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}
    added = {"id": 0, "content": "[UNK]", "special": True} | dict.fromkeys(
        ("single_word", "lstrip", "rstrip", "normalized"), False
    )
    whole = {"version": "1.0", "added_tokens": [added], "model": model, "pre_tokenizer": {"type": "Whitespace"}}
    path.write_text(json.dumps(whole))
    return path


def test_a_tokenizer_names_the_ids_of_the_file(look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", attentions=softmaxed(0, 2, 3, 3), input_ids=np.array([2, 0, 3]))
    dialog = look(tmp_path / "a.npz")
    page = dialog.tabs.token_page
    page.open_file("queries", tokenizer(tmp_path / "tokenizer.json"))
    read(qtbot, window, dialog)
    assert page.queries.editor.toPlainText() == "cat\n[UNK]\nsat"
    press(qtbot, window)
    tokens = window.context.document.experiment.tokens
    assert tokens.tokens == ("cat", "[UNK]", "sat")
    assert tokens.column("special").tolist() == [False, True, False]


def test_a_tokenizer_splits_what_is_typed(look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    dialog = on_names(look, tmp_path, 2, 3, 3)
    box = dialog.tabs.token_page.queries
    dialog.tabs.token_page.open_file("queries", tokenizer(tmp_path / "tokenizer.json"))
    qtbot.waitUntil(lambda: box.tokenizer is not None)
    assert "tokenizer.json splits" in box.editor.placeholderText()
    qtbot.keyClicks(box.editor, "the dog sat")
    read(qtbot, window, dialog)
    assert box.tokens == ("the", "[UNK]", "sat") and box.note.text() == "3 names, split by tokenizer.json"
    assert box.editor.toPlainText() == "the dog sat" and dialog.ok.isEnabled()


def test_names_in_the_file_itself_are_taken(look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    rows = softmaxed(0, 3, 3).tolist()
    (tmp_path / "a.json").write_text(json.dumps({"tokens": ["x", "y", "z"], "attention": rows}))
    dialog = look(tmp_path / "a.json")
    assert dialog.tabs.token_page.queries.editor.toPlainText() == "x\ny\nz"
    press(qtbot, window)
    assert window.context.document.experiment.tokens.tokens == ("x", "y", "z")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=5).map(tuple))
def test_what_stands_in_the_field_is_read_back_as_the_same(tokens: tuple[str, ...]) -> None:
    assert parsed(as_text(tokens)) == tokens


@pytest.mark.parametrize("pasted", [True, False])
def test_of_lists_for_each_item_the_one_of_the_item_that_is_opened(
    pasted: bool, look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    names = [["the", "cat", "sat"], ["a", "dog", "ran"]]
    (tmp_path / "names.json").write_text(json.dumps(names))
    np.savez(tmp_path / "a.npz", **{name: normal(seed, 3, 2, 3, 4) for seed, name in enumerate("qkv")})
    dialog = look(tmp_path / "a.npz")
    dialog.tabs.setCurrentIndex(NAMES)
    page, pickers = dialog.tabs.token_page, dialog.tabs.contents_page.pickers
    if pasted:
        page.queries.editor.setPlainText(json.dumps(names))
    else:
        page.open_file("queries", tmp_path / "names.json")
    read(qtbot, window, dialog)
    assert dialog.reading is not None and dialog.reading.tokens == ("the", "cat", "sat")
    for item, expected in ((3, None), (2, ("a", "dog", "ran")), (1, ("the", "cat", "sat")), (2, ("a", "dog", "ran"))):
        pickers.batch.setValue(item)
        assert page.pending and not dialog.ok.isEnabled()
        read(qtbot, window, dialog)
        assert dialog.reading.tokens == expected and dialog.ok.isEnabled() is (expected is not None)
    dialog.ok.setFocus()
    press(qtbot, window)
    assert window.context.document.experiment.tokens.tokens == ("a", "dog", "ran")
