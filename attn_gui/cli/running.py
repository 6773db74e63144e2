"""Runs one of the commands."""

from __future__ import annotations

from attn_gui.cli.errors import Failure, Misuse
from attn_gui.cli.exporting import run_export
from attn_gui.cli.looking import run_diagnose, run_info, run_scores
from attn_gui.cli.marking import run_mark
from attn_gui.cli.parser import parser
from attn_gui.cli.parsing import parsed
from attn_gui.cli.reporting import complain, not_printed
from attn_gui.files.errors import FileError
from attn_gui.files.tensors.headless import Contradiction
from attn_gui.model.errors import HiddenStage, NoTorch
from attn_gui.model.mapped import ChangedFile

RUN = {"export": run_export, "info": run_info, "scores": run_scores, "diagnose": run_diagnose, "mark": run_mark}


def run(arguments: list[str]) -> int:
    """The exit code."""
    options = parsed(parser(), arguments)
    if isinstance(options, int):
        return options
    try:
        return RUN[options.command](options)
    except OSError as error:  # files raise FileError: this is the standard output
        return not_printed(error)
    except (Misuse, Contradiction) as error:
        complain(str(error))
        return 2
    except (Failure, FileError, ChangedFile, HiddenStage, MemoryError, NoTorch) as error:
        complain(str(error) or "not enough memory")
        return 1
    except KeyboardInterrupt:
        complain("stopped; files written before are whole")
        return 130
