"""Exercise files: one ``.attn`` a student, with what is given and what is asked, and no answer."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from attn_gui.files import exercise_json, session
from attn_gui.files.errors import FileError, cannot_read, check_size
from attn_gui.files.experiment_json import to_plain
from attn_gui.files.export import folder_for
from attn_gui.files.json_text import dumps
from attn_gui.files.regular import size_of_file
from attn_gui.model.exercise import LONGEST_STUDENT, Exercise
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session

ENDING = ".attn"
MOST_STUDENTS = 5_000
MOST_BYTES = 1 << 20
# bytes of UTF-8 of a name without its ending; most disks hold 255
LONGEST_NAME = 120

# what turns the direction of writing would show a name as another one
_TURNING = r"\u200e\u200f\u202a-\u202e\u2066-\u2069"
_NOT_IN_NAMES = re.compile(rf'[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{_TURNING}<>:"/\\|?*]+')
# what Windows keeps for devices, whatever the ending
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Handout:
    """What to hand out: ``exercise`` on the current experiment, under ``name``, with ``task`` to be read."""

    experiment: Experiment
    exercise: Exercise
    name: str
    task: str = ""

    def to(self, student: str) -> NamedExperiment:
        """What ``student`` is given: nothing but that experiment, with numbers of the student's own if there are any.

        Raises ExperimentError where the numbers that were drawn do not go with the rest.
        """
        e = replace(self.experiment, hidden=frozenset())
        if self.exercise.recipe is not None:
            e = self.exercise.recipe.draw(e, student)
        own = replace(self.exercise, student=student, opened=(), answers=())
        return NamedExperiment(self.name, e, self.task, None, replace(own, fingerprint=fingerprint(e, own)))


def fingerprint(experiment: Experiment, exercise: Exercise) -> str:
    """What tells whether all is still as it was handed out: a hash of everything that is given, and of what is asked.

    Of ``exercise`` only what its student does not change by working on it.
    """
    as_handed_out = exercise_json.to_plain(replace(exercise, fingerprint="", opened=(), answers=()))
    return hashlib.sha256(dumps([to_plain(NamedExperiment("", experiment)), as_handed_out])).hexdigest()


def given_again(named: NamedExperiment) -> Experiment | None:
    """The experiment of ``named``, an exercise, as it was handed out; None where that cannot be had again.

    Drawn numbers are drawn anew for it: those of another student, or of nobody, are not as handed out, whatever the
    file says.
    """
    e, exercise = named.experiment, named.exercise
    if exercise is None:
        return None
    drawn = e if exercise.recipe is None else exercise.recipe.draw(e, exercise.student)
    if fingerprint(drawn, exercise) != exercise.fingerprint:
        return None
    return e if drawn is e or fingerprint(e, exercise) == exercise.fingerprint else drawn


def students_in(text: str) -> list[str]:
    """The students of a list, one a line: each once, without empty lines."""
    lines = (unicodedata.normalize("NFC", line.strip().lstrip("\ufeff")) for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if line))


def read_students(path: str | Path) -> list[str]:
    """The students of a text file, one a line; raises FileError."""
    path = Path(path)
    check_size(path, "", size_of_file(path), MOST_BYTES)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise cannot_read(path, error) from error
    except UnicodeDecodeError as error:
        raise FileError(path, f"byte {error.start}", "UTF-8 text", "something else") from error
    students = students_in(text)
    check_students(path, students)
    return students


def check_students(path: Path, students: Sequence[str]) -> None:
    """Raise FileError for too many students, and for one whose name is too long."""
    if len(students) > MOST_STUDENTS:
        raise FileError(path, "students", f"at most {MOST_STUDENTS:,}", f"{len(students):,}")
    for line, student in enumerate(students, start=1):
        if len(student) > LONGEST_STUDENT:
            raise FileError(path, f"student {line}", f"at most {LONGEST_STUDENT} characters", f"{len(student):,}")


def write_one(handout: Handout, student: str, path: Path) -> None:
    """Put the exercise of ``student`` at ``path``; raises FileError and ExperimentError."""
    session.save(Session((handout.to(student),)), path)


def write_all(handout: Handout, students: Sequence[str], folder: Path) -> Generator[float, None, None]:
    """A file for each of ``students`` in ``folder``, which is made if it is not there; yields the part done, 0 to 1.

    A file that is there already may hold somebody's answers: it is not replaced. Raises FileError, as
    :func:`~attn_gui.files.export.folder_for`, and ExperimentError; what was written before is removed then.
    """
    check_students(folder, students)
    names = file_names(students)
    there = [name for name in names if os.path.lexists(folder / name)]
    if there:
        more = f" and {len(there) - 1:,} more" if len(there) > 1 else ""
        raise FileError(folder, "writing", "a folder without exercises of these students", f"{there[0]}{more}")
    with folder_for(names, folder):
        for done, (student, name) in enumerate(zip(students, names, strict=True), start=1):
            write_one(handout, student, folder / name)
            yield done / len(students)


def file_names(students: Iterable[str]) -> list[str]:
    """A file's name for each student, fit for any system, and no two alike where upper and lower case are the same."""
    taken: set[str] = set()
    names = []
    for student in students:
        stem = name = safe_name(student)
        number = 1
        while name.casefold() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.casefold())
        names.append(name + ENDING)
    return names


def safe_name(text: str) -> str:
    """``text`` as a file's name without ending, on any system."""
    name = _NOT_IN_NAMES.sub("_", unicodedata.normalize("NFC", text)).strip(" .")
    while len(name.encode()) > LONGEST_NAME:
        name = name[:-1]
    name = name.strip(" .-") or "student"
    return f"_{name}" if _DEVICES.fullmatch(name) else name
