"""What the README says about the Python API is run as it stands."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_python_example_runs_and_prints_what_its_comments_say() -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, str(README), "exec"), {})
        promised = re.findall(r"#.*?: (\[[\d. ]+\])$|# (\([\d, ]+\)):", block, re.MULTILINE)
        for pair in promised:
            assert (pair[0] or pair[1]) in printed.getvalue()
        assert promised


def test_the_pictures_it_shows_are_there() -> None:
    for link in re.findall(r"!\[[^]]*\]\(([^)]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / link).is_file(), link
