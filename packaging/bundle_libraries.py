"""Shared libraries of the Linux bundle: which of those that were collected anything needs, and which it lends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

import bundle_fallback

# an entry of PyInstaller's lists: place in the bundle, file (for a link: what it leads to, from beside it), kind
Entry = tuple[str, str, str]
# where what was collected only for another library lies
SHARED = (PurePosixPath("."), PurePosixPath("PySide6/Qt/lib"))
# asked for by the starter of the program, which no list holds
ALWAYS = "libpython"
# libraries that open others by name when they run, and these, which lie beside them
OPENED = {"libnvrtc.so.*": "libnvrtc-builtins.so.*"}


def needed(entries: Iterable[Entry], imports: Callable[[str], Iterable[str]]) -> list[Entry]:
    """``entries`` without the libraries that came for one that was left out, and without links to what is not there.

    ``imports`` tells the names of the libraries that a file asks for.
    """
    entries = list(entries)
    spare = {PurePosixPath(place).name: place for place, _, kind in entries if kind == "BINARY" and _is_spare(place)}
    files = {place: path for place, path, kind in entries if kind not in ("SYMLINK", "DATA")}
    found = set(files) - set(spare.values())
    waiting = list(found)
    while waiting:
        asked = {spare[name] for name in imports(files[waiting.pop()]) if name in spare}
        waiting += asked - found
        found |= asked
    there = {place for place, _, _ in entries} - (set(files) - found)
    return [entry for entry in entries if _target(entry) in there]


def opened(entries: Iterable[Entry]) -> list[Entry]:
    """What the libraries among ``entries`` open when they run, beside each, where ``entries`` lack it.

    torch opens CUDA's libraries in a row when it is imported and stops without a word at the first that is not there.
    """
    entries = list(entries)
    there = {place for place, _, _ in entries}
    found = [
        (str(PurePosixPath(place).parent / other.name), str(other), "BINARY")
        for place, path, kind in entries
        for library, pattern in OPENED.items()
        if kind == "BINARY" and fnmatchcase(PurePosixPath(place).name, library)
        for other in sorted(Path(path).parent.glob(pattern))
    ]
    return [entry for entry in found if entry[0] not in there]


def fallback(resolve: Callable[[str], str | None]) -> list[Entry]:
    """The libraries that bundle_fallback.py lends; raises SystemExit where this system lacks one."""
    found = [(name, resolve(name)) for name in bundle_fallback.NAMES]
    missing = [name for name, path in found if path is None]
    if missing:
        raise SystemExit(f"the bundle has to lend others {', '.join(missing)}, which this system lacks: install them")
    return [(f"{bundle_fallback.FOLDER}/{name}", path, "DATA") for name, path in found if path is not None]


def _is_spare(place: str) -> bool:
    path = PurePosixPath(place)
    return path.parent in SHARED and not path.name.startswith(ALWAYS)


def _target(entry: Entry) -> str:
    """The place in the bundle of the file that an entry is about."""
    place, path, kind = entry
    return place if kind != "SYMLINK" else str(PurePosixPath(place).parent / path)
