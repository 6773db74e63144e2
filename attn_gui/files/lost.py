"""Files of tensors that are not where a session says, and where a person says that they are now."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from attn_gui.files.errors import FileError
from attn_gui.files.regular import is_there

# where files are now, by the path that a session has for them
Located = Mapping[str, Path]
NOWHERE: Located = MappingProxyType({})
# characters of a name, and of a path, that a sentence holds
LONGEST_NAME, LONGEST_PATH = 80, 240
# of another computer: nothing is asked of it
REMOTE = ("\\\\", "//")


class AnotherFile(FileError):
    """A file of tensors that is not the one that a session was made from."""


class LostFile(FileError):
    """A session cannot be opened since a file (or folder) of tensors is gone or another.

    lost: its path as the session has it; told: what is wrong, for a sentence; is_folder: whether it is a folder;
    located: what was said before of where files are now; work: what the session's experiment in sight is called.
    """

    def __init__(self, session: Path, lost: str, told: str, *, is_folder: bool) -> None:
        super().__init__(session, "", shortened(name_of(lost), LONGEST_NAME), told)
        advice = "put it back there and open the session again, or open it in the window and say where it is"
        self.args = (f"{session}: {told}: {advice}",)
        self.lost = lost
        self.told = told
        self.is_folder = is_folder
        self.located: Located = NOWHERE
        self.work = ""

    @property
    def name(self) -> str:
        """The file's own name, of a very long one its ends."""
        return shortened(name_of(self.lost), LONGEST_NAME)


def name_of(path: str) -> str:
    """The last part of a path of this or of another system."""
    return re.split(r"[\\/]", path.rstrip("\\/"))[-1] or path


def shortened(text: str, longest: int = LONGEST_PATH) -> str:
    """``text`` for a sentence: of a very long name or path its beginning and its end."""
    half = longest // 2
    return text if len(text) <= longest else f"{text[: longest - half - 1]}…{text[-half:]}"


def relocated(experiments: Any, session: Path, located: Located) -> dict[str, str]:
    """Have the origins in the JSON of ``experiments`` speak of where files are now; returns the old paths by the new.

    What is at none of its places and not in ``located`` either is looked for beside what is.
    """
    found: dict[str, str] = {}
    if not located or not isinstance(experiments, list):
        return found
    for each in experiments:
        origin = each.get("origin") if isinstance(each, dict) else None
        if not isinstance(origin, dict) or not isinstance(stored := origin.get("path"), str):
            continue
        now = located.get(stored) or _beside(origin, stored, session, located)
        if now is not None:
            found[str(now)] = stored
            each["origin"] = origin | {"path": str(now), "beside": None}
    return found


@contextmanager
def told_of(located: Located, stored: Mapping[str, str]) -> Iterator[None]:
    """Have a LostFile speak of the path that the session has, of ``stored`` by the one where the file was looked for,
    and of what was ``located`` before."""
    try:
        yield
    except LostFile as error:
        error.lost, error.located = stored.get(error.lost, error.lost), located
        raise


def _beside(origin: Mapping[str, Any], stored: str, session: Path, located: Located) -> Path | None:
    near = origin.get("beside")
    if stored.startswith(REMOTE) or os.path.lexists(stored):
        return None
    if isinstance(near, str) and is_there(session.absolute().parent / near):
        return None
    places = (place.parent / name_of(stored) for place in located.values())
    taken = set(located.values())
    return next((place for place in places if place not in taken and is_there(place)), None)
