"""Copy as, and Save script: what is on screen runs elsewhere and prints the same."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.control.notices import Kind, Notice
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.weights import Weights
from attn_gui.views.code_actions import FILTERS, CodeActions
from attn_gui.views.context import Context


@pytest.fixture
def said(context: Context) -> list[Notice]:
    notices: list[Notice] = []
    context.notices.said.connect(notices.append)
    return notices


@pytest.fixture
def code(context: Context, qtbot: QtBot, wait_traced: Callable[[], None], tmp_path: Path) -> CodeActions:
    parent = QWidget()
    qtbot.addWidget(parent)
    context.settings.export_folder = tmp_path
    context.document.start()
    wait_traced()
    return CodeActions(context, parent)


def trigger(code: CodeActions, text: str) -> None:
    next(action for action in code.menu.actions() if action.text().replace("&", "") == text).trigger()


def run(text: str, file: Path) -> dict[str, Any]:
    names: dict[str, Any] = {"__file__": str(file)}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(text, str(file), "exec"), names)
    return names


@pytest.mark.parametrize("form", ["PyTorch", "NumPy"])
def test_copied_as_a_script(code: CodeActions, context: Context, qtbot: QtBot, said: list[Notice], form: str) -> None:
    context.settings.decimals = 6
    trigger(code, form)
    qtbot.waitUntil(lambda: bool(said))
    assert said == [Notice(f"Copied as {form}", Kind.INFO, "code")]
    text = QGuiApplication.clipboard().text()
    trace = context.feed.trace
    assert trace is not None and "precision=6" in text
    assert np.allclose(np.asarray(run(text, Path())["output"]), trace.stage("output"), atol=1e-6)


def test_copied_as_latex(code: CodeActions, context: Context, qtbot: QtBot, said: list[Notice]) -> None:
    trigger(code, "LaTeX")
    qtbot.waitUntil(lambda: bool(said))
    assert r"0.2384 & 0.1175" in QGuiApplication.clipboard().text()


def test_what_is_shown_is_what_is_copied(code: CodeActions, context: Context, qtbot: QtBot, said: list[Notice]) -> None:
    """Also while a later edit is still being computed."""
    shown = context.document.experiment
    context.document.apply("mask", replace(shown, rule=Causal()))
    trigger(code, "NumPy")
    qtbot.waitUntil(lambda: bool(said))
    assert "allowed" not in QGuiApplication.clipboard().text()


def test_before_anything_is_computed(context: Context, qtbot: QtBot, said: list[Notice], tmp_path: Path) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    made = CodeActions(context, parent)
    trigger(made, "PyTorch")
    assert [notice.kind for notice in said] == [Kind.WARNING]


def large(d: int) -> Experiment:
    random = np.random.RandomState(0)
    weights = Weights.of(*(random.standard_normal((d, d)) for _ in range(3)))
    return Experiment.from_tokens("ab", random.standard_normal((2, d)), weights)


def test_too_much_to_copy_is_said(
    code: CodeActions, context: Context, qtbot: QtBot, said: list[Notice], wait_traced: Callable[[], None]
) -> None:
    context.document.apply("large", large(100))
    wait_traced()
    QGuiApplication.clipboard().setText("before")
    trigger(code, "PyTorch")
    qtbot.waitUntil(lambda: bool(said))
    assert said[0].kind is Kind.ERROR and "30,200: save the script" in said[0].text
    assert QGuiApplication.clipboard().text() == "before"


@pytest.mark.parametrize(
    ("typed", "kind", "name"),
    [
        ("s.py", "pytorch", "s.py"),
        ("s", "numpy", "s.py"),
        ("s.tex", "pytorch", "s.tex"),
        ("s", "latex", "s.tex"),
    ],
)
def test_saved_where_the_person_says(
    code: CodeActions,
    context: Context,
    qtbot: QtBot,
    said: list[Notice],
    wait_traced: Callable[[], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    kind: str,
    name: str,
) -> None:
    context.document.apply("large", large(20))
    wait_traced()
    folder = tmp_path / "out"
    folder.mkdir()
    asked: list[str] = []

    def answer(parent: object, title: str, start: str, filters: str) -> tuple[str, str]:
        asked.append(start)
        return str(folder / typed), FILTERS[kind]

    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
    code.save.trigger()
    qtbot.waitUntil(lambda: bool(said))
    assert asked == [str(tmp_path / "Karina.py")]
    assert said[0].kind is Kind.INFO and name in said[0].text
    files = sorted(file.name for file in folder.iterdir())
    assert context.settings.export_folder == folder
    text = (folder / name).read_text()
    if name.endswith(".tex"):
        assert files == [name] and "pmatrix" in text
        return
    assert files == ["s.data.npz", name]
    assert ("import torch" in text) == (kind == "pytorch")
    trace = context.feed.trace
    assert trace is not None
    assert np.allclose(np.asarray(run(text, folder / name)["output"]), trace.stage("output"), atol=1e-4)


def test_a_folder_that_cannot_be_written(
    code: CodeActions, qtbot: QtBot, said: list[Notice], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = str(tmp_path / "nowhere" / "s.py")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *arguments: (target, FILTERS["pytorch"]))
    code.save.trigger()
    qtbot.waitUntil(lambda: bool(said))
    assert said[0].kind is Kind.ERROR and "s.py was not written: expected a folder that exists" in said[0].text
