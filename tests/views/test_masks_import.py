"""A mask from a file: shown in each meaning, taken as chosen, refused in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from attn_gui.files import examples
from attn_gui.model.biases.additive import Additive
from attn_gui.model.masks import Causal, MaskRule
from attn_gui.model.masks.imported import Imported
from attn_gui.views.context import Context
from attn_gui.views.masks.import_dialog import ImportDialog
from attn_gui.views.masks.reading import _reading, with_reading

TRIANGLE = np.tri(5, dtype=bool)


@pytest.fixture
def dialog(context: Context, qtbot: QtBot) -> ImportDialog:
    made = ImportDialog(context)
    qtbot.addWidget(made)
    return made


@pytest.fixture
def load(dialog: ImportDialog, context: Context, qtbot: QtBot, tmp_path: Path) -> Callable[..., None]:
    def write_and_load(name: str, **arrays: np.ndarray) -> None:
        path = tmp_path / name
        if path.suffix == ".npz":
            np.savez(path, **arrays)
        elif arrays:
            np.save(path, next(iter(arrays.values())))
        dialog.load(path)
        qtbot.waitUntil(lambda: dialog.isVisible() and dialog.file.text() == name and not context.worker.busy)

    return write_and_load


def allowed(context: Context) -> np.ndarray:
    e = context.document.experiment
    return e.allowed(slice(0, e.n_q), slice(0, e.n_k))


def test_both_meanings_of_flags_are_counted(dialog: ImportDialog, load: Callable[..., None]) -> None:
    load("m.npy", mask=TRIANGLE)
    attend, blocked, additive = (dialog.meanings[m] for m in ("allowed", "blocked", "additive"))
    assert attend.choice.isChecked(), "every query keeps a key"
    assert "1 to 5 keys allowed a row" in attend.facts.text()
    assert "0 of 5 rows fully masked" in attend.facts.text()
    assert "0 to 4 keys allowed a row" in blocked.facts.text()
    assert "1 of 5 rows fully masked" in blocked.facts.text()
    assert not additive.choice.isEnabled() and "an array of bool" in additive.facts.text()
    assert blocked.pattern.accessibleName() == "Pattern of True = blocked: 10 of 25 cells allowed"


@pytest.mark.parametrize(("meaning", "wanted"), [("allowed", TRIANGLE), ("blocked", ~TRIANGLE)])
def test_flags_are_taken_as_chosen(
    dialog: ImportDialog, load: Callable[..., None], context: Context, meaning: str, wanted: np.ndarray
) -> None:
    load("m.npy", mask=TRIANGLE.astype(np.int8))
    dialog.meanings[meaning].choice.click()
    dialog.use.click()
    assert isinstance(context.document.experiment.rule, Imported)
    np.testing.assert_array_equal(allowed(context), wanted)
    assert context.document.undo_stack.undoText() == "Mask: m.npy"
    assert not dialog.isVisible()
    context.document.undo_stack.undo()
    assert allowed(context).all()


def test_the_inverted_mask_is_guessed_where_the_other_leaves_a_query_nothing(
    dialog: ImportDialog, load: Callable[..., None]
) -> None:
    load("m.npy", mask=~TRIANGLE)
    assert dialog.meanings["blocked"].choice.isChecked()


def test_an_additive_mask_is_a_rule_and_a_bias(
    dialog: ImportDialog, load: Callable[..., None], context: Context
) -> None:
    numbers = np.where(TRIANGLE, 0.5, -np.inf).astype(np.float32)[np.newaxis, np.newaxis]
    load("m.npy", mask=numbers)
    chosen = dialog.meanings["additive"]
    assert chosen.choice.isChecked()
    assert "15 scores changed" in chosen.facts.text()
    dialog.use.click()
    np.testing.assert_array_equal(allowed(context), TRIANGLE)
    (bias,) = context.document.experiment.scoring.biases
    assert isinstance(bias, Additive)
    np.testing.assert_array_equal(bias.cells, np.where(TRIANGLE, 0.5, 0.0))


def test_numbers_that_forbid_nothing_leave_the_rule(
    dialog: ImportDialog, load: Callable[..., None], context: Context
) -> None:
    from dataclasses import replace

    context.document.apply("c", replace(context.document.experiment, rule=Causal()))
    load("m.npy", mask=np.full((5, 5), 0.25))
    dialog.use.click()
    assert context.document.experiment.rule == Causal()
    assert len(context.document.experiment.scoring.biases) == 1


def test_a_mask_of_every_head(dialog: ImportDialog, load: Callable[..., None], context: Context) -> None:
    context.document.apply_named("animal", examples.load("animal"))
    e = context.document.experiment
    cells = np.random.RandomState(0).rand(e.heads, e.n_q, e.n_k) < 0.5
    load("m.npy", mask=cells)
    dialog.meanings["allowed"].choice.click()
    dialog.use.click()
    e = context.document.experiment
    for head in range(e.heads):
        np.testing.assert_array_equal(e.allowed(slice(0, e.n_q), slice(0, e.n_k), head), cells[head])


def test_one_of_several_arrays_is_chosen(dialog: ImportDialog, load: Callable[..., None], context: Context) -> None:
    load("m.npz", wrong=np.ones((4, 4), bool), right=TRIANGLE)
    assert not dialog.use.isEnabled()
    assert dialog.error.text() == "⚠ Expected shape (5, 5), received (4, 4)"
    dialog.array.setCurrentIndex(1)
    dialog.array.activated.emit(1)
    assert dialog.array.currentText() == "right, bool, 5 × 5"
    assert not dialog.error.isVisible()
    dialog.use.click()
    np.testing.assert_array_equal(allowed(context), TRIANGLE)


def test_whether_it_fits_follows_the_document(
    dialog: ImportDialog, load: Callable[..., None], context: Context
) -> None:
    load("m.npy", mask=TRIANGLE)
    assert dialog.use.isEnabled()
    context.document.apply_named("animal", examples.load("animal"))
    assert not dialog.use.isEnabled() and "received (5, 5)" in dialog.error.text()
    context.document.undo_stack.undo()
    assert dialog.use.isEnabled() and not dialog.error.isVisible()


def test_what_is_no_mask_says_so(
    dialog: ImportDialog, load: Callable[..., None], context: Context, tmp_path: Path
) -> None:
    before = context.document.experiment
    (tmp_path / "bad.csv").write_text("1,0\n1,x\n")
    load("bad.csv")
    assert dialog.error.text() == "⚠ Line 2, column 2: expected a number, true or false, received 'x'"
    assert not dialog.use.isEnabled()
    load("nan.npy", mask=np.full((5, 5), np.nan))
    assert dialog.error.text() == "⚠ This array is no mask"
    assert "received nan" in dialog.meanings["additive"].facts.text()
    load("line.npy", mask=np.ones(5, bool))
    assert not dialog.use.isEnabled()
    load("gone.npy")
    assert "a name that does not exist" in dialog.error.text()
    assert context.document.experiment is before


def test_the_file_is_asked_for(
    dialog: ImportDialog, context: Context, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "m.npy", TRIANGLE)
    answers = iter([("", ""), (str(tmp_path / "m.npy"), "")])
    asked = []

    def answer(parent: object, title: str, folder: str, kinds: str) -> tuple[str, str]:
        asked.append(folder)
        return next(answers)

    monkeypatch.setattr(QFileDialog, "getOpenFileName", staticmethod(answer))
    dialog.open_file()
    assert not dialog.isVisible()
    dialog.open_file()
    qtbot.waitUntil(dialog.isVisible)
    assert dialog.file.text() == "m.npy"
    monkeypatch.setattr(QFileDialog, "getOpenFileName", staticmethod(lambda *a: asked.append(a[2]) or ("", "")))
    dialog.open_file()
    assert asked[-1] == str(tmp_path), "it begins where the last one was"


def test_a_large_mask_is_drawn_in_part(dialog: ImportDialog, load: Callable[..., None]) -> None:
    load("m.npy", mask=np.tri(300, dtype=bool))
    facts = dialog.meanings["allowed"].facts.text()
    assert "1 to 300 keys" in facts and "the first 48 tokens" in facts


def test_what_a_file_before_it_added_goes(context: Context) -> None:
    e = replace(context.document.experiment, rule=MaskRule())
    added = _reading(np.where(np.eye(5, dtype=bool), -1e9, 0.5), "additive")
    once = with_reading(e, added)
    assert len(once.scoring.biases) == 1
    assert isinstance(once.rule, Imported)
    twice = with_reading(once, added)
    assert len(twice.scoring.biases) == 1
    flags = with_reading(twice, _reading(np.tri(5, dtype=bool), "allowed"))
    assert flags.scoring.biases == ()
    mine = replace(e, scoring=replace(e.scoring, biases=(Additive(np.ones((5, 5))),)))
    assert len(with_reading(mine, _reading(np.tri(5, dtype=bool), "allowed")).scoring.biases) == 1
