"""Looking into files of tensors: by their headers, and at some of their numbers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from attn_gui.files.errors import FileError, cannot_read
from attn_gui.files.regular import is_folder, size_of_file
from attn_gui.files.tensors import ENDINGS
from attn_gui.files.tensors.json_reader import open_json
from attn_gui.files.tensors.numpy_reader import open_npy, open_npz
from attn_gui.files.tensors.peeking import peek
from attn_gui.files.tensors.safetensors_reader import open_safetensors
from attn_gui.files.tensors.stored import Opened, Stored
from attn_gui.files.tensors.table_reader import open_table
from attn_gui.files.tensors.torch_reader import open_torch
from attn_gui.model.mapped import ChangedFile
from attn_gui.model.tensors.info import Contents, TensorInfo
from attn_gui.model.tensors.names import NUMBER, natural

MAX_FILES = 10_000
# tensors whose numbers are looked at; of a whole model's there are thousands, which are no attention
MAX_PEEKED = 1_000
_READERS: Mapping[str, Callable[[Path], Opened]] = {
    ".npy": open_npy,
    ".npz": open_npz,
    ".safetensors": open_safetensors,
    ".pt": open_torch,
    ".pth": open_torch,
    ".csv": open_table,
    ".tsv": open_table,
    ".json": open_json,
}


def open_file(path: Path) -> Opened:
    """The tensors of one file, none of them read; raises FileError."""
    reader = _READERS.get(path.suffix.casefold())
    if reader is None:
        size_of_file(path)
        raise FileError(path, "", f"a name that ends with {', '.join(ENDINGS)}", repr(path.suffix) or "none")
    return reader(path)


def look(paths: Sequence[str | Path]) -> Generator[float, None, Contents]:
    """What there is in one file, one folder, or several files of one folder; yields the part done (0 to 1).

    Raises FileError, also where there is no tensor at all.
    """
    folder, files, remarks = _folder_and_files([Path(path).absolute() for path in paths])
    one = not files
    places = [folder] if one else [folder / name for name in files]
    opened: list[tuple[Path, Opened]] = []
    damaged: list[tuple[Path, FileError]] = []
    for done, path in enumerate(places):
        try:
            found = open_file(path)
        except FileError as error:
            if one or len(paths) > 1:
                raise
            damaged.append((path, error))
            continue
        remarks += found.remarks
        if found.tensors or one:
            opened.append((path, found))
        yield 0.3 * done / len(places)
    layers = {_form(path) for path, _ in opened}
    for path, fault in damaged:
        # beside layers lies what nobody chose, such as a model's config.json; one of them is missed
        if not opened or _form(path) in layers:
            raise fault
        remarks.append(_left_out(path, fault))
    named = _named(opened, one)
    if not named:
        raise FileError(folder, "", "arrays of numbers or flags", "none")
    tensors = []
    for done, (info, stored) in enumerate(named):
        if done < MAX_PEEKED and info.is_readable:
            try:
                info = replace(info, peek=peek(stored.get(True)))
            except ChangedFile as error:
                raise FileError(error.path, stored.key, error.expected, error.received) from error
        tensors.append(info)
        yield 0.3 + 0.7 * (done + 1) / len(named)
    words = {_joined("" if one else path.stem, name): each for path, o in opened for name, each in o.words.items()}
    return Contents(str(folder), files, tuple(tensors), words, tuple(remarks))


def stored_in(contents: Contents) -> dict[str, Stored]:
    """The tensors of a file that was looked at before, by their names in ``contents``; raises FileError.

    One that is gone or has another shape or type is told by name.
    """
    folder = Path(contents.path)
    opened: dict[str, dict[str, Stored]] = {}
    found: dict[str, Stored] = {}
    for tensor in contents.tensors:
        path = folder / tensor.file if contents.files else folder
        if tensor.file not in opened:
            opened[tensor.file] = {stored.key: stored for stored in open_file(path).tensors}
        stored = opened[tensor.file].get(tensor.key)
        if stored is None or (stored.shape, stored.dtype) != (tensor.shape, tensor.dtype):
            now = "none" if stored is None else f"{stored.dtype} of shape {stored.shape}"
            expected = f"{tensor.dtype} of shape {tensor.shape}, as before"
            raise FileError(path, tensor.key, expected, now)
        found[tensor.name] = stored
    return found


def _folder_and_files(paths: Sequence[Path]) -> tuple[Path, tuple[str, ...], list[str]]:
    """The one file, or the folder and the files in it that are meant; and what was left out, in sentences."""
    if not paths:
        raise FileError("", "", "a file of tensors", "none")
    folders = {path.parent for path in paths}
    if len(paths) > 1:
        if len(folders) > 1:
            raise FileError(paths[1], "", f"files of one folder, {paths[0].parent}", str(paths[1].parent))
        for path in paths:
            size_of_file(path)
        return paths[0].parent, tuple(sorted((path.name for path in paths), key=natural)), []
    path = paths[0]
    if not is_folder(path):
        return path, (), []
    try:
        found = [each for each in path.iterdir() if each.suffix.casefold() in ENDINGS and not each.name.startswith(".")]
    except OSError as error:
        raise cannot_read(path, error) from error
    if len(found) > MAX_FILES:
        raise FileError(path, "", f"at most {MAX_FILES:,} files", f"{len(found):,}")
    names, remarks = [], []
    for each in sorted(found, key=lambda each: natural(each.name)):
        try:
            size_of_file(each)
        except FileError as error:  # a link that leads nowhere, a pipe
            remarks.append(_left_out(each, error))
        else:
            names.append(each.name)
    if not names:
        received = "; ".join(remarks) or "none of them"
        raise FileError(path, "", f"a folder with files that end with {', '.join(ENDINGS)}", received)
    return path, tuple(names), remarks


def _form(path: Path) -> str:
    """What the name of one layer's file has in common with those of the others."""
    return NUMBER.sub("", path.name.casefold())


def _left_out(path: Path, error: FileError) -> str:
    return f"{path.name} was left out: expected {error.expected}, received {error.received}"


def _named(opened: Sequence[tuple[Path, Opened]], one: bool) -> list[tuple[TensorInfo, Stored]]:
    """Each tensor under a name of its own: its own name, or that of its file, or both."""
    stems = [path.stem for path, _ in opened]
    found: dict[str, tuple[TensorInfo, Stored]] = {}
    for path, each in opened:
        file = path.stem if stems.count(path.stem) == 1 else path.name
        for stored in each.tensors:
            name = stored.key or path.stem if one else _joined(file, stored.key)
            if name in found:
                raise FileError(path, name, "one tensor of this name", "several")
            found[name] = TensorInfo(name, stored.shape, stored.dtype, path.name, stored.key), stored
    return list(found.values())


def _joined(file: str, key: str) -> str:
    return f"{file}.{key}" if file and key else file or key
