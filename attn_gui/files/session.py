"""``.attn``: a Session as a zip of ``session.json`` and ``.npy`` members for large arrays.

::

    {"format": "attn-session", "version": 1, "current": 0, "view": {..}, "experiments": [..]}

Version 2 has besides ``model``, what the experiments were captured from; a session without it is written in version 1.
Experiments are as in :mod:`~attn_gui.files.experiment_json`, with ``{"npy": "arrays/3.npy"}`` in the place of an array
of more than LARGE cells; equal arrays share a member. Saving the same session twice gives the same bytes.
"""

from __future__ import annotations

import errno
import hashlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
from numpy.typing import NDArray

from attn_gui.files import archive, npy
from attn_gui.files.archive import MANIFEST
from attn_gui.files.atomic import replacing
from attn_gui.files.errors import BROKEN, FileError, cannot_read
from attn_gui.files.experiment_json import check_version, from_place, to_plain
from attn_gui.files.json_text import dumps
from attn_gui.files.lost import NOWHERE, Located, LostFile, relocated, told_of
from attn_gui.files.places import Place, parsed
from attn_gui.files.regular import size_of_file
from attn_gui.model.captured import CapturedModel
from attn_gui.model.errors import ExperimentError
from attn_gui.model.given import BFLOAT16
from attn_gui.model.mapped import ChangedFile, fetched
from attn_gui.model.painted import MAX_RECTANGLES
from attn_gui.model.session import Session
from attn_gui.model.table import Table

Array = NDArray[Any]

FORMAT, VERSION = "attn-session", 2
LARGE = 1000
# of an array, in memory at once while it is saved
BLOCK = 1 << 24
MAX_EXPERIMENTS = 1_000
MAX_VIEW_DEPTH = 8
# values and characters; view choices are a few words and numbers
MAX_VIEW_SIZE = 1 << 16


def save(session: Session, path: str | Path) -> None:
    """Write ``session`` to ``path``, which holds the old content or the new, never a part; raises FileError.

    What :func:`load` would refuse as too much is refused here, while the person can still do something about it.
    """
    path = Path(path)
    _check_count(path, "experiments", len(session.experiments), MAX_EXPERIMENTS)
    painted = sum(len(named.experiment.painted.rectangles) for named in session.experiments)
    _check_count(path, "experiments", painted, MAX_RECTANGLES, " rectangles painted by hand")
    with replacing(path) as file, ZipFile(file, "w") as zipped:
        members = Written(zipped)
        manifest = {
            "format": FORMAT,
            "version": 1,
            "current": session.current,
            "view": dict(session.view),
            "experiments": [to_plain(named, members.put, path) for named in session.experiments],
        }
        if session.model is not None:
            manifest |= {"version": VERSION, "model": session.model.to_plain()}
        zipped.writestr(npy.member(MANIFEST), dumps(manifest), ZIP_DEFLATED)


def load(path: str | Path, located: Located = NOWHERE) -> Session:
    """The session in ``path``; raises FileError naming the place of what is wrong.

    located: where files of tensors are now that are not where the session says; LostFile asks for one.
    """
    path = Path(path)
    size_of_file(path)
    try:
        with ZipFile(path) as zipped:
            archive.check(path, zipped)
            members = _Read(path, zipped)
            manifest = parsed(path, MANIFEST, zipped.read(MANIFEST))
            given = manifest.get("experiments") if isinstance(manifest, dict) else None
            with told_of(located, relocated(given, path, located)):
                return _session(Place(manifest, path, "", members))
    except LostFile as error:
        error.work = _name_in(manifest)
        raise
    except FileError:
        raise
    except BROKEN as error:
        raise _damaged(path, error) from error
    except MemoryError as error:
        raise FileError(path, "", "arrays that fit in memory", "more than there is") from error
    except OSError as error:
        # a damaged directory sends zipfile to places before the file
        raise (_damaged if error.errno == errno.EINVAL else cannot_read)(path, error) from error


def _name_in(manifest: Any) -> str:
    """The name of the experiment that is in sight first, of a session that cannot be opened for now."""
    experiments, current = manifest.get("experiments"), manifest.get("current", 0)
    there = isinstance(experiments, list) and isinstance(current, int) and 0 <= current < len(experiments)
    name = experiments[current].get("name") if there and isinstance(experiments[current], dict) else None
    return name if isinstance(name, str) else ""


def _damaged(path: Path, error: Exception) -> FileError:
    reason = f" ({error})" if str(error) else ""
    received = f"a file that is not one, or was damaged or cut off{reason}"
    return FileError(path, "", "an attn_gui session (.attn)", received)


