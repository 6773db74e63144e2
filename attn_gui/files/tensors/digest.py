"""What tells whether files are still the same."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from attn_gui.files.errors import cannot_read
from attn_gui.files.regular import size_of_file

# of a larger file PARTS parts of PART_BYTES, evenly spread, stand for all
WHOLE_BYTES = 256_000_000
PARTS, PART_BYTES = 256, 1 << 16
BLOCK = 1 << 20
WHOLE, OF_PARTS = "sha256:", "sha256-parts:"


def digest_of(paths: Sequence[Path]) -> str:
    """``sha256:..`` of a file, or of all of several; ``sha256-parts:..`` where one is so large that parts stand for it.

    Raises FileError.
    """
    digests = [_of_file(path) for path in paths]
    if len(digests) == 1:
        return digests[0]
    whole = all(digest.startswith(WHOLE) for digest in digests)
    named = "\n".join(f"{path.name}\0{digest}" for path, digest in zip(paths, digests, strict=True))
    return (WHOLE if whole else OF_PARTS) + hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()


def _of_file(path: Path) -> str:
    size = size_of_file(path)
    # the layers of one file are looked at one after another
    return _hashed(path, size, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _hashed(path: Path, size: int, modified: int) -> str:
    hashed = hashlib.sha256()
    try:
        with path.open("rb") as file:
            if size <= WHOLE_BYTES:
                while block := file.read(BLOCK):
                    hashed.update(block)
                return WHOLE + hashed.hexdigest()
            hashed.update(str(size).encode())
            for part in range(PARTS):
                file.seek((size - PART_BYTES) * part // (PARTS - 1))
                hashed.update(file.read(PART_BYTES))
    except OSError as error:
        raise cannot_read(path, error) from error
    return OF_PARTS + hashed.hexdigest()
