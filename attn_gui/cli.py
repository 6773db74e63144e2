"""The commands without a window: ``attn-gui export`` and ``attn-gui info``.

The exit code is 0, or 1 for a file that cannot be read or written or a computation that cannot be done, or 2 for
arguments that make no sense. Errors are one line on stderr.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from attn_gui import __version__
from attn_gui.files import examples, session
from attn_gui.files.errors import FileError
from attn_gui.files.export import FORMS, Steps, export_folder
from attn_gui.files.layout import distinct_stages_of, stages_of
from attn_gui.files.summary import summary
from attn_gui.model.precision import Precision
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Trace

COMMANDS = {"export", "info"}
PROGRAM = "attn-gui"


class Failure(Exception):
    """A command that cannot be carried out; the message is for the person."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    try:
        options = _parser().parse_args(arguments)
        (_export if options.command == "export" else _info)(options)
    except SystemExit as leaving:  # argparse has said why
        return int(leaving.code or 0)
    except (Failure, FileError, MemoryError) as error:
        _complain(str(error) or "not enough memory")
        return 1
    except KeyboardInterrupt:
        _complain("stopped; files written before are whole")
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    made = _Parser(prog=PROGRAM, description="Attention without a window.")
    made.add_argument("--version", action="version", version=f"attn_gui {__version__}")
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    export = commands.add_parser("export", help="compute a session's current experiment and write it to a folder")
    export.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder; made if it is not there")
    export.add_argument(
        "--stage",
        type=_stages,
        metavar="A,N,output",
        help="which stages, by comma: " + ", ".join(STAGES) + " (default: each that differs from the others)",
    )
    export.add_argument("--format", choices=FORMS, default="csv", help="one table a file, one cell a row, or NumPy")
    export.add_argument("--device", default="cpu", help="cpu, cuda:0, mps (default: cpu)")
    export.add_argument("--precision", choices=[p.value for p in Precision], help="default: the experiment's own")
    info = commands.add_parser("info", help="say what a session holds")
    names = ", ".join(examples.file_names())
    for command in (export, info):
        source = command.add_mutually_exclusive_group(required=True)
        source.add_argument("file", nargs="?", type=Path, metavar="FILE.attn", help="a session")
        source.add_argument("--example", type=_example, metavar="NAME", help=f"an example: {names}")
    return made


def _stages(argument: str) -> list[str]:
    names = [name.strip() for name in argument.split(",")]
    for name in names:
        if name not in STAGES:
            raise argparse.ArgumentTypeError(f"expected some of {', '.join(STAGES)}, received {name!r}")
    return list(dict.fromkeys(names))


def _example(name: str) -> NamedExperiment:
    try:
        return examples.load(name)
    except FileError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _session(options: argparse.Namespace) -> Session:
    return session.load(options.file) if options.example is None else Session((options.example,))


def _export(options: argparse.Namespace) -> None:
    named = _session(options).named
    if options.precision is not None:
        named = replace(named, experiment=replace(named.experiment, precision=Precision(options.precision)))
    stages = options.stage or distinct_stages_of(named.experiment)
    for stage in stages:
        if stage not in stages_of(named.experiment):
            raise Failure(f"“{named.name}” has no stage {stage}; it has {', '.join(stages_of(named.experiment))}")
    trace = _trace(named, options.device)
    _shown("writing", export_folder(trace, named, options.out, stages, options.format))
    _say(f"{named.name}: {', '.join(stages)} written to {options.out}")


def _trace(named: NamedExperiment, device: str) -> Trace:
    from attn_gui.compute.devices import unsupported
    from attn_gui.compute.trace import trace

    reason = unsupported(device, named.experiment.precision)
    if reason is not None:
        raise Failure(reason)
    try:
        return trace(named.experiment, device)
    except (RuntimeError, AssertionError) as error:  # torch: an unknown device, one that is not there, no memory left
        raise Failure(f"cannot compute on {device}: {str(error).splitlines()[0]}") from error


def _info(options: argparse.Namespace) -> None:
    for line in summary(_session(options)):
        _say(line)


def _shown(what: str, steps: Steps) -> None:
    """Run ``steps`` to their end, with the part done on stderr where a person is looking."""
    with closing(steps):
        for done in steps:
            if sys.stderr.isatty():
                print(f"\r{what} {done:4.0%} ", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r" + " " * (len(what) + 6) + "\r", end="", file=sys.stderr)


def _say(line: str) -> None:
    # a console of a narrow encoding shows ? for what it lacks
    encoding = sys.stdout.encoding or "utf-8"
    print(line.encode(encoding, "replace").decode(encoding))


def _complain(message: str) -> None:
    print(f"{PROGRAM}: {' '.join(message.splitlines())}", file=sys.stderr)
