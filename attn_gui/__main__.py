"""``python -m attn_gui`` and ``attn-gui``."""

from __future__ import annotations

import gc
import os
import sys
import time
from contextlib import suppress

STARTED = time.perf_counter()


def main() -> int:
    """Run a command of cli, which needs no Qt, or open the window."""
    arguments = sys.argv[1:]
    # start-up makes no garbage, and looking for some would take a tenth of its time; app.py turns it on again
    gc.disable()
    try:
        os.getcwd()
    except OSError:
        # where the working folder is gone, torch's libraries end the program
        os.chdir("/")
    if getattr(sys, "frozen", False):
        # a library's worker process starts this program anew, with arguments of its own
        import multiprocessing

        multiprocessing.freeze_support()
    from attn_gui import cli

    if arguments and arguments[0] in cli.COMMANDS:
        gc.enable()
        return cli.main(arguments)
    if sys.platform == "win32":
        # torch's libraries must be loaded before Qt's there, which come with app
        from attn_gui import torch_loading
        from attn_gui.model.errors import NoTorch

        with suppress(NoTorch):  # the window says so, once it is there
            torch_loading.load()
    _import_plainly()
    from attn_gui import app

    return app.main(arguments, STARTED)


def _import_plainly() -> None:
    """Have PySide leave imports alone.

    It reads the source of every module that is imported after it, in case there is a ``from __feature__ import`` in it:
    tenths of a second of torch's import, and 40 MB.
    """
    import builtins

    import PySide6.QtCore  # noqa: F401

    builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)


if __name__ == "__main__":
    sys.exit(main())
