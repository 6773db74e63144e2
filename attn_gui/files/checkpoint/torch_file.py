"""``.pt`` and ``.pth``: state dicts as torch.save writes them, a zip of ``data.pkl`` and a member per storage."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from attn_gui import torch_loading
from attn_gui.files.checkpoint.declared import Contents, StateTensor, check_there, flattened
from attn_gui.files.checkpoint.pickle_text import StoredTensor, read
from attn_gui.files.errors import BROKEN, FileError, cannot_read, check_size
from attn_gui.files.regular import size_of_file
from attn_gui.model.table import frozen

MAX_BYTES = 1 << 31
MAX_PICKLE_BYTES = 1 << 26
MAX_ENTRIES = 200_000
# of a tensor of weights whose numbers repeat, how many once they are written out
MAX_REPEATED = 1 << 25
ZIP_START = b"PK\x03\x04"
TAR_MARK, TAR_MARK_AT = b"ustar", 257
PICKLE_START = b"\x80"
_MEMBER = re.compile(
    r"(data\.pkl|data/[0-9]{1,9}|version|byteorder|\.format_version|\.storage_alignment"
    r"|\.data/serialization_id|\.data/version)"
)
EXPECTED = "a state_dict as torch.save writes it since torch 1.6 (a zip file)"


def look(path: Path) -> Contents:
    """What ``path`` holds, by its directory and its pickle read as text; no number is read. Raises FileError."""
    with Archive(path) as archive:
        return archive.contents


def load(path: Path, names: Collection[str]) -> dict[str, StateTensor]:
    """The tensors ``names`` of ``path``; raises FileError, or NoTorch."""
    torch_loading.load()
    import torch

    with Archive(path) as archive:
        checked = archive.copy()
        declared = archive.contents.tensors
    check_there(path, names, declared)
    try:
        # a copy that holds what was looked at and nothing else: torch reads zip files in a way of its own
        root = torch.load(checked, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever torch makes of a file that we have misjudged
        raise FileError(path, "", EXPECTED, f"one that torch refuses ({_first_line(error)})") from error
    tensors = flattened(path, root)
    result = {}
    for name in names:
        tensor = tensors[name].detach()
        if tuple(tensor.shape) != declared[name].shape:
            raise FileError(path, name, f"shape {declared[name].shape}", f"{tuple(tensor.shape)}")
        result[name] = StateTensor(frozen(tensor.to(torch.float64).resolve_neg().numpy()), declared[name].dtype)
    return result


class Archive:
    """A zip file of torch.save that was found in order, open for reading. Of at most ``most`` bytes, if that is given.

    members: the entries by their names within the archive's one folder.
    """

    def __init__(self, path: Path, most: int | None = MAX_BYTES) -> None:
        self._path = path
        self._size = size_of_file(path)
        if most is not None:
            check_size(path, "", self._size, most, advice=": save the one module's state_dict() alone")
        self._zipped: ZipFile
        self.members: dict[str, ZipInfo] = {}

    def __enter__(self) -> Archive:
        path = self._path
        try:
            _check_start(path)
            self._zipped = ZipFile(path)
        except FileError:
            raise
        except BROKEN as error:
            raise _damaged(path, error) from error
        except OSError as error:
            raise cannot_read(path, error) from error
        try:
            self.members = self._checked_members()
        except BaseException:
            self._zipped.close()
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        self._zipped.close()

    def copy(self) -> io.BytesIO:
        """The same archive written anew, in memory."""
        result = io.BytesIO()
        with ZipFile(result, "w", ZIP_STORED) as out:
            for name, info in self.members.items():
                out.writestr(f"archive/{name}", self._bytes(info))
        result.seek(0)
        return result

    def _checked_members(self) -> dict[str, ZipInfo]:
        """The entries by their names within the archive's one folder."""
        path, entries = self._path, self._zipped.infolist()
        if len(entries) > MAX_ENTRIES:
            raise FileError(path, "", f"at most {MAX_ENTRIES:,} entries", f"{len(entries):,}")
        roots = sorted({entry.filename.partition("/")[0] for entry in entries})
        if len(roots) != 1:
            raise FileError(path, "", f"{EXPECTED}, all in one folder", ", ".join(roots) or "an empty one")
        members: dict[str, ZipInfo] = {}
        for entry in entries:
            name = entry.filename.partition("/")[2]
            if name.startswith(("code/", "constants")):
                raise FileError(path, entry.filename, "a state_dict", "a TorchScript program, which holds code")
            if not _MEMBER.fullmatch(name):
                raise FileError(path, "", f"{EXPECTED}, with data.pkl and data/0 and so on", f"{entry.filename!r}")
            if name in members:
                raise FileError(path, entry.filename, "one entry of this name", "several")
            if entry.flag_bits & 1 or entry.compress_type != ZIP_STORED or entry.file_size != entry.compress_size:
                raise FileError(path, entry.filename, "an entry stored as it is", "a packed or encrypted one")
            members[name] = entry
        if "data.pkl" not in members:
            raise FileError(path, "", EXPECTED, "a zip file without data.pkl")
        if sum(entry.file_size for entry in entries) > self._size:
            raise FileError(path, "", "entries of at most the size of the file", "entries that overlap")
        check_size(path, "data.pkl", members["data.pkl"].file_size, MAX_PICKLE_BYTES)
        return members

    @cached_property
    def root(self) -> Any:
        """What was saved, read as text (:mod:`~attn_gui.files.checkpoint.pickle_text`); raises FileError."""
        return read(self._path, self._bytes(self.members["data.pkl"]))

    @cached_property
    def contents(self) -> Contents:
        """What was saved, as a state dict; raises FileError for anything else."""
        root = self.root
        if not isinstance(root, Mapping):
            received = "a lone tensor" if isinstance(root, StoredTensor) else f"a {type(root).__name__}"
            raise FileError(self._path, "", "a state_dict: a dict of names and tensors", received)
        leaves = flattened(self._path, root)
        tensors: dict[str, Any] = {}
        for name, leaf in leaves.items():
            if isinstance(leaf, StoredTensor):
                self.check_storage(name, leaf)
                if leaf.repeats and leaf.declared.size > MAX_REPEATED:
                    expected = f"an expanded tensor of at most {MAX_REPEATED:,} numbers"
                    raise FileError(self._path, name, expected, f"shape {leaf.declared.shape}")
                tensors[name] = leaf.declared
        others = {name: leaf for name, leaf in leaves.items() if type(leaf) in (int, str)}
        return Contents(tensors, others)

    def check_storage(self, name: str, tensor: StoredTensor) -> ZipInfo:
        """The entry that the numbers of a tensor lie in, which is as long as it is said to be; raises FileError."""
        member = self.members.get(f"data/{tensor.storage.key}")
        if member is None:
            raise FileError(self._path, name, f"its numbers in data/{tensor.storage.key}", "a file without that entry")
        if member.file_size != tensor.storage.size:
            expected = f"{tensor.storage.size:,} bytes in data/{tensor.storage.key}, as data.pkl says"
            raise FileError(self._path, name, expected, f"{member.file_size:,}")
        return member

    def _bytes(self, info: ZipInfo) -> bytes:
        try:
            return self._zipped.read(info)
        except BROKEN as error:
            raise _damaged(self._path, error) from error
        except OSError as error:
            raise cannot_read(self._path, error) from error


def _check_start(path: Path) -> None:
    """Refuse the forms that torch wrote before: reading them means unpickling from the first byte on."""
    with path.open("rb") as file:
        start = file.read(TAR_MARK_AT + len(TAR_MARK))
    if start.startswith(ZIP_START):
        return
    again = "load it in torch and save its state_dict() anew"
    if start[TAR_MARK_AT:] == TAR_MARK:
        raise FileError(path, "", EXPECTED, f"the tar file of torch before 0.1.10: {again}")
    if start.startswith(PICKLE_START):
        raise FileError(path, "", EXPECTED, f"a bare pickle, as torch before 1.6 and pickle.dump write it: {again}")
    raise FileError(path, "", EXPECTED, "another kind of file" if start else "an empty file")


def _damaged(path: Path, error: Exception) -> FileError:
    reason = f" ({error})" if str(error) else ""
    return FileError(path, "", EXPECTED, f"a zip file that was damaged or cut off{reason}")


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
