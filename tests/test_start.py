"""Starting the program where it cannot start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
