"""Tries the built program as its users start it: python3 packaging/smoke.py FOLDER [--xvfb]

FOLDER holds attn-gui (attn-gui.exe; on macOS attn_gui.app). Each start has an empty PATH and a home of its own. Needs
nothing but Python's own library, so that it runs where attn_gui itself is not installed. Says what was tried and ends
with 1 if anything failed.
"""

from __future__ import annotations

import atexit
import csv
import json
import math
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_S = 180
# its own tests open a dozen models
SELF_TEST_S = 900
# what may stand on stderr: words of systems and drivers about themselves, and of Qt about the offscreen platform
HARMLESS = (
    "libEGL warning",
    "MESA:",
    "QStandardPaths: XDG_RUNTIME_DIR not set",
    "QStandardPaths: runtime directory",
    "This plugin does not support ",
)
SESSION = [[0.5, -1.0], [2.0, 0.0], [0.0, 1.5]]
KARINA = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.5, 1.0]]


class Failure(Exception):
    """What went wrong, in words."""


def main(arguments: list[str]) -> int:
    xvfb = "--xvfb" in arguments
    folders = [Path(word) for word in arguments if not word.startswith("--")]
    if len(folders) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    tried: list[tuple[str, Callable[[Path], None]]] = [
        ("first paint and Karina's weights, offscreen, no Python on PATH", lambda f: smoke(f, offscreen())),
        ("a session as argument", session),
        ("export, and the numbers in it", export),
        ("its own conformance tests", self_test),
        ("from a path with spaces and non-ASCII letters", elsewhere),
        ("from a folder that cannot be written", read_only),
    ]
    if xvfb:
        tried.append(
            ("first paint under X11", lambda f: smoke(f, {**bare(), "QT_QPA_PLATFORM": "xcb"}, ["xvfb-run", "-a"]))
        )
    failed = 0
    for name, check in tried:
        try:
            check(folders[0].resolve())
            print(f"ok      {name}", flush=True)
        except Failure as failure:
            failed += 1
            print(f"FAILED  {name}: {failure}", flush=True)
    return 1 if failed else 0


def program(folder: Path) -> Path:
    names = {"win32": "attn-gui.exe", "darwin": "attn_gui.app/Contents/MacOS/attn-gui"}
    return folder / names.get(sys.platform, "attn-gui")


def bare() -> dict[str, str]:
    """An environment without any Python in it, and a home of its own."""
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP", "TMP", "LANG", "DISPLAY") if name in os.environ}
    home = tempfile.mkdtemp(prefix="attn-gui-home-")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return {
        "LANG": "C.UTF-8",
        **kept,
        "PATH": "/nonexistent" if os.name == "posix" else "",
        "HOME": home,
        "USERPROFILE": home,
    }


def offscreen() -> dict[str, str]:
    return {**bare(), "QT_QPA_PLATFORM": "offscreen"}


def run(words: list[str], variables: dict[str, str], patience_s: float | None = None) -> str:
    """What the program prints; raises Failure where it ends badly or complains."""
    limit = PATIENCE_S if patience_s is None else patience_s
    try:
        done = subprocess.run(
            words, env=variables, capture_output=True, text=True, encoding="utf-8", timeout=limit, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Failure(f"no end within {limit} s") from error
    except OSError as error:
        raise Failure(str(error)) from error
    complaints = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith(HARMLESS)]
    if done.returncode or complaints:
        raise Failure(f"exit {done.returncode}; stderr: {' | '.join(complaints[-5:]) or 'empty'}")
    return done.stdout


def smoke(
    folder: Path,
    variables: dict[str, str],
    before: list[str] | None = None,
    *more: str,
    expected: list[list[float]] = KARINA,
) -> None:
    xvfb = shutil.which(before[0]) if before else None
    if before and xvfb is None:
        raise Failure(f"{before[0]} is not there")
    if xvfb is not None:
        variables = {**variables, "PATH": os.environ["PATH"]}
    told = json.loads(run([*(before or []), str(program(folder)), "--smoke", *more], variables))
    compare(told["N"], weights(expected))


