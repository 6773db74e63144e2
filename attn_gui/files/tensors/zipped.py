"""Zip files of arrays: names that are no way out of the file, sizes that are true, and where a member's bytes lie."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from zipfile import ZIP_STORED, ZipInfo

from attn_gui.files.archive import MAX_RATIO, SMALL_BYTES
from attn_gui.files.errors import FileError
from attn_gui.model.errors import readable_bytes

_LOCAL = struct.Struct("<4s22xHH")
_MARK = b"PK\x03\x04"


def check_names(path: Path, entries: Iterable[ZipInfo]) -> None:
    """Raise FileError for two entries of one name, and for a name that leads out of where it would be unpacked."""
    seen: set[str] = set()
    for entry in entries:
        name = entry.filename
        if name in seen:
            raise FileError(path, name, "one array of this name", "several")
        seen.add(name)
        plain = PurePosixPath(name.replace("\\", "/"))
        if plain.is_absolute() or ".." in plain.parts or ":" in plain.parts[0] or not name.isprintable():
            raise FileError(path, "", "entries with plain names", f"the name {name!r}, which leads elsewhere")


def check_packing(path: Path, entries: Sequence[ZipInfo]) -> None:
    """Raise FileError for entries that would unpack to far more than the file holds."""
    size = path.stat().st_size
    stored = sum(entry.file_size for entry in entries if entry.compress_type == ZIP_STORED)
    if stored > size or any(e.compress_type == ZIP_STORED and e.file_size != e.compress_size for e in entries):
        raise FileError(path, "", "entries of at most the size of the file", "entries that overlap")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > max(SMALL_BYTES, MAX_RATIO * size):
        received = f"{readable_bytes(unpacked)} in a file of {readable_bytes(size)}"
        raise FileError(path, "", f"contents of at most {MAX_RATIO} times the size of the file", received)


def start_of(path: Path, entry: ZipInfo) -> int:
    """The byte of ``path`` that the bytes of a stored entry start at; raises FileError."""
    local = b""
    if 0 <= entry.header_offset < path.stat().st_size:
        with path.open("rb") as file:
            file.seek(entry.header_offset)
            local = file.read(_LOCAL.size)
    if len(local) < _LOCAL.size or not local.startswith(_MARK):
        raise FileError(path, entry.filename, "an entry that is whole", "a damaged one")
    _, name, extra = _LOCAL.unpack(local)
    start = entry.header_offset + _LOCAL.size + name + extra
    if start + entry.file_size > path.stat().st_size:
        raise FileError(path, entry.filename, "an entry that is whole", "one cut off")
    return start
