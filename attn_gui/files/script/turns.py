"""Taking turns: several programs that add to files of one folder wait for one another."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    @contextmanager
    def turn(path: Path) -> Iterator[None]:
        """Keep others from adding to ``path`` meanwhile; a program that ends lets go."""
        # a file that lies there for good: one that is removed could be held by two
        place = sha256(str(path.absolute()).casefold().encode()).hexdigest()[:16]
        with open(Path(tempfile.gettempdir()) / f"attn_gui-{place}.lock", "ab") as file:
            held = False
            while not held:
                with suppress(OSError):  # it gives up after ten seconds
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    held = True
            yield

else:
    import fcntl

    @contextmanager
    def turn(path: Path) -> Iterator[None]:
        """Keep others from adding to ``path`` meanwhile; a program that ends lets go.

        Where the system knows no such thing, as on some network disks, nobody waits.
        """
        folder = -1
        try:
            with suppress(OSError):  # a folder that is not there is told of by whoever writes
                folder = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY)
                fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            if folder >= 0:
                os.close(folder)