def session(folder: Path) -> None:
    with temporary() as place:
        path = place / "Sitzung mit Umlauten äöü.attn"
        make_session(path)
        smoke(folder, offscreen(), None, str(path), expected=SESSION)


def export(folder: Path) -> None:
    with temporary() as place:
        path = place / "karina.attn"
        make_session(path)
        run([str(program(folder)), "export", str(path), "--stage", "N", "--out", str(place / "out")], offscreen())
        with (place / "out" / "N_head1.csv").open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file))
        compare([[float(cell) for cell in row[1:]] for row in rows[1:]], weights(SESSION))


def self_test(folder: Path) -> None:
    told = run([str(program(folder)), "--self-test"], offscreen(), SELF_TEST_S)
    if " passed" not in told or " failed" in told:
        raise Failure(told[-500:])


def elsewhere(folder: Path) -> None:
    with temporary() as place:
        copied = place / "Attention für alle – ñ 注意" / folder.name
        copy(folder, copied)
        smoke(copied, offscreen())


def read_only(folder: Path) -> None:
    """Nothing in the folder changes; and it starts where nothing could, unless we are root, who may write anywhere."""
    with temporary() as place:
        copied = place / folder.name
        copy(folder, copied)
        places = [copied, *copied.rglob("*")]
        modes = {path: path.stat().st_mode for path in places if not path.is_symlink()}
        before = contents(copied)
        try:
            for path, mode in modes.items():
                path.chmod(mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
            smoke(copied, offscreen())
        finally:
            for path, mode in modes.items():
                path.chmod(mode)
        changed = contents(copied) ^ before
        if changed:
            raise Failure(f"{len(changed)} places were written, among them {min(changed)[0]}")


def copy(folder: Path, target: Path) -> None:
    """Without a second copy of the bytes, where the file system can."""
    try:
        shutil.copytree(folder, target, symlinks=True, copy_function=os.link)
    except (OSError, shutil.Error):
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder, target, symlinks=True)


def contents(folder: Path) -> set[tuple[str, int, int]]:
    """Name, size and time of the last change of each file."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files}


def make_session(path: Path) -> None:
    """A session of three tokens, written as DESIGN says and not by the program."""
    tokens = {"tokens": ["ein", "zwei", "drei"], "dimensions": ["a", "b"], "embeddings": SESSION, "columns": {}}
    experiment = {"format": "attn-experiment", "version": 1, "name": "Probe", "note": "", "variant": "self"}
    experiment |= {"heads": 1, "kv_heads": 1, "precision": "float32", "tokens": tokens}
    identity = [[1.0, 0.0], [0.0, 1.0]]
    experiment["source"] = {"kind": "weights", "W_Q": identity, "W_K": identity, "W_V": identity}
    manifest = {"format": "attn-session", "version": 1, "current": 0, "view": {}, "experiments": [experiment]}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("session.json", json.dumps(manifest))


def weights(X: list[list[float]]) -> list[list[float]]:
    """softmax(X X^T / sqrt(d)), row by row, in Python's own numbers."""
    scale = 1 / math.sqrt(len(X[0]))
    found = []
    for query in X:
        scores = [math.fsum(q * k for q, k in zip(query, key, strict=True)) * scale for key in X]
        most = max(scores)
        powers = [math.exp(score - most) for score in scores]
        found.append([power / math.fsum(powers) for power in powers])
    return found


def compare(found: list[list[float]], expected: list[list[float]]) -> None:
    if len(found) != len(expected) or any(len(a) != len(b) for a, b in zip(found, expected, strict=True)):
        raise Failure(f"N has {len(found)} rows, expected {len(expected)}")
    worst = max(abs(a - b) for one, other in zip(found, expected, strict=True) for a, b in zip(one, other, strict=True))
    if not worst <= 1e-6:
        raise Failure(f"N is off by {worst}")


@contextmanager
def temporary() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="attn-gui-smoke-") as folder:
        yield Path(folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
