"""Whether a zip file may be a session, judged by its directory, before any of it is unpacked."""

from __future__ import annotations

import re
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from attn_gui.files.errors import FileError, check_size
from attn_gui.model.errors import readable_bytes

MANIFEST = "session.json"
MAX_ENTRIES = 10_000
MAX_MANIFEST_BYTES = 1 << 28
# Our own members are stored as they are. What somebody packed anew may be smaller, by this much once it is large.
MAX_RATIO = 100
SMALL_BYTES = 1 << 26

_ARRAY = re.compile(r"arrays/[0-9]{1,9}\.npy")
_FOLDER = "arrays/"


def check(path: Path, zipped: ZipFile) -> None:
    """Raise FileError unless counts, names, sizes and packing of the entries are those of a session."""
    entries = zipped.infolist()
    if len(entries) > MAX_ENTRIES:
        raise FileError(path, "", f"at most {MAX_ENTRIES} entries", str(len(entries)))
    seen: set[str] = set()
    for entry in entries:
        _check_entry(path, entry)
        if entry.filename in seen:
            raise FileError(path, entry.filename, "one entry of this name", "several")
        seen.add(entry.filename)
    if MANIFEST not in seen:
        raise FileError(path, "", f"a zip file with {MANIFEST}, as attn_gui writes it", "one without")
    check_size(path, MANIFEST, zipped.getinfo(MANIFEST).file_size, MAX_MANIFEST_BYTES)
    unpacked, packed = sum(entry.file_size for entry in entries), path.stat().st_size
    if unpacked > max(SMALL_BYTES, MAX_RATIO * packed):
        received = f"{readable_bytes(unpacked)} in a file of {readable_bytes(packed)}"
        raise FileError(path, "", f"contents of at most {MAX_RATIO} times the size of the file", received)


def _check_entry(path: Path, entry: ZipInfo) -> None:
    if entry.filename not in (MANIFEST, _FOLDER) and not _ARRAY.fullmatch(entry.filename):
        raise FileError(path, "", f"no entries but {MANIFEST} and arrays/1.npy and so on", repr(entry.filename))
    if entry.flag_bits & 1:
        raise FileError(path, entry.filename, "an entry without a password", "an encrypted one")
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise FileError(path, entry.filename, "a stored or deflated entry", f"method {entry.compress_type}")
