"""``python -m attn_gui`` and ``attn-gui``."""

from __future__ import annotations

import gc
import sys
import time

STARTED = time.perf_counter()


def main() -> int:
    """Run a command of cli, which needs no Qt, or open the window."""
    arguments = sys.argv[1:]
    # start-up makes no garbage, and looking for some would take a tenth of its time; app.py turns it on again
    gc.disable()
    from attn_gui import cli

    if arguments and arguments[0] in cli.COMMANDS:
        gc.enable()
        return cli.main(arguments)
    from attn_gui import app

    return app.main(arguments, STARTED)


if __name__ == "__main__":
    sys.exit(main())
