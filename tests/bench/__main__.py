"""``python -m tests.bench [NAME ...]``: the cases whose name holds one of the words given, or all of them.

Prints a table, writes bench.json into the current folder, and exits with 1 if a limit does not hold.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.bench import (
    csv_export,
    eager,
    edit_to_painted,
    first_paint,
    first_picture,
    flow,
    growth,
    layers,
    memory,
    stages,
    stream,
    tour,
    why,
    windows,
)
from tests.bench.report import Case, hold_threads, run

SUBJECTS = (
    first_paint,
    edit_to_painted,
    stages,
    csv_export,
    stream,
    eager,
    windows,
    tour,
    first_picture,
    flow,
    why,
    layers,
    memory,
    growth,
)
# they need what Linux tells of a process
LINUX_ONLY = (eager, memory, growth)


def cases() -> list[Case]:
    """Every case, in the order of the table."""
    there = [subject for subject in SUBJECTS if sys.platform == "linux" or subject not in LINUX_ONLY]
    return [case for subject in there for case in subject.cases()]


def main(arguments: Sequence[str], available: Sequence[Case] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="NAME", help="part of the name of a case")
    words = parser.parse_args(arguments).words
    known = cases() if available is None else available
    chosen = [case for case in known if not words or any(word in case.name for word in words)]
    if not chosen:
        print(f"no case is called {' or '.join(words)}; there are:", *(case.name for case in known), sep="\n  ")
        return 2
    return run(chosen)


if __name__ == "__main__":
    hold_threads()
    sys.exit(main(sys.argv[1:]))
