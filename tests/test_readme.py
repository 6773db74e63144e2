"""What the README says about the Python API is run as it stands."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_python_example_runs_and_prints_what_its_comments_say() -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    # new files of the package are tried in tests/test_extend.py
    scripts = [block for block in blocks if not block.startswith("# attn_gui/")]
    assert scripts
    for block in scripts:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, str(README), "exec"), {})
        promised = re.findall(r"#.*?: (\[[\d. ]+\])$|# (\([\d, ]+\)):|\)  # ([a-z ]+)$", block, re.MULTILINE)
        for found in promised:
            assert "".join(found) in printed.getvalue()
        assert promised


def test_the_pictures_it_shows_are_there() -> None:
    for link in re.findall(r"!\[[^]]*\]\(([^)]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / link).is_file(), link
