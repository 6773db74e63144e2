"""With --profile-dir nothing is written anywhere else: the program and its settings travel together."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# a person who looks at About, chooses a theme and a file to open, opens every drawer, and quits
VISIT = """
import sys, time
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QFileDialog
from attn_gui import app

opened = []
real = app.open_window

def open_window(session, profile):
    window = real(session, profile)
    opened.append(window)
    window.context.feed.traced.connect(lambda trace: QTimer.singleShot(0, visit) if not visited else None)
    return window

visited = []

def visit():
    if visited:
        return
    visited.append(True)
    window = opened[0]
    window.context.settings.theme = "dark"
    window.menus._show_about()
    dialog = QFileDialog(window, "Open", sys.argv[1])
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.show()
    dialog.reject()
    dialog.deleteLater()
    for dock in window.docks:
        dock.toggleViewAction().trigger()
    QTimer.singleShot(2500, leave)

def leave():
    opened[0].menus.about.close()
    opened[0].close()
    QApplication.quit()

app.open_window = open_window
sys.exit(app.main(["--profile-dir", sys.argv[1]], time.perf_counter()))
"""


def run(code: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """``code`` with a home, a temporary folder and a place to stand of its own, all below ``folder``."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ATTN_GUI", "HF_"))}
    for name in ("home", "temporary", "here"):
        (folder / name).mkdir()
    home, temporary = str(folder / "home"), str(folder / "temporary")
    places = {
        "HOME": home,
        "USERPROFILE": home,
        "APPDATA": home,
        "LOCALAPPDATA": home,
        "TMPDIR": temporary,
        "TEMP": temporary,
    }
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        env=variables | places | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        cwd=folder / "here",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "darwin", reason="Qt keeps settings of its own where the system has them")
def test_nothing_is_written_outside_the_profile(tmp_path: Path) -> None:
    profile = tmp_path / "on a stick"
    done = run(VISIT, tmp_path, str(profile))
    assert done.returncode == 0, done.stderr
    written = [path for name in ("home", "temporary", "here") for path in (tmp_path / name).rglob("*")]
    # what draws text keeps an index of the system's fonts, whoever asks it to
    assert [path for path in written if path.is_file() and "fontconfig" not in path.parts] == []
    assert "theme=dark" in (profile / "settings.ini").read_text("utf-8")
    assert list((profile / "crash").iterdir()) == []
