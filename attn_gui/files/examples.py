"""The examples that ship with the program."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from attn_gui.files import session
from attn_gui.files.errors import FileError
from attn_gui.files.experiment_json import read
from attn_gui.files.places import parsed
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.paths import resources

_ORDER = ("karina", "animal", "animal_one_head", "cat", "cat_one_head", "random_5x512", "translation")
# those that are sessions of many experiments, each of which has a name of its own
_SESSIONS = {
    "minilm": (
        "A real model: MiniLM reads two sentences (6 layers, 12 heads)",
        # of the experiment that is in sight first: to look for it in the file would hold up the first window
        "Layer 4 of 6 of all-MiniLM-L6-v2, a real model that makes embeddings, while it reads “The animal didn't cross "
        "the street because it was too tired”. Of the 12 heads here “it” looks at “animal” most in head 2: 64%. These "
        "are the queries, keys and values as they were used: change them, the mask or the scale, and compare with the "
        "original. "
        "Licence: Apache 2.0.",
    )
}


def names() -> list[str]:
    """The names to choose from, in the order of the dropdown."""
    return list(_files())


def file_names() -> list[str]:
    """The names of the files without their ending, in the same order: shorter, for a command line."""
    return [example.path.stem for example in _files().values()]


@cache
def notes() -> frozenset[str]:
    """The notes of the examples, each of which speaks of the numbers of one of them."""
    return frozenset(example.note for example in _files().values() if example.note)


def of_note(note: str) -> str | None:
    """The name of the example with that note; None where there is none."""
    return next((name for name, example in _files().items() if note and example.note == note), None)


def load(name: str) -> NamedExperiment:
    """The example of that name, or of that file name without its ending; upper and lower case are the same.

    Of a session the experiment that is in sight first. Raises FileError, which says which names there are.
    """
    return load_session(name).named


def load_session(name: str) -> Session:
    """As :func:`load`, with all experiments of the example."""
    for known, example in _files().items():
        if name.casefold() in (known.casefold(), example.path.stem.casefold()):
            return session.load(example.path) if example.path.stem in _SESSIONS else Session((read(example.path),))
    raise FileError(name, "", f"the name of an example ({', '.join(file_names())})", "another")


@dataclass(frozen=True)
class _Example:
    path: Path
    note: str


@cache
def _files() -> dict[str, _Example]:
    def order(path: Path) -> tuple[int, str]:
        return (_ORDER.index(path.stem) if path.stem in _ORDER else len(_ORDER), path.stem)

    # name and note alone: drawing the weights of all of them would hold up the first window
    folder = resources() / "examples"
    found = ((path, parsed(path, "", path.read_bytes())) for path in sorted(folder.glob("*.json"), key=order))
    singles = {str(plain["name"]): _Example(path, str(plain.get("note", ""))) for path, plain in found}
    return singles | {name: _Example(folder / f"{stem}.attn", note) for stem, (name, note) in _SESSIONS.items()}
