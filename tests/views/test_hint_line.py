"""The quiet line: the first tour at the very first start, then something to try with the example."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from attn_gui.control.settings import Settings
from attn_gui.files import examples, tours
from attn_gui.model.edits import set_cells
from attn_gui.model.session import NamedExperiment
from attn_gui.views.hint_line import OFFER
from attn_gui.views.main_window import MainWindow
from tests.views.window_helpers import karina_window, settle


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made


def shown(window: MainWindow) -> list[str]:
    hint = window.hint
    links = (hint.start, hint.do_it, hint.undo, hint.other, hint.dismiss)
    return [link.text() for link in links if link.isVisible()]


def test_the_very_first_start_offers_the_first_tour_once(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    hint, settings = window.hint, window.context.settings
    assert hint.label.text() == OFFER and shown(window) == ["Start the tour", "Not now"]
    hint.start.click()
    guide = window.tours.guide
    assert guide is not None and guide.touring.tour is not None
    assert guide.touring.tour.title == tours.listed()[0].title
    assert not hint.isVisible() and not settings.first_tour
    guide.bar.leave.click()
    assert shown(window) == ["Do it", "Another"]
    assert not Settings(settings.directory).first_tour


def test_the_offer_can_be_declined(window: MainWindow) -> None:
    window.hint.dismiss.click()
    assert shown(window) == ["Do it", "Another"] and window.tours.guide is None
    assert not Settings(window.context.settings.directory).first_tour


def test_an_experiment_is_done_as_one_step_and_undone(window: MainWindow, qtbot: QtBot) -> None:
    hint, document = window.hint, window.context.document
    hint.dismiss.click()
    before = document.session
    assert hint.label.text() == "Try this: set x1 of “is” to 2. “is” now keeps 58% for itself, 22% before."
    hint.do_it.click()
    settle(qtbot, window)
    assert document.experiment.tokens.embeddings[1, 0] == 2
    assert window.context.selection.query == window.context.selection.key == 1
    assert "is" in window.sentence.sentence.accessibleName() and "is 58%" in window.sentence.sentence.accessibleName()
    assert document.undo_stack.count() == 1 and shown(window) == ["Undo", "Another"]
    hint.undo.click()
    assert document.session.same_work(before) and shown(window) == ["Do it", "Another"]


def test_it_is_done_with_the_example_as_it_was_shipped(window: MainWindow) -> None:
    hint, document = window.hint, window.context.document
    hint.dismiss.click()
    document.apply("Edit", set_cells(document.experiment, "tokens", 0, 0, 5))
    hint.do_it.click()
    assert document.experiment.tokens.embeddings[0, 0] == 1 and document.experiment.tokens.embeddings[1, 0] == 2
    document.undo_stack.undo()
    assert document.experiment.tokens.embeddings[0, 0] == 5 and shown(window) == ["Do it", "Another"]


def test_another_is_shown(window: MainWindow) -> None:
    hint = window.hint
    hint.dismiss.click()
    texts = []
    for _ in range(3):
        texts.append(hint.label.text())
        hint.other.click()
    assert texts[0] == texts[2] != texts[1]


@pytest.mark.parametrize("name", [name for name in examples.names() if examples.load(name).place is None])
def test_every_example_has_something_to_try_on_one_line(window: MainWindow, name: str) -> None:
    window.context.settings.first_tour = False
    window.resize(1280, 720)
    window.open_example(name)
    hint = window.hint
    assert "Do it" in shown(window)
    for _ in tours.tries(name):
        assert hint.label.sizeHint().width() <= hint.width() - 200, hint.label.text()
        hint.other.click()


def test_what_is_no_example_has_nothing_to_try(window: MainWindow) -> None:
    window.context.settings.first_tour = False
    assert window.hint.isVisible()
    window.context.document.apply_named("Mine", NamedExperiment("Mine", window.context.document.experiment))
    assert not window.hint.isVisible()
    window.context.document.undo_stack.undo()
    assert window.hint.isVisible()


def test_the_links_are_level_with_the_text_beside_them(window: MainWindow) -> None:
    hint = window.hint
    words: list[QWidget] = [hint.label, hint.start, hint.dismiss]
    for word in words:
        word.setText("New")  # type: ignore[attr-defined]
    hint.layout().activate()
    image = hint.grab().toImage()
    background = image.pixelColor(0, 0)

    def rows(word: QWidget) -> list[int]:
        """The rows of pixels that hold ink."""
        place = word.geometry()
        xs = range(place.left(), place.left() + word.fontMetrics().horizontalAdvance("New"))
        return [y for y in range(image.height()) if any(image.pixelColor(x, y) != background for x in xs)]

    assert rows(words[0]) and all(rows(word) == rows(words[0]) for word in words)
