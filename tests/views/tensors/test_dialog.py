"""Opening tensors as a person does: what is in a file is said in words, and Enter opens it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QLabel, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.files.tensors import looking, opening
from attn_gui.model.masks import Causal
from attn_gui.model.sources import GivenQKV, GivenWeights
from attn_gui.views.help.telling import is_control, text_of
from attn_gui.views.main_window import MainWindow
from attn_gui.views.tensors.dialog import TensorsDialog
from tests.views.tensors.conftest import Look, at_rest, cells, choose, drop, normal, press, softmaxed
from tests.views.window_helpers import settle


def test_enter_opens_weights(look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    N = softmaxed(0, 12, 64, 64)
    np.save(tmp_path / "attn.npy", N)
    dialog = look(tmp_path / "attn.npy")
    assert dialog.headline.text() == "Opens the weights N: 12 heads, 64 queries × 64 keys."
    assert cells(dialog.tabs.contents_page.parts)[0][1:3] == ["12 × 64 × 64", "float32"]
    QAbstractItemModelTester(dialog.tabs.contents_page.parts)
    press(qtbot, window)
    settle(qtbot, window)
    e = window.context.document.experiment
    assert isinstance(e.source, GivenWeights) and not dialog.isVisible()
    assert np.array_equal(np.asarray(e.source.N), N)
    feed = window.context.feed.trace
    assert feed is not None and np.array_equal(feed.matrix("N", 3).block(slice(0, 64), slice(0, 64)), N[3])
    assert not window.context.document.dirty, "the file holds it"
    assert window.context.settings.recent[0] == tmp_path / "attn.npy"


def test_enter_opens_queries_keys_and_values(look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    q, k, v = normal(1, 1, 4, 5, 8), normal(2, 1, 2, 5, 8), normal(3, 1, 2, 5, 8)
    np.savez(tmp_path / "layer.npz", q=q, k=k, v=v)
    dialog = look(tmp_path / "layer.npz")
    assert dialog.headline.text() == "Opens Q, K and V: 4 heads (2 key/value heads), 5 queries × 5 keys, d_k 8."
    press(qtbot, window)
    settle(qtbot, window)
    e = window.context.document.experiment
    assert isinstance(e.source, GivenQKV) and (e.heads, e.kv_heads) == (4, 2)
    scores = q[0].astype(float) @ k[0].repeat(2, axis=0).swapaxes(1, 2) / np.sqrt(8)
    expected = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    assert np.allclose([trace(e).stage("N", h) for h in range(4)], expected, atol=1e-6)


def test_enter_opens_the_attentions_of_a_model(look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    attentions = tuple(torch.from_numpy(softmaxed(layer, 1, 2, 5, 5)) for layer in range(3))
    torch.save(attentions, tmp_path / "attentions.pt")
    dialog = look(tmp_path / "attentions.pt")
    assert dialog.headline.text() == "Opens the weights N: 3 layers, 2 heads, 5 queries × 5 keys."
    press(qtbot, window)
    session = window.context.document.session
    assert [named.name for named in session.experiments] == ["Layer 1", "Layer 2", "Layer 3"]
    for named, given in zip(session.experiments, attentions, strict=True):
        assert isinstance(named.experiment.source, GivenWeights)
        assert np.array_equal(np.asarray(named.experiment.source.N), given[0].numpy())


def test_a_reading_is_corrected_by_keyboard(look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    """Keys before queries: nothing sums to 1, so nobody can tell but the person."""
    given = normal(4, 2, 5, 3)
    np.save(tmp_path / "scores.npy", given)
    dialog = look(tmp_path / "scores.npy")
    editor = dialog.tabs.contents_page.editor
    choose(qtbot, editor.role, "Scores A")
    choose(qtbot, editor.axes[1], "Key")
    assert [box.currentText() for box in editor.axes if box.isVisible()] == ["Head", "Key", "Query"]
    assert "3 queries × 5 keys" in dialog.headline.text()
    dialog.ok.setFocus()
    press(qtbot, window)
    e = window.context.document.experiment
    assert (e.n_q, e.n_k, e.heads) == (3, 5, 2)
    assert np.array_equal(np.asarray(e.source.A), given.swapaxes(1, 2))  # type: ignore[union-attr]


def test_a_layer_and_an_item_of_the_batch(look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    N = softmaxed(5, 3, 4, 2, 6, 6)
    np.save(tmp_path / "attn.npy", N)
    dialog = look(tmp_path / "attn.npy")
    pickers = dialog.tabs.contents_page.pickers
    assert [pickers.layer.itemText(k) for k in range(4)] == ["All 3", "Layer 1", "Layer 2", "Layer 3"]
    assert (
        dialog.headline.text()
        == "Opens the weights N: 3 layers, item 1 of 4 in the batch, 2 heads, 6 queries × 6 keys."
    )
    choose(qtbot, pickers.layer, "Layer 2")
    pickers.batch.setFocus()
    for _ in range(2):
        qtbot.keyClick(pickers.batch, Qt.Key.Key_Up)
    assert dialog.headline.text().startswith("Opens the weights N: layer 2, item 3 of 4 in the batch")
    dialog.ok.setFocus()
    press(qtbot, window)
    (named,) = window.context.document.session.experiments
    assert named.place is not None and (named.place.layer, named.place.batch) == (1, 2)
    assert np.array_equal(np.asarray(named.experiment.source.N), N[1, 2])  # type: ignore[union-attr]


def test_a_mismatch_names_the_axis_and_is_put_right(
    look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    np.save(tmp_path / "attn.npy", softmaxed(6, 16, 8, 4, 4))
    dialog = look(tmp_path / "attn.npy")
    assert dialog.ok.isEnabled()
    (doubt,) = [text.text() for text in dialog.faults.texts if text.isVisible()]
    assert doubt.startswith("16 items in axis 0")
    before = dialog.headline.text()
    qtbot.mouseClick(dialog.faults.remedies[0], Qt.MouseButton.LeftButton)
    assert dialog.headline.text() != before and "of 16 in the batch" in dialog.headline.text() + before
    np.savez(tmp_path / "odd.npz", q=normal(0, 2, 5, 4), k=normal(1, 2, 6, 4), v=normal(2, 2, 7, 4))
    dialog = look(tmp_path / "odd.npz")
    assert not dialog.ok.isEnabled()
    told = dialog.faults.texts[0].text()
    assert told.startswith("⚠") and "axis 1" in told
    assert dialog.tabs.tabText(0).endswith("⚠")
    marked = [row[4] for row in cells(dialog.tabs.contents_page.parts)]
    assert any(role.startswith("⚠") for role in marked)
    editor = dialog.tabs.contents_page.editor
    assert editor.axis_labels[1].text().startswith("⚠ Axis 1 ("), "the tensor at fault is chosen"


def test_heads_and_tokens_are_turned_in_q_k_and_v_at_once(
    look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    arrays = {name: normal(seed, 1, 10, 12, 4) for seed, name in enumerate("qkv")}
    np.savez(tmp_path / "flash.npz", **arrays)
    dialog = look(tmp_path / "flash.npz")
    (doubt,) = [text.text() for text in dialog.faults.texts if text.isVisible()]
    assert doubt == "Q: 10 items in axis 1, read as heads: are these the tokens?"
    qtbot.mouseClick(dialog.faults.remedies[0], Qt.MouseButton.LeftButton)
    assert dialog.headline.text() == "Opens Q, K and V: 12 heads, 10 queries × 10 keys, d_k 4."
    press(qtbot, window)
    settle(qtbot, window)
    source = window.context.document.experiment.source
    for name, array in arrays.items():
        np.testing.assert_array_equal(getattr(source, name.upper()), array[0].swapaxes(0, 1))


def test_the_mask_is_that_of_the_scores_in_the_file(
    look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    q, k, v = (normal(seed, 2, 5, 4) for seed in range(3))
    scores = np.where(np.tri(5, dtype=bool), q @ k.swapaxes(1, 2) / 2, -np.inf)
    np.savez(tmp_path / "layer.npz", q=q, k=k, v=v, scores=scores)
    dialog = look(tmp_path / "layer.npz")
    assert "✓ The mask is taken from the scores of the file: a cell of −∞ is blocked" in dialog.offers.text()
    press(qtbot, window)
    assert window.context.document.experiment.rule == Causal()


class Harm:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.path,)


def hostile(folder: Path) -> Iterator[Path]:
    header = b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999, 99999, 99), }"
    (folder / "giant.npy").write_bytes(header.ljust(128, b" ")[:127] + b"\n" + bytes(64))
    (folder / "short.npy").write_bytes(b"\x93NUM")
    (folder / "words.csv").write_text("a,b\nc,d\n")
    torch.save({"attn": Harm(str(folder / "harmed"))}, folder / "code.pt")
    np.save(folder / "objects.npy", np.array([{}], dtype=object))
    for name in ("giant.npy", "short.npy", "words.csv", "code.pt", "objects.npy", "gone.npz"):
        yield folder / name


def test_what_cannot_be_read_is_said_and_changes_nothing(look: Look, window: MainWindow, tmp_path: Path) -> None:
    before = window.context.document.session
    for path in hostile(tmp_path):
        dialog = look(path)
        assert dialog.note.text().startswith(f"⚠ {path.name}: "), dialog.note.text()
        assert dialog.note.objectName() == "error" and not dialog.ok.isEnabled()
        assert cells(dialog.tabs.contents_page.parts) == [] and not dialog.headline.isVisible()
    assert window.context.document.session is before and not (tmp_path / "harmed").exists()
    np.save(tmp_path / "good.npy", softmaxed(0, 3, 3))
    dialog = look(tmp_path / "good.npy")
    assert dialog.ok.isEnabled() and not dialog.note.isVisible()


def test_files_are_read_in_the_worker_alone(
    look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def noting(function: Any) -> Any:
        def noted(*arguments: Any) -> Any:
            threads.append(threading.current_thread())
            return (yield from function(*arguments))

        return noted

    for module, name in ((looking, "look"), (opening, "session_of")):
        monkeypatch.setattr(module, name, noting(getattr(module, name)))
    np.save(tmp_path / "attn.npy", softmaxed(0, 3, 3))
    look(tmp_path / "attn.npy")
    press(qtbot, window)
    assert len(threads) == 2 and threading.main_thread() not in threads


def test_opening_can_be_cancelled(
    look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = threading.Event(), threading.Event()

    def endless(*arguments: Any) -> Iterator[float]:
        try:
            while True:
                begun.set()
                yield 0.5
        finally:
            ended.set()

    monkeypatch.setattr(opening, "session_of", endless)
    np.save(tmp_path / "attn.npy", softmaxed(0, 3, 3))
    before = window.context.document.session
    dialog = look(tmp_path / "attn.npy")
    dialog.accept()
    qtbot.waitUntil(lambda: dialog.progress.value() == 500)
    assert dialog.progress.isVisible() and not dialog.ok.isEnabled() and begun.is_set()
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(ended.is_set)
    assert dialog.isVisible() and dialog.note.text() == "⚠ Cancelled. Nothing was opened."
    assert dialog.ok.isEnabled() and not dialog.progress.isVisible()
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible() and window.context.document.session is before


def test_edits_made_meanwhile_are_kept(look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    np.save(tmp_path / "attn.npy", softmaxed(0, 3, 3))
    dialog = look(tmp_path / "attn.npy")
    dialog.accept()
    document = window.context.document
    document.apply("Causal", replace(document.experiment, rule=Causal()))
    edited = document.session
    at_rest(qtbot, window)
    assert document.session is edited and dialog.isVisible() and "went on editing" in dialog.note.text()


def test_unsaved_work_is_asked_about(
    look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = window.context.document
    document.apply("Causal", replace(document.experiment, rule=Causal()))
    before = document.session
    np.save(tmp_path / "attn.npy", softmaxed(0, 3, 3))
    dialog = look(tmp_path / "attn.npy")
    answers = [QMessageBox.StandardButton.Cancel, QMessageBox.StandardButton.Discard]
    monkeypatch.setattr(QMessageBox, "exec", lambda box: answers.pop(0))
    press(qtbot, window)
    assert document.session is before and dialog.isVisible()
    press(qtbot, window)
    assert document.session is not before and answers == []


def test_files_are_asked_for(window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for layer in range(3):
        np.save(tmp_path / f"layer_{layer}.npy", softmaxed(layer, 2, 4, 4))
    chosen = [[], [str(tmp_path / "layer_0.npy"), str(tmp_path / "layer_2.npy")]]
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *arguments: (chosen.pop(0), ""))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *arguments: str(tmp_path))
    window.files.open_tensors.trigger()
    dialog = window.files.tensors
    assert dialog is not None and not dialog.isVisible()
    qtbot.keyClick(window, Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    at_rest(qtbot, window)
    assert dialog.isVisible() and dialog.file_row.file.text().startswith("layer_0.npy and 1 more")
    assert "2 layers" in dialog.headline.text()
    qtbot.mouseClick(dialog.file_row.folder, Qt.MouseButton.LeftButton)
    at_rest(qtbot, window)
    assert "3 layers" in dialog.headline.text()


def test_dropped_on_the_window(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    for layer in range(2):
        np.save(tmp_path / f"layer_{layer}.npy", softmaxed(layer, 2, 4, 4))
    before = window.context.document.session
    assert drop(window, tmp_path / "layer_0.npy").isAccepted()
    qtbot.waitUntil(lambda: window.files.tensors is not None and window.files.tensors.ok.isEnabled(), timeout=10_000)
    dialog = window.files.tensors
    assert dialog is not None and dialog.isVisible()
    assert drop(window, tmp_path / "layer_0.npy", tmp_path / "layer_1.npy").isAccepted()
    qtbot.waitUntil(lambda: "2 layers" in dialog.headline.text(), timeout=10_000)
    assert window.context.document.session is before


def test_opened_again_from_the_recent_ones(look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    np.save(tmp_path / "attn.npy", softmaxed(0, 3, 3))
    look(tmp_path / "attn.npy")
    press(qtbot, window)
    window.files.recent.aboutToShow.emit()
    again: QAction = window.files.recent.actions()[0]
    assert again.text().startswith("attn.npy")
    again.trigger()
    at_rest(qtbot, window)
    dialog = window.files.tensors
    assert dialog is not None and dialog.isVisible() and dialog.ok.isEnabled()


def test_heads_side_by_side_in_one_axis(look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    """As fused projections write them: Q, K and V of all heads in a row."""
    given = normal(0, 6, 24)
    np.savez(tmp_path / "a.npz", qkv=given)
    dialog = look(tmp_path / "a.npz")
    heads = dialog.tabs.contents_page.pickers.heads
    assert heads.isVisible() and heads.text() == "as the others"
    heads.setFocus()
    for _ in range(2):
        qtbot.keyClick(heads, Qt.Key.Key_Up)
    assert "2 heads" in dialog.headline.text() and "d_k 4" in dialog.headline.text()
    dialog.ok.setFocus()
    press(qtbot, window)
    e = window.context.document.experiment
    q, k, _ = (given[:, part * 8 : part * 8 + 8].reshape(6, 2, 4).swapaxes(0, 1).astype(float) for part in range(3))
    scores = q @ k.swapaxes(1, 2) / 2
    expected = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    assert np.allclose([trace(e).stage("N", h) for h in range(2)], expected, atol=1e-6)


def test_started_on_a_file_the_program_does_not_wait_for_the_person(tmp_path: Path) -> None:
    np.save(tmp_path / "attn.npy", softmaxed(0, 3, 3))
    command = [sys.executable, "-m", "attn_gui", str(tmp_path / "attn.npy"), "--smoke", "--profile-dir", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1 and "attn.npy: --smoke opens a session" in ended.stderr


def test_every_control_tells_what_it_is_for(look: Look, tmp_path: Path) -> None:
    arrays = {"qkv": normal(0, 3, 2, 4, 24), "mask": np.tril(np.ones((4, 4), bool))}
    np.savez(tmp_path / "all.npz", **arrays)  # type: ignore[arg-type]
    (tmp_path / "names.json").write_text('{"names": ["a", "b"], "weights": [[1, 0], [0, 1]]}')
    for name in ("all.npz", "names.json"):
        dialog = look(tmp_path / name)
        controls = [widget for widget in dialog.findChildren(QWidget) if is_control(widget)]
        assert len(controls) > 20
        assert [type(each).__name__ + each.accessibleName() for each in controls if not text_of(each)] == []


def test_every_control_has_a_letter_of_its_own_and_a_name(look: Look, tmp_path: Path) -> None:
    q = normal(0, 4, 24)
    np.savez(tmp_path / "all.npz", qkv=q, mask=np.tril(np.ones((4, 4), bool)))
    dialog: TensorsDialog = look(tmp_path / "all.npz")
    texts = [b.text() for b in dialog.findChildren(QAbstractButton) if b.text() and b not in dialog.faults.remedies[1:]]
    texts += [label.text() for label in dialog.findChildren(QLabel) if label.buddy() is not None]
    texts += [dialog.tabs.tabText(k) for k in range(3)]
    letters = [text.partition("&")[2][:1].lower() for text in texts]
    assert all(letters), texts
    assert len(set(letters)) == len(letters), sorted(zip(letters, texts, strict=True))
