"""``python -m tests.bench [NAME ...]``: the cases whose name holds one of the words given, or all of them.

Prints a table, writes bench.json into the current folder, and exits with 1 if a limit does not hold.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench import csv_export, edit_to_painted, first_paint, stages
from tests.bench.report import FILE, Case, Figure, header, line, machine, write


def cases() -> list[Case]:
    """Every case, in the order of the table."""
    return [*first_paint.cases(), *edit_to_painted.cases(), *stages.cases(), *csv_export.cases()]


def main(arguments: Sequence[str], available: Sequence[Case] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="NAME", help="part of the name of a case")
    words = parser.parse_args(arguments).words
    known = cases() if available is None else available
    chosen = [case for case in known if not words or any(word in case.name for word in words)]
    if not chosen:
        print(f"no case is called {' or '.join(words)}; there are:", *(case.name for case in known), sep="\n  ")
        return 2
    print(machine(), header(), sep="\n", flush=True)
    figures = []
    for case in chosen:
        figures.append(Figure(case, case.measure()))
        print(line(figures[-1]), flush=True)
    write(figures, Path(FILE))
    return 1 if any(figure.holds is False for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
