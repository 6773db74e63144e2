"""The commands without a window: ``attn-gui export``, ``info``, ``scores``, ``diagnose`` and ``mark``.

The exit code is 0, or 1 for a file that cannot be read or written or a computation that cannot be done, or 2 for
arguments that make no sense; of ``diagnose`` 3 where nothing matches. Errors are one line on stderr.
"""

from __future__ import annotations

from attn_gui.cli.arguments import Parser, file_name, folder_name, parsed
from attn_gui.cli.errors import Failure, Misuse
from attn_gui.cli.exporting import run_export
from attn_gui.cli.looking import run_diagnose, run_info, run_scores
from attn_gui.cli.marking import run_mark
from attn_gui.cli.parser import parser
from attn_gui.cli.reporting import complain, flushed, not_printed
from attn_gui.files.errors import FileError
from attn_gui.files.tensors.headless import Contradiction
from attn_gui.model.errors import HiddenStage, NoTorch

__all__ = ["COMMANDS", "Parser", "file_name", "flushed", "folder_name", "main", "parsed"]

COMMANDS = {"export": run_export, "info": run_info, "scores": run_scores, "diagnose": run_diagnose, "mark": run_mark}


def main(arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    return flushed(_run(arguments))


def _run(arguments: list[str]) -> int:
    options = parsed(parser(), arguments)
    if isinstance(options, int):
        return options
    try:
        return COMMANDS[options.command](options)
    except OSError as error:  # files raise FileError: this is the standard output
        return not_printed(error)
    except (Misuse, Contradiction) as error:
        complain(str(error))
        return 2
    except (Failure, FileError, HiddenStage, MemoryError, NoTorch) as error:
        complain(str(error) or "not enough memory")
        return 1
    except KeyboardInterrupt:
        complain("stopped; files written before are whole")
        return 130
