"""What a command says: lines on standard output, how far it is and what is wrong on standard error."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Generator
from contextlib import closing, suppress
from typing import TextIO, TypeVar

PROGRAM = "attn-gui"

Result = TypeVar("Result")


def say(line: str) -> None:
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    # a console of a narrow encoding shows ? for what it lacks
    encoding = sys.stdout.encoding or "utf-8"
    print(line.encode(encoding, "replace").decode(encoding))


def complain(message: str) -> None:
    # printing to None would be printing to stdout
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"{PROGRAM}: {' '.join(message.splitlines())}", file=sys.stderr)


def shown(what: str, steps: Generator[float, None, Result]) -> Result:
    """Run ``steps`` to their end, with the part done on stderr where a person is looking; what they return."""
    with closing(steps):
        while True:
            try:
                done = next(steps)
            except StopIteration as finished:
                result: Result = finished.value
                break
            show_part(what, done)
    show_part(what, None)
    return result


def show_part(what: str, done: float | None) -> None:
    """How far a long work is, where a person is looking; None clears the line."""
    if _is_looked_at(sys.stderr):
        line = "\r" + " " * (len(what) + 6) + "\r" if done is None else f"\r{what} {done:4.0%} "
        print(line, end="", file=sys.stderr, flush=True)


def _is_looked_at(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def flushed(code: int) -> int:
    """The exit code, which is ``code`` unless standard output cannot be written."""
    # here, since what cannot be written at the very end is complained about by Python itself
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        return not_printed(error)
    return code


def not_printed(error: OSError) -> int:
    # whoever closed a pipe has read enough, and is told nothing
    if not isinstance(error, BrokenPipeError):
        complain(f"standard output cannot be written: {error.strerror}")
    if sys.stdout is not None:
        # what is left in the buffer goes nowhere, rather than failing once more as Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
