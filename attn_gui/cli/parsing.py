"""What the window's arguments and those of the commands have in common."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from attn_gui.cli.reporting import not_printed

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


class Parser(argparse.ArgumentParser):
    """Says what is wrong with the arguments in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        # argparse would keep to itself that help or version could not be written
        if message and (file is not None or sys.stderr is not None):
            (file or sys.stderr).write(message)


def parsed(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace | int:
    """The arguments, or the exit code where there is nothing more to do: help was asked for, or they make no sense."""
    try:
        return parser.parse_args(arguments)
    except SystemExit as leaving:  # argparse has said why
        return int(leaving.code or 0)
    except OSError as error:
        return not_printed(error)


def file_name(argument: str) -> Path:
    """A file's name from the command line."""
    if not argument.strip():
        raise argparse.ArgumentTypeError("expected the name of a file, received nothing")
    return Path(argument)


def folder_name(argument: str) -> Path:
    """A folder's name from the command line."""
    if not argument.strip():
        raise argparse.ArgumentTypeError("expected the name of a folder, received nothing (. is this folder)")
    return Path(argument)
