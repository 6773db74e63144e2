"""What importing a part of the program brings along: no Qt below control, no torch before the first paint."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys

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


def test_command_line_without_qt() -> None:
    assert not brought_along(["attn_gui", "attn_gui.cli"]) & {"PySide6", "pyqtgraph"}


def test_public_names_are_there() -> None:
    assert attn_gui.__all__
    missing = [name for name in attn_gui.__all__ if not hasattr(attn_gui, name)]
    assert not missing