def _session(place: Place) -> Session:
    check_version(place, FORMAT, VERSION)
    at = place.keys(("format", "version", "experiments"), ("current", "view", "model"))
    view = at["view"].of(dict, "an object") if "view" in at else {}
    if _size(view) > MAX_VIEW_SIZE:
        raise FileError(place.path, "view", f"at most {MAX_VIEW_SIZE:,} values and characters", "more")
    # what could not be written again (1e999 is no JSON number) would make every later save fail
    view = {name: value for name, value in view.items() if _can_be_written(value, MAX_VIEW_DEPTH)}
    current = at["current"].whole() if "current" in at else 0
    places = at["experiments"].elements()
    _check_count(place.path, "experiments", len(places), MAX_EXPERIMENTS)
    experiments, painted = [], 0
    for each in places:
        experiments.append(from_place(each))
        painted += len(experiments[-1].experiment.painted.rectangles)
        _check_count(place.path, "experiments", painted, MAX_RECTANGLES, " rectangles painted by hand")
    try:
        model = CapturedModel.from_plain(at["model"].of(dict, "an object")) if "model" in at else None
        return Session(tuple(experiments), current, view, model)
    except ExperimentError as error:
        raise place.refused(error) from error


def _can_be_written(value: Any, depth: int) -> bool:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return depth > 0 and all(_can_be_written(each, depth - 1) for each in inner)
    return not isinstance(value, float) or math.isfinite(value)


def _size(value: Any) -> int:
    """How many values and characters ``value`` holds, counted until they are more than MAX_VIEW_SIZE."""
    size, rest = 0, [value]
    while rest and size <= MAX_VIEW_SIZE:
        each = rest.pop()
        size += 1
        if isinstance(each, dict):
            size += sum(map(len, each))
            rest.extend(each.values())
        elif isinstance(each, list):
            # what is too much is not even gathered
            rest.extend(each[: MAX_VIEW_SIZE + 1])
        elif isinstance(each, str):
            size += len(each)
        elif isinstance(each, int):
            size += each.bit_length() // 4
    return size


def _check_count(path: Path, where: str, count: int, most: int, of: str = "") -> None:
    if count > most:
        raise FileError(path, where, f"at most {most:,}{of}", f"{count:,}")


class Written:
    """Members of a session that is being saved, by what they hold; ``taken`` of the names are there already."""

    def __init__(self, zipped: ZipFile, taken: int = 0) -> None:
        self._zipped = zipped
        self._taken = taken
        self._names: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def put(self, array: Array) -> Any:
        """What stands for ``array`` in the JSON; a large one becomes a member. Raises FileError."""
        try:
            if array.size <= LARGE:
                return fetched(array)
            return {"npy": self._member(array)}
        except ChangedFile as error:
            raise FileError(error.path, error.field, error.expected, error.received) from error

    def _member(self, array: Array) -> str:
        """The name of the member that holds ``array``, written now unless another array held the same."""
        if array.dtype == BFLOAT16:  # which .npy has no name for
            array = array.view(np.uint16)
        dtype, hashed = array.dtype.newbyteorder("<"), hashlib.sha256()
        for block in _blocks(array, dtype):
            hashed.update(block.data)
        content = (dtype.str, array.shape, hashed.digest())
        if content not in self._names:
            self._names[content] = f"arrays/{self._taken + len(self._names) + 1}.npy"
            for _ in npy.write(self._zipped, self._names[content], dtype, array.shape, _blocks(array, dtype)):
                pass
        return self._names[content]


def _blocks(array: Array, dtype: np.dtype[Any]) -> Iterator[Array]:
    """All of ``array`` in C order, about BLOCK bytes at a time, in memory; raises ChangedFile."""
    entry = array.nbytes // max(1, len(array))
    if entry > BLOCK and array.ndim > 1:
        for part in array:
            yield from _blocks(part, dtype)
        return
    some = max(1, BLOCK // max(1, entry))
    for start in range(0, len(array), some):
        yield np.ascontiguousarray(fetched(array[start : start + some]), dtype=dtype)


class _Read:
    """Members of a session that is being loaded; one that is used in several places is read once."""

    def __init__(self, path: Path, zipped: ZipFile) -> None:
        self._path = path
        self._zipped = zipped
        self._arrays: dict[str, Array] = {}
        self._tables: dict[tuple[str, int], Table] = {}

    def array(self, place: Place) -> Array:
        name = self._name(place)
        if name not in self._arrays:
            info = self._zipped.getinfo(name)
            with self._zipped.open(info) as file:
                array = npy.read(self._path, name, file, info.file_size, npy.ANY)
            array = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
            array.flags.writeable = False
            self._arrays[name] = array
        return self._arrays[name]

    def table(self, place: Place, axes: int) -> Table:
        key = (self._name(place), axes)
        if key not in self._tables:
            array = place.array(axes)
            self._tables[key] = Table.of(array if axes == 2 else [array])
        return self._tables[key]

    def _name(self, place: Place) -> str:
        name = place.keys(("npy",))["npy"].text()
        if name == MANIFEST or name not in self._zipped.NameToInfo:
            raise FileError(self._path, place.where, f"the member {name}", "a file without it")
        return name
