"""``.pt`` and ``.pth``: the pickle is read as text, and the tensors are mapped where they lie in the zip file.

So nothing is unpickled, not even by torch, which is not needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from attn_gui.files.checkpoint.declared import MAX_DEPTH, MAX_NAMES
from attn_gui.files.checkpoint.pickle_text import StoredTensor
from attn_gui.files.checkpoint.torch_file import Archive
from attn_gui.files.errors import FileError, cannot_read
from attn_gui.files.tensors.stored import TYPES, Opened, Region, Stored, held
from attn_gui.files.tensors.zipped import start_of

MAX_BYTEORDER = 16
# of a dict, or the place in a list
Key = str | int | float | None


def open_torch(path: Path) -> Opened:
    """The tensors of what torch.save wrote: a tensor, or dicts, lists and tuples of them; raises FileError.

    Names of dicts and numbers of lists are joined with dots.
    """
    tensors: list[Stored] = []
    words: dict[str, tuple[str, ...]] = {}
    try:
        with Archive(path, most=None) as archive:
            order = _byte_order(path, archive)
            starts: dict[str, int] = {}
            for name, (leaf, indices) in _leaves(path, archive.root).items():
                source = _source(indices)
                if isinstance(leaf, StoredTensor):
                    entry = archive.check_storage(name, leaf)
                    if entry.filename not in starts:
                        starts[entry.filename] = start_of(path, entry)
                    tensors.append(_region(path, starts[entry.filename], order, leaf).stored(name, source, torch=True))
                elif isinstance(leaf, list) and all(type(item) is str for item in leaf):
                    words[name] = tuple(leaf)
                elif isinstance(leaf, list):
                    tensors.append(held(name, np.array(leaf, np.int64), _as_array(source)))
    except FileError as error:
        raise _advising(error) from error
    except OSError as error:
        raise cannot_read(path, error) from error
    return Opened(tensors, words)


def _advising(error: FileError) -> FileError:
    """With what to save in the place of a Python object: a model's state_dict() has none of what it computed."""
    name, refused, _ = error.received.partition(", which is not looked up")
    if not refused:
        return error
    if name.startswith("transformers.") and name.endswith("Cache"):
        received = f"{name}, the cache: save out.attentions alone"
    elif name.startswith("transformers."):
        received = f"{name}, a whole output: save out.attentions or dict(out) in its place"
    else:
        received = f"{name}, which is not looked up: save its tensors in a dict, by their names"
    return FileError(error.path, error.where, error.expected, received)


def _region(path: Path, start: int, order: Literal["<", ">"], tensor: StoredTensor) -> Region:
    dtype = TYPES[tensor.declared.dtype].newbyteorder(order)
    offset = start + tensor.offset * dtype.itemsize
    flags = {"negated": tensor.negated, "conjugated": tensor.conjugated}
    return Region(path, offset, tensor.declared.shape, dtype, strides=tensor.strides, **flags)


def _byte_order(path: Path, archive: Archive) -> Literal["<", ">"]:
    entry = archive.members.get("byteorder")
    if entry is None:
        return "<"
    with path.open("rb") as file:
        file.seek(start_of(path, entry))
        said = file.read(min(entry.file_size, MAX_BYTEORDER))
    if said not in (b"little", b"big"):
        raise FileError(path, "byteorder", "little or big", repr(said))
    return "<" if said == b"little" else ">"


def _source(indices: tuple[Key, ...]) -> Callable[[str], str]:
    """Python that loads what lies at ``indices``."""
    after = "".join(f"[{index!r}]" for index in indices)
    return lambda file: f"torch.load({file!r}, weights_only=True){after}"


def _as_array(source: Callable[[str], str]) -> Callable[[str], str]:
    def loads(file: str) -> str:
        return f"np.array({source(file)})"

    return loads


def _leaves(path: Path, root: Any) -> dict[str, tuple[Any, tuple[Key, ...]]]:
    """Tensors, lists of words and lists of whole numbers by their names, with the indices that lead there.

    Raises FileError for a name given twice.
    """
    found: dict[str, tuple[Any, tuple[Key, ...]]] = {}
    waiting: list[tuple[Any, tuple[Key, ...]]] = [(root, ())]
    visited = 0
    while waiting:
        value, indices = waiting.pop()
        name = ".".join(map(str, indices))
        visited += 1
        if visited > MAX_NAMES or len(indices) > MAX_DEPTH:
            raise FileError(path, "", f"at most {MAX_NAMES:,} names, {MAX_DEPTH} deep", "more")
        if isinstance(value, StoredTensor) or _is_plain_list(value):
            if name in found:
                raise FileError(path, name, "one tensor of this name", "several")
            found[name] = (list(value) if not isinstance(value, StoredTensor) else value), indices
            continue
        inner: list[tuple[Any, Any]] = []
        if isinstance(value, Mapping):
            inner = list(value.items())
        elif isinstance(value, list | tuple):
            inner = list(enumerate(value[: MAX_NAMES + 1]))
        # the last waits on top: pushed in reverse, they come in the order of the file
        waiting.extend((each, (*indices, key)) for key, each in reversed(inner))
    return found


def _is_plain_list(value: Any) -> bool:
    """Whether this is a list of words, or of whole numbers of 64 bits."""
    if not isinstance(value, list | tuple) or not value:
        return False
    kinds = {type(item) for item in value}
    return kinds == {str} or (kinds == {int} and all(-(2**63) <= item < 2**63 for item in value))
