"""From the start of the process to the first paint and the first result, whole processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache

from tests.bench.report import Case, Pairs

LIMIT = 1.3
COUNT = 12
PEER = "bare QMainWindow with a pyqtgraph ImageItem"


def cases() -> list[Case]:
    return [
        Case("first paint", PEER, LIMIT, lambda: starts(COUNT)[0]),
        Case("first result", PEER + ", painted", None, lambda: starts(COUNT)[1]),
    ]


@cache
def starts(count: int) -> tuple[Pairs, Pairs]:
    """First paint and first result against the bare window's first paint; the first pair, with cold disks, not counted.

    Seconds from the first line of each program, as both tell them: Python's own start is the same for both.
    """
    paints, results, bare = [], [], []
    for _ in range(count + 1):
        with tempfile.TemporaryDirectory() as profile:
            told = json.loads(_last_line("attn_gui", "--smoke", "--profile-dir", profile))
        paints.append(told["first_paint_ms"] / 1000)
        results.append(told["first_result_ms"] / 1000)
        bare.append(float(_last_line("tests.bench.bare_start")) / 1000)
    peer = tuple(bare[1:])
    return Pairs(tuple(paints[1:]), peer), Pairs(tuple(results[1:]), peer)


def _last_line(module: str, *arguments: str) -> str:
    command = [sys.executable, "-m", module, *arguments]
    # an installed program has its bytecode at hand
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]
