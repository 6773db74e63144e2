"""The export dialog: what it says it will write is what is then on disk."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QComboBox, QFileDialog, QLineEdit, QProgressBar
from pytestqt.qtbot import QtBot

from attn_gui.control.exports import Exports
from attn_gui.control.notices import Kind, Notice
from attn_gui.files import csv_reader
from attn_gui.files.experiment_json import read
from attn_gui.files.export_parts import Window
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.tokens import TokenSequence
from attn_gui.views.context import Context
from attn_gui.views.export_choices import PARTS
from attn_gui.views.export_dialog import ExportDialog, file_name_of

SIGHT = Window((1, 3), (0, 2))


def experiment(n: int = 4, heads: int = 2) -> Experiment:
    X = np.random.default_rng(3).standard_normal((n, 4))
    return Experiment.from_tokens([f"t{i}" for i in range(n)], X, heads=heads, rule=Causal())


class FullDisk(io.FileIO):
    """A file on a disk that has room for 100 bytes more."""

    def write(self, data: bytes) -> int:
        if self.tell() + len(data) > 100:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


def fill_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fdopen", lambda descriptor, mode: io.BufferedWriter(FullDisk(descriptor, mode)))


@pytest.fixture
def out(context: Context, tmp_path: Path) -> Path:
    """The folder that exports went to last."""
    folder = tmp_path / "out"
    folder.mkdir()
    context.settings.export_folder = folder
    return folder


@pytest.fixture
def show(context: Context, qtbot: QtBot, wait_traced: Callable[[], None], out: Path) -> Callable[..., ExportDialog]:
    context.document.start()

    def make(shown: Experiment | None = None) -> ExportDialog:
        e = experiment() if shown is None else shown
        context.document.open(Session((NamedExperiment("A: “test”?", e),)), None)
        wait_traced()
        qtbot.waitUntil(lambda: not context.feed.busy)
        dialog = ExportDialog(context, Exports(context.worker, context.feed), lambda: SIGHT)
        qtbot.addWidget(dialog)
        dialog.show()
        return dialog

    return make


def pick(box: QComboBox, text: str) -> None:
    """Choose the first entry that begins with ``text``, as a person does."""
    index = next(k for k in range(box.count()) if box.itemText(k).startswith(text))
    box.setCurrentIndex(index)
    box.activated.emit(index)


def texts(box: QComboBox) -> list[str]:
    return [box.itemText(k) for k in range(box.count()) if box.itemText(k)]


def export(dialog: ExportDialog, qtbot: QtBot) -> Path:
    with qtbot.waitSignal(dialog._exports.finished) as finished:
        dialog.export.click()
    assert finished.args is not None
    return finished.args[0]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_writes_the_weights_of_the_selected_head(
    show: Callable[..., ExportDialog], context: Context, qtbot: QtBot, out: Path
) -> None:
    context.selection.set_head(1)
    dialog = show()
    assert dialog.path.text() == str(out / "N_head2.csv")
    assert dialog.plan.text().startswith("1 file, 16 numbers, about ")
    written = export(dialog, qtbot)
    assert written == out / "N_head2.csv"
    np.testing.assert_array_equal(csv_reader.read(written).values.astype(np.float32), context.feed.trace.stage("N", 1))
    assert dialog.outcome.text().startswith("N_head2.csv is written to ")
    assert dialog.plan.text() == ""


def test_offers_what_the_experiment_has(show: Callable[..., ExportDialog], context: Context) -> None:
    dialog = show()
    stages = [text.split()[0] for text in texts(dialog.choices.what)]
    assert stages == [*stages_of(context.document.experiment), "The"]
    assert texts(dialog.choices.head) == ["Head 1", "Head 2", "Each head", "Mean over heads"]
    pick(dialog.choices.what, "Q")
    assert texts(dialog.choices.head) == ["Head 1", "Head 2", "Each head"]
    pick(dialog.choices.what, "X")
    assert texts(dialog.choices.head) == ["All heads together"]
    assert not dialog.choices.head.isEnabled()
    pick(dialog.choices.what, "A ")
    assert dialog.choices.head.currentText() == "Head 1"


@pytest.mark.parametrize(
    ("what", "head", "form", "name", "plan", "written"),
    [
        ("N", "Mean", "CSV, as", "N_mean.csv", "1 file, 16 numbers", ["N_mean.csv"]),
        ("A ", "Each", "CSV, as", "A_heads", "2 files in a folder, 32", ["A_head1.csv", "A_head2.csv"]),
        ("A ", "Each", "CSV, one", "A_long.csv", "1 file, 32 numbers", ["A_long.csv"]),
        ("N", "Each", "NPZ", "N.npz", "1 file, 32 numbers", ["N.npz"]),
        ("output", "All", "NPZ", "output.npz", "1 file, 16 numbers", ["output.npz"]),
    ],
)
def test_name_plan_and_files_agree(
    show: Callable[..., ExportDialog],
    qtbot: QtBot,
    out: Path,
    what: str,
    head: str,
    form: str,
    name: str,
    plan: str,
    written: list[str],
) -> None:
    dialog = show()
    pick(dialog.choices.what, what)
    pick(dialog.choices.head, head)
    pick(dialog.choices.form, form)
    assert dialog.path.text() == str(out / name)
    assert dialog.plan.text().startswith(plan)
    assert export(dialog, qtbot) == out / name
    assert files(out) == written


def test_the_whole_experiment(show: Callable[..., ExportDialog], context: Context, qtbot: QtBot, out: Path) -> None:
    dialog = show()
    pick(dialog.choices.what, "The whole")
    assert not dialog.choices.head.isEnabled()
    assert dialog.path.text() == str(out / "A- “test”")
    planned = dialog.plan.text()
    folder = export(dialog, qtbot)
    assert planned.split()[0] == str(len(files(folder)))
    dialog.path.setText(str(folder.parent))
    dialog.path.setText(str(folder))
    assert f"{len(files(folder))} of these files are there already." in dialog.plan.text()
    assert read(folder / "experiment.json").name == "A: “test”?"
    # the next one is offered beside it, not in it
    assert context.settings.export_folder == out
    pick(dialog.choices.what, "N")
    assert dialog.path.text() == str(out / "N_head1.csv")


def test_a_chosen_folder_stays_while_the_name_follows(show: Callable[..., ExportDialog], tmp_path: Path) -> None:
    dialog = show()
    dialog.path.setText(str(tmp_path / "mine.csv"))
    pick(dialog.choices.form, "NPZ")
    assert dialog.path.text() == str(tmp_path / "N_head1.npz")


def test_the_last_folder_is_remembered(
    show: Callable[..., ExportDialog], context: Context, qtbot: QtBot, tmp_path: Path
) -> None:
    dialog = show()
    dialog.path.setText(str(tmp_path / "N.csv"))
    export(dialog, qtbot)
    assert show().path.text() == str(tmp_path / "N_head1.csv")


def test_after_an_export_nothing_is_said_of_the_next_until_something_changes(
    show: Callable[..., ExportDialog], context: Context, qtbot: QtBot, out: Path, wait_traced: Callable[[], None]
) -> None:
    def choose_a_form(dialog: ExportDialog) -> None:
        pick(dialog.choices.form, "NPZ")
        pick(dialog.choices.form, "CSV, as")

    def type_a_path(dialog: ExportDialog) -> None:
        dialog.path.setText(str(out / "N_head1.cs"))
        dialog.path.setText(str(out / "N_head1.csv"))

    def edit(dialog: ExportDialog) -> None:
        context.document.apply("Again", replace(context.document.experiment))
        wait_traced()

    dialog = show()
    for change in (choose_a_form, type_a_path, edit):
        export(dialog, qtbot)
        assert dialog.outcome.isVisible()
        assert dialog.open_folder.isVisible()
        assert dialog.plan.text() == ""
        change(dialog)
        assert not dialog.outcome.isVisible()
        assert "N_head1.csv is there already." in dialog.plan.text()
        (out / "N_head1.csv").unlink()


def test_the_folder_of_the_open_session_comes_first(
    show: Callable[..., ExportDialog], context: Context, out: Path, tmp_path: Path
) -> None:
    dialog = show()
    assert dialog.path.text() == str(out / "N_head1.csv")
    lesson = tmp_path / "lesson"
    lesson.mkdir()
    context.document.saved(lesson / "mine.attn", context.document.session)
    assert dialog.path.text() == str(lesson / "N_head1.csv")
    dialog.path.setText(str(tmp_path / "elsewhere.csv"))
    context.document.saved(lesson / "mine.attn", context.document.session)
    assert dialog.path.text() == str(tmp_path / "elsewhere.csv")
    dialog.path.clear()
    dialog.hide()
    dialog.show()
    assert dialog.path.text() == str(lesson / "N_head1.csv")


def test_a_typed_name_needs_no_ending_and_no_folder(show: Callable[..., ExportDialog], qtbot: QtBot, out: Path) -> None:
    dialog = show()
    dialog.path.setText("mine")
    assert export(dialog, qtbot) == out / "mine.csv"
    pick(dialog.choices.form, "NPZ")
    dialog.path.setText("mine")
    assert export(dialog, qtbot) == out / "mine.npz"


def test_without_a_path_it_says_so(show: Callable[..., ExportDialog]) -> None:
    dialog = show()
    dialog.path.clear()
    assert not dialog.export.isEnabled()
    assert dialog.plan.text().endswith("Say where to write to.")


def test_browsing_for_a_file(
    show: Callable[..., ExportDialog], out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    def choose(parent: object, title: str, start: str, kinds: str) -> tuple[str, str]:
        asked.append((start, kinds))
        return str(tmp_path / "chosen.csv"), kinds

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    dialog = show()
    dialog.browse.click()
    assert asked == [(str(out / "N_head1.csv"), "CSV (*.csv)")]
    assert dialog.path.text() == str(tmp_path / "chosen.csv")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a: ("", ""))
    dialog.browse.click()
    assert dialog.path.text() == str(tmp_path / "chosen.csv")


def test_browsing_for_a_folder(
    show: Callable[..., ExportDialog], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *a: str(tmp_path))
    dialog = show()
    pick(dialog.choices.what, "The whole")
    dialog.browse.click()
    assert dialog.path.text() == str(tmp_path / "A- “test”")


def test_an_error_is_said_at_its_place(show: Callable[..., ExportDialog], qtbot: QtBot, tmp_path: Path) -> None:
    dialog = show()
    dialog.path.setText(str(tmp_path / "missing" / "N.csv"))
    with qtbot.waitSignal(dialog._exports.failed):
        dialog.export.click()
    assert dialog.error.isVisible()
    assert dialog.error.text().startswith("N.csv was not written: expected a folder that exists")
    assert dialog.export.isEnabled()
    pick(dialog.choices.form, "NPZ")
    assert not dialog.error.isVisible()


def test_a_full_disk(
    show: Callable[..., ExportDialog], qtbot: QtBot, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = show()
    fill_disk(monkeypatch)
    with qtbot.waitSignal(dialog._exports.failed):
        dialog.export.click()
    assert "a full disk" in dialog.error.text()
    assert files(out) == []


def test_cancelling_a_long_export(show: Callable[..., ExportDialog], qtbot: QtBot, out: Path) -> None:
    dialog = show(experiment(n=1500, heads=1))
    pick(dialog.choices.form, "CSV, one")
    assert not dialog.progress.isVisible()
    dialog.export.click()
    assert dialog.progress.isVisible()
    assert dialog.cancel.isVisible()
    assert not dialog.export.isEnabled()
    qtbot.waitUntil(lambda: dialog.progress.value() > 0)
    dialog.cancel.click()
    assert not dialog.progress.isVisible()
    assert dialog.export.isEnabled()
    assert dialog.outcome.text() == "Cancelled. No file was left half written."
    qtbot.waitUntil(lambda: files(out) == [])


def test_out_of_sight_the_window_says_how_it_went(
    show: Callable[..., ExportDialog], context: Context, qtbot: QtBot, tmp_path: Path
) -> None:
    said: list[Notice] = []
    context.notices.said.connect(said.append)
    dialog = show()
    dialog.export.click()
    dialog.shut.click()
    qtbot.waitUntil(lambda: bool(said))
    assert said[0].kind is Kind.INFO
    assert said[0].text.startswith("N_head1.csv is written to ")
    dialog.show()
    dialog.path.setText(str(tmp_path / "missing" / "N.csv"))
    dialog.export.click()
    dialog.shut.click()
    qtbot.waitUntil(lambda: len(said) == 2)
    assert said[1].kind is Kind.ERROR


def test_opens_the_folder(
    show: Callable[..., ExportDialog], qtbot: QtBot, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(Path(url.toLocalFile())))
    dialog = show()
    assert not dialog.open_folder.isVisible()
    export(dialog, qtbot)
    dialog.open_folder.click()
    pick(dialog.choices.what, "The whole")
    folder = export(dialog, qtbot)
    dialog.open_folder.click()
    assert opened == [out, folder]


def test_copies_one_table(show: Callable[..., ExportDialog], context: Context, qtbot: QtBot) -> None:
    dialog = show()
    with qtbot.waitSignal(dialog._exports.copied):
        dialog.copy.click()
    lines = QGuiApplication.clipboard().text().split("\n")
    assert lines[0] == "query\tt0\tt1\tt2\tt3"
    assert float(lines[4].split("\t")[4]) == pytest.approx(float(context.feed.trace.stage("N", 0)[3, 3]), rel=1e-6)
    assert dialog.outcome.text() == "Copied."
    pick(dialog.choices.head, "Each")
    assert not dialog.copy.isEnabled()
    pick(dialog.choices.what, "output")
    assert dialog.copy.isEnabled()


def test_follows_the_experiment(
    show: Callable[..., ExportDialog], context: Context, wait_traced: Callable[[], None]
) -> None:
    X = np.random.default_rng(1).standard_normal((3, 4))
    source = TokenSequence.of(["a", "b", "c"], X)
    cross = Experiment.from_tokens(["q"], [[1.0, 2.0, 3.0, 4.0]], context=source, heads=4)
    dialog = show(cross)
    pick(dialog.choices.what, "context")
    pick(dialog.choices.what, "N")
    pick(dialog.choices.head, "Head 4")
    pick(dialog.choices.what, "context")
    assert dialog.plan.text().startswith("1 file, 12 numbers")
    context.document.apply("Self-attention", experiment(heads=1))
    wait_traced()
    assert dialog.choices.what.currentText().startswith("N")
    assert texts(dialog.choices.head) == ["Head 1"]
    assert Path(dialog.path.text()).name == "N_head1.csv"
    assert dialog.plan.text().startswith("1 file, 16 numbers")


def test_says_when_the_latest_change_is_not_in_it(
    show: Callable[..., ExportDialog], context: Context, wait_traced: Callable[[], None]
) -> None:
    dialog = show()
    assert "not computed yet" not in dialog.plan.text()
    context.document.apply("Again", replace(context.document.experiment))
    assert "The latest change is not computed yet" in dialog.plan.text()
    wait_traced()
    context.feed.compute(context.document.experiment, "cpu")
    context.feed.cancel()
    assert "not computed yet" not in dialog.plan.text()


def test_before_the_first_result(context: Context, qtbot: QtBot, wait_traced: Callable[[], None], out: Path) -> None:
    dialog = ExportDialog(context, Exports(context.worker, context.feed), lambda: SIGHT)
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.plan.text() == "There is nothing to export until the first result is there."
    assert not dialog.export.isEnabled()
    assert not dialog.copy.isEnabled()
    context.document.start()
    wait_traced()
    assert dialog.path.text() == str(out / "N_head1.csv")
    assert dialog.export.isEnabled()


def test_by_the_keyboard_alone(show: Callable[..., ExportDialog], qtbot: QtBot, out: Path) -> None:
    dialog = show()
    dialog.choices.what.setFocus()
    choices = dialog.choices
    order = [choices.what, choices.head, choices.form, choices.part, dialog.path, dialog.browse]
    for field in order:
        assert dialog.focusWidget() is field
        qtbot.keyClick(field, Qt.Key.Key_Tab)
    dialog.choices.form.setFocus()
    qtbot.keyClick(dialog.choices.form, Qt.Key.Key_Down)
    qtbot.keyClick(dialog.choices.form, Qt.Key.Key_Down)
    dialog.path.setFocus()
    with qtbot.waitSignal(dialog._exports.finished):
        qtbot.keyClick(dialog.path, Qt.Key.Key_Return)
    assert files(out) == ["N_head1.npz"]
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_every_control_has_a_name(show: Callable[..., ExportDialog]) -> None:
    dialog = show()
    assert not dialog.isModal()
    for kind in (QComboBox, QLineEdit, QProgressBar):
        for control in dialog.findChildren(kind):
            assert control.accessibleName(), control
    for button in dialog.findChildren(QAbstractButton):
        assert button.text(), button


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Karina", "Karina"),
        ("a/b\\c: d?", "a-b-c- d"),
        ("  ..  ", "experiment"),
        ("é" * 100, "é" * 60),
        ("The first…", "The first"),
    ],
)
def test_a_title_as_a_file_name(title: str, name: str) -> None:
    assert file_name_of(title) == name


@pytest.mark.parametrize("what", ["N", "The whole"])
def test_nothing_is_replaced_unasked(
    show: Callable[..., ExportDialog], qtbot: QtBot, out: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = show()
    pick(dialog.choices.what, what)
    written = export(dialog, qtbot)
    mine = written if written.is_file() else written / "experiment.json"
    mine.write_text("mine")
    dialog.export.click()
    assert not dialog._exports.running
    assert dialog.question.isVisible() and "there already. Replace" in dialog.question.text()
    dialog.keep.click()
    assert not dialog.question.isVisible() and not dialog.replace.isVisible()
    assert mine.read_text() == "mine"
    dialog.export.click()
    with qtbot.waitSignal(dialog._exports.finished):
        dialog.replace.click()
    assert mine.read_text(encoding="utf-8") != "mine"
    assert not dialog.question.isVisible()
    dialog.export.click()
    assert dialog.question.isVisible(), "an answer holds once"
    pick(dialog.choices.form, "NPZ")
    assert not dialog.question.isVisible(), "another choice, another question"


def test_a_file_that_the_file_dialog_asked_about_is_replaced(
    show: Callable[..., ExportDialog], qtbot: QtBot, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = show()
    (out / "old.csv").write_text("old")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(out / "old.csv"), ""))
    dialog.browse.click()
    assert export(dialog, qtbot) == out / "old.csv"
    assert (out / "old.csv").read_text(encoding="utf-8") != "old"


def test_forms_of_one_stage_have_names_of_their_own(show: Callable[..., ExportDialog], qtbot: QtBot, out: Path) -> None:
    dialog = show()
    for form in ("CSV, as", "CSV, one", "NPZ"):
        pick(dialog.choices.form, form)
        export(dialog, qtbot)
    assert files(out) == ["N_head1.csv", "N_head1.npz", "N_head1_long.csv"]


def test_a_folder_is_called_as_the_open_file(
    show: Callable[..., ExportDialog], context: Context, tmp_path: Path
) -> None:
    dialog = show()
    context.document.saved(tmp_path / "mine.attn", context.document.session)
    pick(dialog.choices.what, "The whole")
    assert dialog.path.text() == str(tmp_path / "mine")


def test_a_path_typed_before_the_first_result_keeps_its_folder(
    context: Context, qtbot: QtBot, wait_traced: Callable[[], None], tmp_path: Path
) -> None:
    dialog = ExportDialog(context, Exports(context.worker, context.feed), lambda: SIGHT)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.path.setText(str(tmp_path / "mine.csv"))
    context.document.start()
    wait_traced()
    assert dialog.path.text() == str(tmp_path / "N_head1.csv")


@pytest.mark.parametrize(
    ("part", "name", "lines", "first"),
    [
        ("sight", "N_head1_window.csv", 3, ["query", "t0", "t1"]),
        ("pooled", "N_head1_pooled1024_max.csv", 5, ["query", "t0", "t1", "t2", "t3"]),
        ("means", "N_head1_pooled1024_mean.csv", 5, ["query", "t0", "t1", "t2", "t3"]),
        ("top", "N_head1_top8.csv", 11, ["head", "query_index", "query", "rank", "key_index", "key", "value"]),
    ],
)
def test_a_part_is_written_under_its_own_name(
    show: Callable[..., ExportDialog], qtbot: QtBot, out: Path, part: str, name: str, lines: int, first: list[str]
) -> None:
    dialog = show()
    pick(dialog.choices.part, PARTS[part])
    assert dialog.path.text() == str(out / name)
    assert not dialog.copy.isEnabled()
    written = export(dialog, qtbot).read_text(encoding="utf-8").splitlines()
    assert written[0].split(",") == first
    assert len(written) == lines


def test_only_matrices_have_parts(show: Callable[..., ExportDialog]) -> None:
    dialog = show()
    choices = dialog.choices
    pick(choices.part, PARTS["top"])
    pick(choices.what, "output")
    assert not choices.part.isEnabled()
    assert choices.order.part is None
    pick(choices.what, "A ")
    assert choices.order.part is not None
    pick(choices.form, "NPZ")
    assert choices.order.part is None
