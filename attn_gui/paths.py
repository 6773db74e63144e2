"""Where the files that ship with the program lie."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path


@cache
def resources() -> Path:
    """The resources folder of a frozen program, an installed wheel or the source tree, in that order.

    Raises FileNotFoundError, naming the places looked at, if the installation lost it.
    """
    package = Path(__file__).resolve().parent
    places = [package / "resources", package.parent / "resources"]
    frozen = getattr(sys, "_MEIPASS", None)
    if frozen is not None:
        places.insert(0, Path(frozen) / "attn_gui" / "resources")
    for place in places:
        if place.is_dir():
            return place
    looked = ", ".join(str(place) for place in places)
    raise FileNotFoundError(f"attn_gui's resources folder is missing; looked at {looked}. Install it again.")


def self_tests() -> Path | None:
    """The tests that the program has of itself: in a bundle or, as tests/conformance, in a source tree; else None."""
    frozen = getattr(sys, "_MEIPASS", None)
    source = Path(__file__).resolve().parent.parent
    folder = Path(frozen, "self_test", "tests") if frozen is not None else source / "tests" / "conformance"
    return folder if folder.is_dir() else None


def resource(name: str) -> Path:
    """One shipped file by its name below resources/, such as "icons/attn-gui.svg".

    Raises FileNotFoundError if there is none of that name.
    """
    path = resources() / name
    if not path.is_file():
        raise FileNotFoundError(f"attn_gui ships no resource {name!r}: {path} is not a file")
    return path


def example_files() -> list[Path]:
    """The examples that ship with the program, ordered by name."""
    return sorted(path for path in (resources() / "examples").iterdir() if path.suffix in (".attn", ".json"))
