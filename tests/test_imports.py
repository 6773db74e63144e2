"""What importing a part of the program brings along: no Qt below control, no torch before the first paint."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys
from importlib.util import find_spec

import pytest

import attn_gui

HEAVY = ("PySide6.QtWidgets", "PySide6", "pyqtgraph", "torch")
IMPORT_AND_TELL = f"""
import importlib, json, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(json.dumps([name for name in {HEAVY} if name in sys.modules]))
"""


def modules(package: str) -> list[str]:
    """A package and every module below it."""
    top = __import__(package, fromlist=["__path__"])
    return [package, *(found.name for found in pkgutil.walk_packages(top.__path__, f"{package}."))]


def brought_along(names: list[str]) -> set[str]:
    command = [sys.executable, "-c", IMPORT_AND_TELL, *names]
    return set(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


@pytest.mark.parametrize("package", ["model", "files"])
def test_neither_qt_nor_torch(package: str) -> None:
    assert brought_along(modules(f"attn_gui.{package}")) == set()


def test_compute_without_qt() -> None:
    assert brought_along(modules("attn_gui.compute")) == {"torch"}


def test_control_without_widgets_and_torch() -> None:
    assert brought_along(modules("attn_gui.control")) == {"PySide6"}


def test_window_without_torch() -> None:
    assert "torch" not in brought_along([*modules("attn_gui.views"), "attn_gui.app"])


# what the window needs only once something is asked of it
LATER = [
    "torch",
    "pyqtgraph",
    "attn_gui.cli.running",
    "attn_gui.files.checkpoint.opening",
    "attn_gui.files.tensors.opening",
    "attn_gui.files.tours",
    "attn_gui.views.export_dialog",
    "attn_gui.views.more_panel",
]
FIRST_PAINT = (
    f"LATER = {LATER}"
    + """
import sys, tempfile
from pathlib import Path
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication
application = QApplication(["attn-gui"])
from attn_gui.app import open_window
from attn_gui.files import examples
from attn_gui.model.session import Session

class Watcher(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            print([name for name in LATER if name in sys.modules])
            watched.removeEventFilter(self)
        return False

window = open_window(Session((examples.load("karina"),)), Path(tempfile.mkdtemp()))
watcher = Watcher()
window.installEventFilter(watcher)
window.first_painted.connect(application.quit)
window.show()
application.exec()
window.context.worker.close()
"""
)


@pytest.mark.skipif(sys.platform == "win32", reason="on Windows torch's libraries must be loaded before Qt's")
def test_the_first_paint_does_not_wait_for_what_comes_later() -> None:
    assert all(find_spec(name) is not None for name in LATER)
    run = subprocess.run([sys.executable, "-c", FIRST_PAINT], capture_output=True, text=True, check=True, timeout=120)
    assert run.stdout.split() == ["[]"]


def test_command_line_without_qt() -> None:
    assert not brought_along(["attn_gui", "attn_gui.cli"]) & {"PySide6", "pyqtgraph"}


def test_public_names_are_there() -> None:
    assert attn_gui.__all__
    missing = [name for name in attn_gui.__all__ if not hasattr(attn_gui, name)]
    assert not missing
