"""The commands without a window: ``attn-gui export``, ``info``, ``scores``, ``diagnose`` and ``mark``.

The exit code is 0, or 1 for a file that cannot be read or written or a computation that cannot be done, or 2 for
arguments that make no sense; of ``diagnose`` 3 where nothing matches. Errors are one line on stderr.
"""

from __future__ import annotations

from attn_gui.cli.parsing import Parser, file_name, folder_name, parsed
from attn_gui.cli.reporting import flushed

__all__ = ["COMMANDS", "Parser", "file_name", "flushed", "folder_name", "main", "parsed"]

COMMANDS = ("export", "info", "scores", "diagnose", "mark")


def main(arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    # imported when there is one to run: the window, which asks for their names, does not wait for what they need
    from attn_gui.cli import running

    return flushed(running.run(arguments))
