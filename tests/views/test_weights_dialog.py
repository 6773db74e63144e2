"""The weights dialog: what is in a file, what becomes of it, and nothing changed until the person says so."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QAbstractButton, QFileDialog
from pytestqt.qtbot import QtBot
from torch import nn

from attn_gui.model.experiment import Experiment
from attn_gui.views.context import Context
from attn_gui.views.main_window import MainWindow
from attn_gui.views.tensor_model import TensorModel
from attn_gui.views.weights_dialog import WeightsDialog
from tests.views.window_helpers import karina_window


@pytest.fixture
def dialog(context: Context, qtbot: QtBot) -> WeightsDialog:
    made = WeightsDialog(context)
    qtbot.addWidget(made)
    return made


@pytest.fixture
def look(dialog: WeightsDialog, context: Context, qtbot: QtBot) -> Callable[[Path], WeightsDialog]:
    def open_file(path: Path) -> WeightsDialog:
        dialog.open_file(path)
        qtbot.waitUntil(lambda: not context.worker.busy)
        return dialog

    return open_file


def encoder(path: Path, heads: int | None = 2) -> nn.TransformerEncoder:
    torch.manual_seed(0)
    made = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2, enable_nested_tensor=False)
    torch.save({"model": made.state_dict()} | ({} if heads is None else {"num_heads": heads}), path)
    return made


def cells(model: TensorModel) -> list[list[str]]:
    return [[model.index(r, c).data() for c in range(model.columnCount())] for r in range(model.rowCount())]


def use(dialog: WeightsDialog, context: Context, qtbot: QtBot) -> None:
    qtbot.mouseClick(dialog.ok, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not context.worker.busy, timeout=30_000)


def test_what_is_in_the_file_is_shown_before_anything_is_read(look: Callable, tmp_path: Path) -> None:
    torch.save(nn.MultiheadAttention(2, 1, add_bias_kv=True).state_dict(), tmp_path / "mha.pt")
    dialog = look(tmp_path / "mha.pt")
    assert cells(dialog.tensors) == [
        ["in_proj_weight", "6 × 2", "float32", "W_Q, W_K, W_V"],
        ["in_proj_bias", "6", "float32", "b_Q, b_K, b_V"],
        ["bias_k", "1 × 1 × 2", "float32", "bias_k"],
        ["bias_v", "1 × 1 × 2", "float32", "bias_v"],
        ["out_proj.weight", "2 × 2", "float32", "W_O"],
        ["out_proj.bias", "2", "float32", "b_O"],
    ]
    QAbstractItemModelTester(dialog.tensors)
    assert dialog.module.currentText() == "nn.MultiheadAttention,  2 → 2"
    assert [dialog.heads.itemText(k) for k in range(dialog.heads.count())] == ["1  (d_k 2)", "2  (d_k 1)"]
    assert dialog.ok.isEnabled() and not dialog.draw.isVisible() and dialog.zero_key.isVisible()


def test_they_are_taken_up_in_one_step(look: Callable, context: Context, qtbot: QtBot, tmp_path: Path) -> None:
    torch.manual_seed(2)
    module = nn.MultiheadAttention(2, 2, add_bias_kv=True)
    torch.save(module.state_dict(), tmp_path / "mha.pt")
    before, steps = context.document.session, context.document.undo_stack.count()
    dialog = look(tmp_path / "mha.pt")
    dialog.heads.setCurrentIndex(1)
    dialog.zero_key.setChecked(True)
    said: list[str] = []
    context.notices.said.connect(lambda notice: said.append(notice.text))
    use(dialog, context, qtbot)
    e = context.document.experiment
    assert (e.heads, e.kv_heads, e.variant.is_multi_head) == (2, 2, True)
    assert [key.name for key in e.appended] == ["bias", "zero"]
    assert e.weights is not None and e.weights.W_O is not None
    assert np.array_equal(e.weights.W_O.array(), module.out_proj.weight.detach().numpy().T)
    assert e.tokens is before.experiment.tokens
    assert context.document.undo_stack.count() == steps + 1
    assert context.document.undo_stack.undoText() == "Open weights"
    assert "mha.pt" in said[-1] and not dialog.isVisible()
    context.document.undo_stack.undo()
    assert context.document.session.named is before.named


def test_embeddings_of_another_width_are_drawn_where_the_person_agrees(
    look: Callable, context: Context, qtbot: QtBot, tmp_path: Path
) -> None:
    made = encoder(tmp_path / "encoder.pth")
    before = context.document.experiment
    dialog = look(tmp_path / "encoder.pth")
    assert dialog.widths.text() == "The tokens have 2 dimensions; these weights read 8."
    assert not dialog.ok.isEnabled() and not dialog.seed.isEnabled()
    assert dialog.heads.currentData() == 2  # the file says so
    dialog.draw.setChecked(True)
    dialog.seed.setValue(3)
    dialog.module.setCurrentIndex(1)
    assert dialog.tensors.first_used == 12
    use(dialog, context, qtbot)
    e = context.document.experiment
    assert (e.tokens.tokens, e.tokens.width, e.heads) == (before.tokens.tokens, 8, 2)
    assert e.weights is not None and e.weights.W_O is not None
    assert np.array_equal(e.weights.W_O.array(), made.layers[1].self_attn.out_proj.weight.detach().numpy().T)


def test_the_tokens_may_change_while_it_reads(look: Callable, context: Context, qtbot: QtBot, tmp_path: Path) -> None:
    torch.save(nn.MultiheadAttention(2, 1).state_dict(), tmp_path / "mha.pt")
    dialog = look(tmp_path / "mha.pt")
    dialog.accept()
    later = Experiment.from_tokens(["other"], [[1.0, 2.0]])
    context.document.apply("another", later)
    qtbot.waitUntil(lambda: not context.worker.busy, timeout=30_000)
    e = context.document.experiment
    assert e.tokens is later.tokens and e.variant.is_multi_head


def test_a_file_that_is_refused_changes_nothing_and_says_why(look: Callable, context: Context, tmp_path: Path) -> None:
    class Harm:
        def __reduce__(self) -> tuple[object, ...]:
            return os.mkdir, (str(tmp_path / "harmed"),)

    torch.save({"a": Harm()}, tmp_path / "bad.pt")
    before = context.document.session
    dialog = look(tmp_path / "bad.pt")
    assert "mkdir" in dialog.note.text() and dialog.note.text().startswith("bad.pt: ")
    assert dialog.note.objectName() == "error"
    assert not dialog.ok.isEnabled() and dialog.module.count() == 0 and dialog.tensors.rowCount() == 0
    assert context.document.session is before and not (tmp_path / "harmed").exists()
    encoder(tmp_path / "good.pt")
    look(tmp_path / "good.pt")
    assert dialog.note.objectName() == "muted" and dialog.module.count() == 2


def test_a_file_that_goes_before_it_is_read(look: Callable, context: Context, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "mha.pt"
    torch.save(nn.MultiheadAttention(2, 1).state_dict(), path)
    before = context.document.session
    dialog = look(path)
    path.unlink()
    use(dialog, context, qtbot)
    assert dialog.isVisible() and "does not exist" in dialog.note.text()
    assert context.document.session is before


def test_cancel_gives_up_what_is_being_read(look: Callable, context: Context, qtbot: QtBot, tmp_path: Path) -> None:
    torch.save(nn.MultiheadAttention(2, 1).state_dict(), tmp_path / "mha.pt")
    before = context.document.session
    dialog = look(tmp_path / "mha.pt")
    dialog.accept()
    dialog.reject()
    qtbot.wait(50)
    assert context.document.session is before and not dialog.isVisible()
    dialog.show()
    assert dialog.ok.isEnabled()


def test_a_file_is_asked_for(
    dialog: WeightsDialog, context: Context, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.save(nn.MultiheadAttention(2, 1).state_dict(), tmp_path / "mha.pt")
    answers = ["", str(tmp_path / "mha.pt")]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *arguments: (answers.pop(0), ""))
    dialog.choose()
    assert not dialog.isVisible()
    dialog.choose()
    qtbot.waitUntil(lambda: dialog.ok.isEnabled())


def test_every_control_has_a_name_and_a_letter(look: Callable, tmp_path: Path) -> None:
    encoder(tmp_path / "a.pt")
    dialog = look(tmp_path / "a.pt")
    letters = [b.text().partition("&")[2][:1].lower() for b in dialog.findChildren(QAbstractButton) if b.text()]
    assert all(letters) and len(set(letters)) == len(letters)
    for field in (dialog.module, dialog.heads, dialog.seed, dialog.table):
        assert field.accessibleName()


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made


def test_dropped_on_the_window(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    encoder(tmp_path / "encoder.PT")
    before = window.context.document.session
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "encoder.PT"))])
    event = QDropEvent(
        QPoint(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    window.dropEvent(event)
    assert event.isAccepted()
    qtbot.waitUntil(
        lambda: window.files.weights is not None and window.files.weights.module.count() == 2, timeout=30_000
    )
    assert window.context.document.session is before
    actions = [action.text() for action in window.menuBar().actions()[0].menu().actions()]
    assert "Open &weights…" in actions


def test_what_was_ticked_for_one_file_is_not_for_the_next(look: Callable, tmp_path: Path) -> None:
    torch.save(nn.MultiheadAttention(2, 1).state_dict(), tmp_path / "mha.pt")
    dialog = look(tmp_path / "mha.pt")
    dialog.zero_key.setChecked(True)
    dialog.reject()
    assert not look(tmp_path / "mha.pt").zero_key.isChecked()


def test_as_many_heads_as_there_are_now_are_offered_first(look: Callable, context: Context, tmp_path: Path) -> None:
    context.document.apply("heads", Experiment.from_tokens("ab", np.eye(6)[:2], heads=3))
    torch.save(nn.MultiheadAttention(6, 2).state_dict(), tmp_path / "mha.pt")
    assert look(tmp_path / "mha.pt").heads.currentData() == 3
    encoder(tmp_path / "said.pt")
    assert look(tmp_path / "said.pt").heads.currentData() == 2


def test_weights_that_are_not_finite_are_named(look: Callable, context: Context, qtbot: QtBot, tmp_path: Path) -> None:
    state = nn.MultiheadAttention(2, 1).state_dict()
    state["out_proj.weight"][0, 0] = torch.nan
    torch.save(state, tmp_path / "nan.pt")
    said: list[str] = []
    context.notices.said.connect(lambda notice: said.append(notice.text))
    use(look(tmp_path / "nan.pt"), context, qtbot)
    assert said[-1] == "Of the weights of nan.pt W_O: not every number is finite"
