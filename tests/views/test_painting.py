"""A fault in painting is reported and leaves the program alive."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

import attn_gui
from attn_gui.views.painting import guarded

ROOT = Path(attn_gui.__file__).parent
PAINTS = {"paint", "paintEvent", "paintSection", "drawBackground", "drawForeground", "drawRow", "drawBranches"}
# in a process of its own, which a painter left on its stack would end
STUMBLING = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from attn_gui import app
from attn_gui.files import examples
from attn_gui.model.session import Session
from attn_gui.views.drawers.weights_view import WeightsView
from attn_gui.views.fault_dialog import FaultDialog
from attn_gui.views.heatmap.label_strip import LabelStrip
from attn_gui.views.heatmap.numbers_item import NumbersItem

WHERE = {"delegate": (WeightsView, "backdrop"), "widget": (LabelStrip, "text"), "item": (NumbersItem, "_write")}

def stumble(*arguments):
    raise ValueError("what was to be painted")

application = QApplication(["attn-gui"])
window = app.open_window(Session((examples.load("translation"),)), Path(sys.argv[1]))
window.show()
window.docks[0].show()
painted = []
setattr(*WHERE[sys.argv[2]], lambda *a: painted.append(a) or stumble())
def go_on(rounds):
    for widget in application.allWidgets():
        widget.update()
    if rounds:
        QTimer.singleShot(100, lambda: go_on(rounds - 1))
        return
    (dialog,) = window.findChildren(FaultDialog)
    print(len(painted) > 1, dialog.isVisible(), len(list(Path(sys.argv[1]).glob("crash/report-*.txt"))), flush=True)
    application.quit()
window.context.feed.traced.connect(lambda trace: QTimer.singleShot(500, lambda: go_on(5)))
application.exec()
window.context.worker.close()
print("alive", flush=True)
"""


@pytest.mark.parametrize("where", ["delegate", "widget", "item"])
def test_a_fault_in_painting_is_reported_once_and_the_program_lives(where: str, tmp_path: Path) -> None:
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT.parent)}
    command = [sys.executable, "-c", STUMBLING, str(tmp_path), where]
    done = subprocess.run(command, capture_output=True, env=environment, text=True, timeout=100)
    assert (done.returncode, done.stdout) == (0, "True True 1\nalive\n"), done.stderr
    assert done.stderr.count("Traceback") == 1
    assert "QPaint" not in done.stderr


def test_every_override_that_paints_is_guarded() -> None:
    bare = []
    for path in ROOT.rglob("*.py"):
        for made in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            # a class with no base, or one that only says what others have, overrides nothing
            bases = [ast.unparse(base) for base in made.bases] if isinstance(made, ast.ClassDef) else []
            for member in made.body if isinstance(made, ast.ClassDef) and bases not in ([], ["Protocol"]) else ():
                if isinstance(member, ast.FunctionDef) and member.name in PAINTS:
                    guards = [each.id for each in member.decorator_list if isinstance(each, ast.Name)]
                    if "guarded" not in guards:
                        bare.append(f"{path.relative_to(ROOT)}: {made.name}.{member.name}")
    assert bare == []


def test_a_painter_that_is_handed_over_comes_back_as_it_was(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, where: seen.append(error))

    class Stumbling:
        @guarded
        def paint(self, painter: QPainter, fault: bool) -> None:
            painter.setPen(QColor("red"))
            painter.translate(3, 4)
            if fault:
                raise ZeroDivisionError

    image = QImage(8, 8, QImage.Format.Format_RGB32)
    with QPainter(image) as painter:
        before = painter.pen(), painter.transform()
        for fault in (True, False, True):
            Stumbling().paint(painter, fault)
            assert painter.isActive()
            assert (painter.pen(), painter.transform()) == before
    assert [type(error) for error in seen] == [ZeroDivisionError]


def test_painters_of_frames_that_are_still_remembered_are_ended(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, where: seen.append(error))
    painters: list[QPainter] = []

    class Stumbling(QWidget):
        @guarded
        def paintEvent(self, event: QPaintEvent) -> None:
            layer = QImage(QSize(4, 4), QImage.Format.Format_ARGB32)
            painter, second = QPainter(self), QPainter(layer)
            painters.extend((painter, second))
            try:
                raise KeyError
            except KeyError as error:
                raise ValueError from error

    widget = Stumbling()
    qtbot.addWidget(widget)
    for _ in range(3):
        widget.grab()
    assert len(painters) == 6
    assert not any(painter.isActive() for painter in painters)
    assert [type(error) for error in seen] == [ValueError]
