"""What the scenes of learning do: explanations, checking, exercises, tours and help."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import QWidget

from attn_gui.files import examples
from attn_gui.files.exercise_files import Handout, write_one
from attn_gui.model.exercise import Exercise
from attn_gui.model.masks import Causal
from attn_gui.views.check.check_drawer import CheckDrawer
from attn_gui.views.main_window import MainWindow

TASK = "Work out the weights and the output for Karina’s sentence, to three decimals."


def explained(window: MainWindow) -> None:
    window.context.selection.set_cell(1, 3)
    _open(window, "why")


def compared(window: MainWindow, settle: Callable[[MainWindow], None]) -> None:
    document = window.context.document
    window.pins.pin.trigger()
    document.apply("Causal", replace(document.experiment, rule=Causal()))
    _open(window, "compare")
    settle(window)


def flowing(window: MainWindow) -> None:
    window.context.selection.set_cell(7, 1)
    _open(window, "flow")


def checked(window: MainWindow, settle: Callable[[MainWindow], None]) -> None:
    _open(window, "check")
    drawer = next(dock for dock in window.docks if dock.objectName() == "check").widget()
    assert isinstance(drawer, CheckDrawer)
    settle(window)
    drawer.take_printed()


def walked(window: MainWindow) -> None:
    window.walk_through()
    assert window.walk is not None
    for _ in range(5):
        window.walk.walking.step(1)


def toured(number: int, steps: int) -> Callable[[MainWindow], None]:
    def act(window: MainWindow) -> None:
        window.tours.start(number)
        assert window.tours.guide is not None
        for _ in range(steps):
            window.tours.guide.bar.step(1)

    return act


def exercised(window: MainWindow, settle: Callable[[MainWindow], None]) -> None:
    experiment = examples.load("karina").experiment
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ann.attn")
        write_one(Handout(experiment, Exercise(("N", "output"), 3, 2), "Exercise 1", TASK), "ann", path)
        window.services.storage.open(path)
        settle(window)


def helped(link: str) -> Callable[[MainWindow], QWidget | None]:
    def act(window: MainWindow) -> QWidget | None:
        help_actions = window.menus.help
        help_actions.show_page(link)
        return help_actions.pages

    return act


def listed(window: MainWindow) -> QWidget | None:
    window.menus.help.list.trigger()
    return window.menus.help.keys


def _open(window: MainWindow, name: str) -> None:
    next(dock for dock in window.docks if dock.objectName() == name).toggleViewAction().trigger()
