"""About: what the program is made of and computes on, and every licence."""

from __future__ import annotations

import re
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from PySide6.QtGui import QGuiApplication, QIcon
from pytestqt.qtbot import QtBot

from attn_gui import __version__, paths
from attn_gui.compute import devices
from attn_gui.control.device_list import DeviceList
from attn_gui.control.worker import Priority, at_once
from attn_gui.files import installation
from attn_gui.views.about_dialog import ICON, AboutDialog
from attn_gui.views.main_window import MainWindow
from tests.views.window_helpers import karina_window

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made


@pytest.fixture
def about(window: MainWindow, qtbot: QtBot) -> AboutDialog:
    """As the Help menu opens it, with everything in it."""
    action = next(a for menu in window.menuBar().actions() for a in menu.menu().actions() if "About attn" in a.text())
    action.trigger()
    made = window.menus.about
    assert made is not None
    qtbot.waitUntil(lambda: made.whose.count() > 0 and not window.context.worker.busy, timeout=20_000)
    return made


def test_says_what_computes_and_on_what(about: AboutDialog) -> None:
    assert about.torch.text() == devices.build()
    assert about.torch.text().startswith(f"{torch.__version__}, built for ")
    there = [device.title for device in devices.devices() if device.reason is None]
    assert about.computes_on.text() == ", ".join(there)


def test_until_the_licences_are_read_it_says_so(window: MainWindow, qtbot: QtBot) -> None:
    free = threading.Event()
    window.context.worker.submit("torch", at_once(free.wait), Priority.TRACE)
    about = AboutDialog(window.context, DeviceList(window.context.worker, window))
    qtbot.addWidget(about)
    assert about.whose.count() == 0 and not about.text.toPlainText()
    assert about.text.placeholderText() == about.whose.placeholderText() == "Reading the licences…"
    free.set()
    qtbot.waitUntil(lambda: about.whose.count() > 0)
    assert about.text.toPlainText()


def test_details_are_copied_a_line_each(about: AboutDialog) -> None:
    about.copy.click()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0] == f"attn_gui: {__version__}"
    assert f"torch: {devices.build()}" in lines
    assert lines[-1] == f"Computes on: {about.computes_on.text()}"
    assert any(re.fullmatch(r"numpy: \d+\.\d+\.\d+", line) for line in lines)


def test_every_licence_can_be_read(about: AboutDialog) -> None:
    named = [about.whose.itemText(i) for i in range(about.whose.count())]
    assert named[:2] == ["attn_gui", "Python"]
    assert {"torch", "PySide6_Essentials", "numpy", "all-MiniLM-L6-v2 (example)"} <= set(named)
    for i, name in enumerate(named):
        about.whose.setCurrentIndex(i)
        assert len(about.text.toPlainText()) > 500, name
    about.whose.setCurrentIndex(named.index("attn_gui"))
    assert about.text.toPlainText() == (ROOT / "LICENSE").read_text("utf-8").strip()


def test_opens_beside_the_window_and_once(about: AboutDialog, window: MainWindow) -> None:
    assert not about.isModal()
    about.close_button.click()
    assert not about.isVisible()
    window.menus._show_about()
    assert window.menus.about is about
    assert about.isVisible()
    about.reject()


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_the_icon_is_drawn_in_every_theme(about: AboutDialog, window: MainWindow, theme: str) -> None:
    window.context.settings.theme = theme
    image = about.grab().toImage()
    colours = {image.pixelColor(x, y).name() for x in range(16, 16 + ICON) for y in range(16, 16 + ICON)}
    assert {"#0f2a4d", "#ffb870"} <= colours


def test_the_window_and_the_program_have_an_icon_of_every_size(qtbot: QtBot) -> None:
    icon = QIcon(str(paths.resource("icons/attn-gui.svg")))
    for size in (16, 24, 32, 48, 64, 128, 256, 512):
        picture = icon.pixmap(size, size).toImage()
        assert (picture.width(), picture.height()) == (size, size)
        assert picture.pixelColor(0, 0).alpha() == 0
        assert picture.pixelColor(size * 28 // 256, size // 2).name() == "#0f2a4d"


def test_packages_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    stated = project["dependencies"] + project["optional-dependencies"]["models"]
    assert set(installation.PACKAGES) == {re.match(r"[\w.-]+", text)[0] for text in stated}


def test_what_packages_need_is_listed_as_well() -> None:
    named = {licence.package for licence in installation.licences()}
    assert {"sympy", "networkx", "shiboken6", "huggingface_hub", "tokenizers"} <= named
    assert not named & {"pytest", "ruff"}


def test_qt_comes_with_the_texts_of_its_licence() -> None:
    text = next(one.text for one in installation.licences() if one.package == "PySide6_Essentials")
    assert text.startswith("PySide6_Essentials: LGPL-3.0-only OR")
    assert "the LGPL 3.0 is the one that attn_gui uses it under" in text
    for words in ("GNU LESSER GENERAL PUBLIC LICENSE", "GNU GENERAL PUBLIC LICENSE", "END OF TERMS AND CONDITIONS"):
        assert words in text


def test_a_bundle_shows_what_lies_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "licences"
    for place, text in (
        ("attn_gui/LICENSE", "ours"),
        ("torch/LICENSE", "theirs"),
        ("torch/third_party/NOTICE", "and theirs"),
        ("shiboken6/METADATA", "Name: shiboken6\nLicense: LGPL-3.0-only\n\nwords"),
        ("other/METADATA", "Name: other\nClassifier: License :: OSI Approved :: MIT License\n\nwords"),
    ):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")
    paths.resources()  # known before the program seems to lie elsewhere
    monkeypatch.setattr("sys._MEIPASS", str(tmp_path), raising=False)
    found = {licence.package: licence.text for licence in installation.licences()}
    assert list(found) == ["attn_gui", "all-MiniLM-L6-v2 (example)", "other", "shiboken6", "torch"]
    assert found["attn_gui"] == "ours"
    assert found["torch"] == "theirs\n\nand theirs"
    assert found["other"] == "other: MIT License"
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in found["shiboken6"]
