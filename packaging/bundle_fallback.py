"""The first that runs in a bundle on Linux: lends the system the libraries that it lacks for Qt.

Those of OpenGL and of the X server's protocol are the system's own wherever it has them, since its drivers belong to
them. A machine without a screen, on which figures are exported or the program is tried, may have none.
"""

from __future__ import annotations

import ctypes
import os
import sys

# each after those that it asks for itself
NAMES = ("libxcb.so.1", "libGLdispatch.so.0", "libGLX.so.0", "libGL.so.1", "libEGL.so.1")
FOLDER = "fallback"


def lend(folder: str) -> None:
    """Load each library that the loader does not find out of ``folder``; Qt's ask for them by their names alone."""
    for name in NAMES:
        try:
            ctypes.CDLL(name)
        except OSError:
            ctypes.CDLL(os.path.join(folder, name))


if hasattr(sys, "_MEIPASS"):
    lend(os.path.join(sys._MEIPASS, FOLDER))
