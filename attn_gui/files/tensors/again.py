"""The arrays of an Origin, got again from its file when a session is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from attn_gui.files.errors import FileError
from attn_gui.files.lost import AnotherFile
from attn_gui.files.regular import is_folder, size_of_file
from attn_gui.files.tensors.digest import digest_of
from attn_gui.files.tensors.layer_arrays import LETTERS, Arrays, found_parts
from attn_gui.files.tensors.looking import open_file
from attn_gui.files.tensors.stored import Stored
from attn_gui.model.errors import ExperimentError
from attn_gui.model.given import Given
from attn_gui.model.origin import Origin
from attn_gui.model.tensors.checks import problems
from attn_gui.model.tensors.info import Contents, TensorInfo
from attn_gui.model.tensors.plain import from_plain, place_of
from attn_gui.model.tensors.reading import Reading
from attn_gui.model.tensors.sizes import sizes_of


def arrays_of(origin: Origin) -> Mapping[str, Given]:
    """The arrays that ``origin`` speaks of by their parts (``Q``, ``K``, ``V``, ``A``, ``N``), [heads, rows, columns].

    Raises FileError, which names the file and says what to do, for one that is missing or has changed.
    """
    path = Path(origin.path)
    _check_local(path)
    try:
        reading, layer = from_plain(origin.reading)
        places = _places(reading)
        folder = is_folder(path)
        if not _is_same(path, folder, places, origin.digest):
            expected = "the file that the session was made from"
            received = "another: put the old one back, or open the new one with File > Open tensors"
            raise AnotherFile(path, "", expected, received)
        contents, stored = _found(path, folder, places)
        wrong = problems(contents, reading)
        if wrong:
            raise FileError(path, "", "the tensors that the session speaks of", wrong[0].text)
        arrays, sizes = Arrays(contents, stored, reading), sizes_of(contents, reading, "")
        return {
            LETTERS[role]: arrays.part(part, role, layer, sizes)
            for role, part in found_parts(reading, "").items()
            if role in LETTERS
        }
    except ExperimentError as error:
        raise FileError(path, error.field, error.expected, error.received) from error


def is_there(origin: Origin) -> bool:
    """Whether the arrays that ``origin`` speaks of can be got again: the file is there, and as it was."""
    path = Path(origin.path)
    try:
        _check_local(path)
        reading, _ = from_plain(origin.reading)
        return _is_same(path, is_folder(path), _places(reading), origin.digest)
    except (FileError, ExperimentError):
        return False


def _places(reading: Reading) -> list[tuple[str, ...]]:
    """The file and the key of each tensor."""
    return [tuple(part.tensors[0].split("\0")) for part in reading.parts]


def _is_same(path: Path, folder: bool, places: Sequence[tuple[str, ...]], digest: str) -> bool:
    paths = [path / file for file in sorted({file for file, _ in places})] if folder else [path]
    for each in paths:
        size_of_file(each)
    return bool(paths) and digest_of(paths) == digest


def _found(path: Path, folder: bool, places: list[tuple[str, ...]]) -> tuple[Contents, dict[str, Stored]]:
    """The tensors at the ``places``, each a file and a key."""
    opened: dict[str, dict[str, Stored]] = {}
    tensors, found = {}, {}
    for file, key in places:
        if file not in opened:
            opened[file] = {each.key: each for each in open_file(path / file if folder else path).tensors}
        if key not in opened[file]:
            raise FileError(path, key, "a tensor of this name", "none")
        stored, name = opened[file][key], place_of(file, key)
        found[name] = stored
        tensors[name] = TensorInfo(name, stored.shape, stored.dtype, file, key)
    return Contents(str(path), tuple(opened) if folder else (), tuple(tensors.values())), found


def _check_local(path: Path) -> None:
    """A session from somebody else must not make this machine ask another one for a file."""
    if str(path).startswith(("\\\\", "//")):
        raise FileError(
            path, "", "a file of this computer: open it with File > Open tensors", "one of another computer"
        )
