"""Where an experiment and its arrays come from, as JSON, beside the experiment.

::

    "place": {"layer": 0, "module": "encoder.layer.0.attention.self", "kind": "self", "batch": null},
    "origin": {"path": "/home/me/attn.npy", "beside": "attn.npy", "digest": "..", "reading": {..},
               "expressions": {"N": "np.load('attn.npy')[12]"}}

``beside`` is the way from the session's folder, where the file lies in it or below; it goes before ``path``. In the
``source`` of an experiment with an origin ``{"origin": "N"}`` stands for an array that lies there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from attn_gui.files.errors import FileError
from attn_gui.files.lost import LONGEST_NAME, REMOTE, AnotherFile, LostFile, name_of, shortened
from attn_gui.files.places import Members, Place
from attn_gui.files.regular import is_there
from attn_gui.model.errors import ExperimentError
from attn_gui.model.layer_place import LayerPlace
from attn_gui.model.origin import Origin
from attn_gui.model.session import NamedExperiment
from attn_gui.model.table import Table

Array = NDArray[Any]


def plain_place(place: LayerPlace) -> dict[str, Any]:
    """The place as values for :func:`~attn_gui.files.json_text.dumps`."""
    return {"layer": place.layer, "module": place.module, "kind": place.kind, "batch": place.batch}


def read_place(place: Place) -> LayerPlace:
    """The layer that stands at ``place``; raises FileError."""
    at = place.keys(("layer",), ("module", "kind", "batch"))
    try:
        return LayerPlace(
            at["layer"].whole(),
            at["module"].text() if "module" in at else "",
            "cross" if "kind" in at and at["kind"].one_of("self", "cross") == "cross" else "self",
            at["batch"].whole() if "batch" in at and at["batch"].value is not None else None,
        )
    except ExperimentError as error:
        raise place.refused(error) from error


def plain_origin(origin: Origin, session: Path | None) -> dict[str, Any]:
    """The origin as values for :func:`~attn_gui.files.json_text.dumps`, in a file ``session``."""
    return {
        "path": origin.path,
        "beside": None if session is None else _beside(origin.path, session),
        "digest": origin.digest,
        "reading": dict(origin.reading),
        "expressions": dict(origin.expressions),
    }


def read_origin(place: Place) -> Origin:
    """The origin that stands at ``place``, its path where the file lies now; raises FileError."""
    at = place.keys(("path", "digest", "reading", "expressions"), ("beside",))
    path = at["path"].text()
    if "beside" in at and at["beside"].value is not None:
        near = place.path.absolute().parent / at["beside"].text()
        path = str(near) if is_there(near) else path
    return Origin(
        path,
        at["digest"].text(),
        at["reading"].of(dict, "an object"),
        {name: each.text() for name, each in at["expressions"].items()},
    )


def putting(named: NamedExperiment, put: Callable[[Array], Any]) -> Callable[[str, Array], Any]:
    """What stands for a given part: its name in the origin where the array still is the one that was found there."""

    def put_given(part: str, array: Array) -> Any:
        return {"origin": part} if named.opened.get(part) is array else put(array)

    return put_given


def with_arrays(at: Mapping[str, Place], used: dict[str, Array]) -> dict[str, Place]:
    """The members of an experiment, whose source and original may speak of what its origin holds.

    What they do speak of is put into ``used`` once it is read.
    """
    members = _OfOrigin(at["origin"], used)
    return dict(at) | {
        name: Place(at[name].value, at[name].path, at[name].where, members)
        for name in ("source", "original")
        if name in at
    }


class _OfOrigin:
    """Members of a session, and the arrays of an origin, which are looked for once one is asked for."""

    def __init__(self, origin: Place, used: dict[str, Array]) -> None:
        self._origin = origin
        self._used = used
        self._others: Members | None = origin.members
        self._found: Mapping[str, Array] | None = None

    def array(self, place: Place) -> Array:
        if "origin" not in place.value:
            return self._members(place).array(place)
        name = place.keys(("origin",))["origin"].text()
        if self._found is None:
            self._found = _arrays_of(self._origin)
        if name not in self._found:
            raise FileError(place.path, place.where, f"{name} in {self._origin.value['path']}", "a file without it")
        self._used[name] = self._found[name]
        return self._found[name]

    def table(self, place: Place, axes: int) -> Table:
        return self._members(place).table(place, axes)

    def _members(self, place: Place) -> Members:
        if self._others is None:
            place.refuse("numbers in nested lists")
        return self._others


def _arrays_of(place: Place) -> Mapping[str, Array]:
    """The arrays that the origin at ``place`` speaks of; raises FileError where the file is missing or another."""
    from attn_gui.files.tensors.again import arrays_of

    origin = read_origin(place)
    name, path = shortened(name_of(origin.path), LONGEST_NAME), Path(origin.path)
    if not origin.path.startswith(REMOTE) and not os.path.lexists(origin.path):
        here = shortened(str(place.path.absolute().parent))
        told = f"{name}, which its tensors are in, is neither at {shortened(origin.path)} nor in {here}"
        raise LostFile(place.path, origin.path, told, is_folder=_is_folder(origin))
    try:
        return arrays_of(origin)
    except AnotherFile as error:
        told = f"{name} in {shortened(str(path.parent))} is another than the one that the session was made from"
        raise LostFile(place.path, origin.path, told, is_folder=_is_folder(origin)) from error


def _is_folder(origin: Origin) -> bool:
    """Whether the origin is a folder of files, which may no longer be there to be looked at."""
    parts = origin.reading.get("parts")
    files = [part.get("file") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    ending = Path(name_of(origin.path)).suffix
    return not any(isinstance(file, str) and Path(file).suffix == ending for file in files)


def _beside(path: str, session: Path) -> str | None:
    """The way from the folder of ``session`` to ``path`` if that lies in it or below."""
    try:
        return Path(path).resolve().relative_to(session.resolve().parent).as_posix()
    except (ValueError, OSError):
        return None
