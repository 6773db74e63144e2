"""A mask in a file is shown with each of its meanings, and counted, before it is used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.files.tensors import previewing
from attn_gui.views.main_window import MainWindow
from attn_gui.views.tensors import reading_tabs
from attn_gui.views.tensors.reading_tabs import MASK
from tests.views.tensors.conftest import Look, at_rest, cells, normal, press


def qkv(n: int = 5) -> dict[str, np.ndarray]:
    return {name: normal(seed, 2, n, 4) for seed, name in enumerate("qkv")}


def allowed_in_window(window: MainWindow) -> np.ndarray:
    e = window.context.document.experiment
    return e.allowed(slice(0, e.n_q), slice(0, e.n_k))


@pytest.mark.parametrize("blocked", [False, True])
def test_the_one_that_leaves_every_query_a_key_is_chosen(
    blocked: bool, look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    causal = np.tril(np.ones((5, 5), bool))
    np.savez(tmp_path / "a.npz", **qkv(), mask=~causal if blocked else causal)
    dialog = look(tmp_path / "a.npz")
    page = dialog.tabs.mask_page
    assert dialog.tabs.isTabVisible(MASK)
    dialog.tabs.setCurrentIndex(MASK)
    columns = page.meanings
    assert columns["blocked"].choice.isChecked() is blocked
    assert columns["allowed"].choice.isChecked() is not blocked
    assert not columns["additive"].isVisible()
    right, wrong = ("blocked", "allowed") if blocked else ("allowed", "blocked")
    assert columns[right].facts.text() == "1 to 5 keys allowed a row\nNo row fully masked"
    assert columns[wrong].facts.text() == "0 to 4 keys allowed a row\n1 row fully masked"
    counts = [[str(row + 1), str(4 - row) if row < 4 else "0, fully masked"] for row in range(5)]
    assert cells(page.rows) == [pair[::-1] if blocked else pair for pair in counts]
    QAbstractItemModelTester(page.rows)
    assert "15 of 25 cells allowed" in columns[right].pattern.accessibleName()
    dialog.ok.setFocus()
    press(qtbot, window)
    assert np.array_equal(allowed_in_window(window), causal)


def test_where_both_may_be_meant_the_person_says_which(
    look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    mask = (np.arange(25).reshape(5, 5) % 2).astype(np.uint8)
    np.savez(tmp_path / "a.npz", **qkv(), mask=mask)
    dialog = look(tmp_path / "a.npz")
    assert not dialog.ok.isEnabled() and dialog.tabs.tabText(MASK).endswith("⚠")
    dialog.tabs.setCurrentIndex(MASK)
    choice = dialog.tabs.mask_page.meanings["blocked"].choice
    choice.setFocus()
    qtbot.keyClick(choice, Qt.Key.Key_Space)
    assert dialog.ok.isEnabled() and not dialog.tabs.tabText(MASK).endswith("⚠")
    dialog.ok.setFocus()
    press(qtbot, window)
    assert np.array_equal(allowed_in_window(window), mask == 0)


def test_an_additive_mask_says_itself_what_it_means(
    look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    mask = np.where(np.tril(np.ones((5, 5), bool)), 0.0, -np.inf).astype(np.float32)
    mask[4, 0] = 1.5
    np.savez(tmp_path / "a.npz", **qkv(), attn_mask=mask)
    dialog = look(tmp_path / "a.npz")
    column = dialog.tabs.mask_page.meanings["additive"]
    assert column.choice.isChecked() and "Other numbers are added to the scores" in column.facts.text()
    assert len(cells(dialog.tabs.mask_page.rows)[0]) == 1
    press(qtbot, window)
    e = window.context.document.experiment
    given = qkv()
    scores = given["q"].astype(float) @ given["k"].swapaxes(1, 2) / 2 + mask
    expected = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    assert np.allclose([trace(e).stage("N", h) for h in range(2)], expected, atol=1e-6)


def test_a_mask_alone_is_for_what_the_window_shows(
    look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    document = window.context.document
    before, steps = document.experiment, document.undo_stack.count()
    np.save(tmp_path / "mask.npy", np.tril(np.ones((5, 5), bool)))
    dialog = look(tmp_path / "mask.npy")
    assert dialog.ok.text() == "&Use as mask"
    assert dialog.headline.text() == "Puts a mask: 5 queries × 5 keys, on the experiment in the window."
    press(qtbot, window)
    assert np.array_equal(allowed_in_window(window), np.tril(np.ones((5, 5), bool)))
    assert document.experiment.tokens is before.tokens and document.undo_stack.count() == steps + 1
    document.undo_stack.undo()
    assert document.experiment is before
    np.save(tmp_path / "mask.npy", np.tril(np.ones((7, 7), bool)))
    dialog = look(tmp_path / "mask.npy")
    dialog.accept()
    at_rest(qtbot, window)
    assert dialog.isVisible() and "7" in dialog.note.text() and document.experiment is before


def test_ends_of_sequences_alone_are_a_mask_as_well(
    look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    np.save(tmp_path / "cu_seqlens.npy", np.array([0, 2, 5], np.int32))
    dialog = look(tmp_path / "cu_seqlens.npy")
    assert dialog.ok.text() == "&Use as mask"
    assert dialog.headline.text().startswith("Puts a mask of sequences")
    press(qtbot, window)
    document = np.array([0, 0, 1, 1, 1])
    assert np.array_equal(allowed_in_window(window), document[:, None] == document)
    np.save(tmp_path / "cu_seqlens.npy", np.array([0, 2, 6], np.int32))
    dialog = look(tmp_path / "cu_seqlens.npy")
    dialog.accept()
    at_rest(qtbot, window)
    assert dialog.isVisible() and "numbers that rise from 0 to the 5 tokens" in dialog.note.text()


def test_a_row_of_padding_alone_marks_the_tokens(look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    np.save(tmp_path / "attention_mask.npy", np.array([[1, 1, 1, 0, 0]]))
    dialog = look(tmp_path / "attention_mask.npy")
    assert dialog.tabs.mask_page.rows.headerData(0, Qt.Orientation.Vertical) == "every query"
    if not dialog.ok.isEnabled():
        dialog.tabs.mask_page.meanings["allowed"].choice.click()
    dialog.ok.setFocus()
    press(qtbot, window)
    assert window.context.document.experiment.tokens.pad.tolist() == [False, False, False, True, True]
    assert (allowed_in_window(window) == [True, True, True, False, False]).all()


def test_a_mask_that_is_too_large_is_not_counted_through(
    look: Look, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("the mask is read")

    monkeypatch.setattr(reading_tabs, "LARGEST_PREVIEWED", 24)
    monkeypatch.setattr(previewing, "previews", never)
    np.savez(tmp_path / "a.npz", **qkv(), mask=np.tril(np.ones((5, 5), bool)))
    dialog = look(tmp_path / "a.npz")
    dialog.tabs.setCurrentIndex(MASK)
    assert "too large" in dialog.tabs.mask_page.note.text() and not dialog.ok.isEnabled()
    columns = dialog.tabs.mask_page.meanings
    assert [column.isVisible() for column in columns.values()] == [True, True, False]
    columns["allowed"].choice.click()
    assert dialog.ok.isEnabled() and dialog.reading is not None and dialog.reading.meaning == "allowed"


def test_zeros_of_the_weights_mask_too_and_decide_what_the_mask_means(
    look: Look, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    live, arrays = np.arange(5) < 3, qkv()
    cells = np.tri(5, dtype=bool) & live
    weights = np.exp(arrays["q"] @ arrays["k"].swapaxes(1, 2) / 2) * cells
    np.savez(tmp_path / "a.npz", **arrays, attentions=weights / weights.sum(-1, keepdims=True), mask=~live[None])
    dialog = look(tmp_path / "a.npz")
    page = dialog.tabs.mask_page
    dialog.tabs.setCurrentIndex(MASK)
    assert page.meanings["blocked"].choice.isChecked() and "blocks what has weight 0" in page.note.text()
    assert page.meanings["blocked"].facts.text() == "1 to 3 keys allowed a row\nNo row fully masked"
    page.meanings["allowed"].choice.click()
    assert page.meanings["allowed"].facts.text() == "0 keys allowed in every row\n5 rows fully masked"
    assert "besides its own mask" in dialog.offers.text()
    dialog.ok.setFocus()
    press(qtbot, window)
    assert (~allowed_in_window(window).any(-1)).sum() == 5
