"""Starting the program where it cannot start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

START = """
import sys
from attn_gui import app

def open_window(session, profile):
    raise RuntimeError("a word of the person's")

app.open_window = open_window
sys.exit(app.main(["--profile-dir", sys.argv[1]], 0.0))
"""


def test_a_window_that_cannot_open_says_so_and_leaves_a_report(tmp_path: Path) -> None:
    command = [sys.executable, "-c", START, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (1, "")
    (report,) = (tmp_path / "crash").glob("report-*.txt")
    said = done.stderr.strip()
    assert said.startswith("attn-gui: attn_gui cannot start: RuntimeError in attn_gui/app.py, line ")
    assert said.endswith(f". The report is in {report}")
    text = report.read_text("utf-8")
    assert "in open_window" in text
    assert "a word of the person's" not in text


linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="elsewhere there is always a screen, and a working folder cannot go"
)


@linux
def test_without_a_screen_it_says_so(tmp_path: Path) -> None:
    variables = {**os.environ, "QT_QPA_PLATFORM": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    command = [sys.executable, "-m", "attn_gui", "--profile-dir", str(tmp_path)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("attn-gui: there is no screen here") and done.stderr.count("\n") == 1


@linux
def test_where_the_working_folder_is_gone_it_works_all_the_same(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    start = "import sys; from attn_gui.__main__ import main; sys.exit(main())"
    words = f"import os, sys; os.rmdir({str(gone)!r}); sys.argv[1:] = ['--profile-dir', {str(tmp_path)!r}, '--smoke']; "
    command = [sys.executable, "-c", words + start]
    variables = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    done = subprocess.run(command, cwd=gone, env=variables, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["N"][0][0] == pytest.approx(0.238364, abs=1e-6)
