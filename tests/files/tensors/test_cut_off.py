"""A file that another program cuts off while it is looked into is told of, and never ends the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# cuts the file off right after it was found to be what it was, which nobody can rule out
LOOKING = """
import os, sys
from itertools import count
from pathlib import Path
import numpy as np
from attn_gui.files.errors import FileError
from attn_gui.files.tensors import layer_arrays, peeking
from attn_gui.model import mapped
from attn_gui.model.tensors.proposals import propose
from tests.files.tensors.writing import looked, opened

asked, folder = mapped._stamp, Path(sys.argv[1])
causal = np.tril(np.random.default_rng(0).random((2, 300, 300), np.float32))
arrays = {name: np.ones((2, 300, 8), np.float32) for name in "qkv"}
arrays["weights"] = causal / causal.sum(-1, keepdims=True)

def ended(path, doing, moment):
    left = count(1)

    def stamp(descriptor):
        found = asked(descriptor)
        if next(left) == moment:
            os.truncate(path, 4096)
        return found

    np.savez(path, **arrays)
    try:
        if doing == "look":
            mapped._stamp = stamp
        contents = looked(path)
        mapped._stamp = stamp
        opened(contents, propose(contents))
        return "read"
    except FileError as error:
        return str(error)
    finally:
        mapped._stamp = asked

for large in (False, True):
    if large:
        peeking.WHOLE_BYTES, layer_arrays.IN_MEMORY = 1 << 18, 0
    for doing in ("look", "open"):
        for moment in (1, 2, 3, 4, 9, 30):
            print(ended(folder / f"{doing}_{moment}_{large}.npz", doing, moment), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets nobody cut a mapped file off")
def test_a_file_that_is_cut_off_at_any_moment_is_told_of(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LOOKING, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert run.returncode == 0, (run.returncode, run.stdout, run.stderr)
    ended = run.stdout.splitlines()
    assert len(ended) == 24
    changed = [
        text for text in ended if text.endswith(("changed since: open it again", "a file that was cut off since"))
    ]
    assert len(changed) >= 12
    assert all(text in ("read", *changed) for text in ended), ended
