"""How fast the built program starts, against bare frozen ones: python3 packaging/start.py FOLDER

FOLDER as smoke.py has it, built here by dev.py bundle, which leaves the bare programs in build/bundle: a QMainWindow
with a pyqtgraph image, and `import torch`. Prints medians and ends with 1 where a limit does not hold.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import smoke

PEERS = Path(__file__).resolve().parent.parent / "build" / "bundle" / "work" / "attn_gui"
ROUNDS = 9
# first paint over the bare window's; first result over that and the import of torch
PAINT, RESULT = 1.3, 1.15


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    program = smoke.program(Path(arguments[0]).resolve())
    peers = {name: program.with_name(name + program.suffix) for name in ("bare-window", "bare-torch")}
    try:
        for peer in peers.values():
            shutil.copy2(PEERS / peer.name, peer)
        rounds = [once(program, peers) for _ in range(ROUNDS + 1)][1:]  # the first finds its files on a cold disk
    finally:
        for peer in peers.values():
            peer.unlink(missing_ok=True)
    window, torch, paint, result = (statistics.median(times) for times in zip(*rounds, strict=True))
    ratios = {"first paint": (paint, window, PAINT), "first result": (result, window + torch, RESULT)}
    print(
        f"bare window {window:.0f} ms, import torch {torch:.0f} ms; medians of {ROUNDS}, each from the program's start"
    )
    for name, (ours, theirs, limit) in ratios.items():
        print(f"{name:13}{ours:6.0f} ms, {ours / theirs:.2f} of {theirs:.0f} ms (limit {limit})")
    return 0 if all(ours <= limit * theirs for ours, theirs, limit in ratios.values()) else 1


def once(program: Path, peers: dict[str, Path]) -> tuple[float, float, float, float]:
    """Milliseconds: the bare window's first paint, the import of torch, our first paint, our first result."""
    window, _ = timed([str(peers["bare-window"])])
    _, torch = timed([str(peers["bare-torch"])])
    result, told = timed([str(program), "--smoke"])
    times = json.loads(told)
    paint = result - (times["first_result_ms"] - times["first_paint_ms"])
    return window, float(torch), paint, result


def timed(words: list[str]) -> tuple[float, str]:
    """Milliseconds from the start of the process to its first line, and the line."""
    with tempfile.TemporaryFile() as complaints:
        started = time.perf_counter()
        with subprocess.Popen(
            words, env=smoke.offscreen(), stdout=subprocess.PIPE, stderr=complaints, text=True, encoding="utf-8"
        ) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            took = (time.perf_counter() - started) * 1000
            process.stdout.read()
        if process.returncode:
            complaints.seek(0)
            raise SystemExit(f"{words[0]} failed: {complaints.read().decode('utf-8', 'replace')[-2000:]}")
    return took, line


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
