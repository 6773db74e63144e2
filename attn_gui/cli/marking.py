"""``attn-gui mark``."""

from __future__ import annotations

import argparse
from pathlib import Path

from attn_gui.cli.computing import computing, device_named
from attn_gui.cli.errors import Failure
from attn_gui.cli.reporting import complain, say, show_part
from attn_gui.files import session
from attn_gui.files.errors import FileError
from attn_gui.files.exercise_files import ENDING, given_again
from attn_gui.files.marks_csv import MarkedFile, marks_csv, remarks_on, with_doubles, write_marks
from attn_gui.files.regular import is_folder, is_there
from attn_gui.model.errors import ExperimentError


def run_mark(options: argparse.Namespace) -> int:
    device = device_named(options.device)
    paths = _answers(options.files)
    # what a shell makes of --csv answers/*.attn
    if options.csv is not None and (options.csv.suffix.casefold() == ENDING or options.csv in paths):
        raise Failure(f"--csv {options.csv}: expected a name for the marks, received one of answers")
    files = []
    for done, path in enumerate(paths, start=1):
        files.append(_marked(path, device))
        if not files[-1].marks:
            complain(f"{path}: {'; '.join(files[-1].remarks)}")
        show_part("marking", done / len(paths))
    show_part("marking", None)
    files = with_doubles(files)
    if options.csv is not None:
        write_marks(options.csv, files)
        marked = sum(bool(file.marks) for file in files)
        say(f"{marked} of {len(files)} files marked, written to {options.csv}")
    else:
        for line in marks_csv(files).decode().splitlines():
            say(line)
    return 0 if all(file.marks for file in files) else 1


def _answers(given: list[Path]) -> list[Path]:
    """The files that ``given`` says: a folder stands for those in it, and * and ? for names where no shell does it."""
    found: list[Path] = []
    for path in given:
        if is_folder(path):
            meant = _inside(path)
        elif not is_there(path) and any(mark in path.name for mark in "*?["):
            meant = sorted(path.parent.glob(path.name))
        else:
            meant = [path]
        if not meant:
            raise Failure(f"there is no {ENDING} file in {path}")
        found += meant
    return list(dict.fromkeys(found))


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix.casefold() == ENDING)
    except OSError as error:
        raise Failure(f"{folder} cannot be read: {error.strerror}") from error


def _marked(path: Path, device: str) -> MarkedFile:
    """The marks of a file, or why it has none."""
    from attn_gui.compute.marking import mark

    try:
        handed_in = session.load(path)
        named = next((n for n in (handed_in.named, *handed_in.experiments) if n.exercise is not None), None)
        if named is None or named.exercise is None:
            return MarkedFile(path, remarks=("not an exercise",))
        exercise, given = named.exercise, given_again(named)
        too_large = exercise.too_large(named.experiment)
        if too_large is not None:
            return MarkedFile(path, exercise.student, remarks=(f"{too_large} is too large for an exercise",))
        with computing(device):
            marks, _ = mark(exercise, named.experiment if given is None else given, device)
        return MarkedFile(path, exercise.student, marks, tuple(remarks_on(handed_in, named, given, marks)))
    except FileError as error:
        at = f"{error.where}: " if error.where else ""
        return MarkedFile(path, remarks=(f"{at}expected {error.expected}, received {error.received}",))
    except (Failure, ExperimentError, MemoryError) as error:
        return MarkedFile(path, remarks=(str(error) or "not enough memory",))
