"""``.safetensors``: a JSON header with shapes and places, and the numbers after it."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from attn_gui import torch_loading
from attn_gui.files.checkpoint.declared import (
    ITEM_BYTES,
    MAX_AXES,
    MAX_NAMES,
    Contents,
    Declared,
    StateTensor,
    check_there,
)
from attn_gui.files.errors import FileError, cannot_read
from attn_gui.files.places import Place, parsed
from attn_gui.files.regular import size_of_file
from attn_gui.model.errors import readable_sizes
from attn_gui.model.table import frozen

LENGTH_BYTES = 8
MAX_HEADER_BYTES = 100_000_000
METADATA = "__metadata__"
DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
    "C64": "complex64",
}


def look(path: Path) -> Contents:
    """What ``path`` holds by its header, whose places must fill the file; no number is read. Raises FileError."""
    return places(path)[0]


def places(path: Path) -> tuple[Contents, dict[str, int]]:
    """What ``path`` holds, as :func:`look`, and the byte of the file that each tensor starts at."""
    size = size_of_file(path)
    try:
        with path.open("rb") as file:
            start = file.read(LENGTH_BYTES)
            length = int.from_bytes(start, "little")
            room = size - LENGTH_BYTES
            if len(start) < LENGTH_BYTES or not 2 <= length <= min(room, MAX_HEADER_BYTES):
                received = "a file cut off or of another kind" if room < 0 else f"a length of {length:,}"
                expected = "a safetensors file" if room < 2 else f"a safetensors header of at most {room:,} bytes"
                raise FileError(path, "", expected, received)
            header = file.read(length)
    except OSError as error:
        raise cannot_read(path, error) from error
    _check_names(path, header)
    entries = dict(Place(parsed(path, "header", header), path, "header").items())
    metadata = entries.pop(METADATA, None)
    others = {} if metadata is None else {name: place.text() for name, place in metadata.items()}
    if len(entries) > MAX_NAMES:
        raise FileError(path, "header", f"at most {MAX_NAMES:,} tensors", f"{len(entries):,}")
    spans: list[tuple[int, int, str]] = []
    tensors: dict[str, Declared] = {}
    for name, entry in entries.items():
        tensors[name], span = _tensor(entry)
        spans.append((*span, name))
    _check_spans(path, spans, size - LENGTH_BYTES - length)
    first = LENGTH_BYTES + length
    return Contents(tensors, others), {name: first + start for start, _, name in spans}


def load(path: Path, names: Collection[str]) -> dict[str, StateTensor]:
    """The tensors ``names`` of ``path``, which were looked at before; raises FileError, or NoTorch."""
    torch_loading.load()
    import torch
    from safetensors import SafetensorError, safe_open

    declared = look(path).tensors
    check_there(path, names, declared)
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            return {
                name: StateTensor(frozen(file.get_tensor(name).to(torch.float64).numpy()), declared[name].dtype)
                for name in names
            }
    except (SafetensorError, RuntimeError, ValueError) as error:
        raise FileError(path, "", "a safetensors file", f"one that is refused ({error})") from error
    except OSError as error:
        raise cannot_read(path, error) from error


def _check_names(path: Path, header: bytes) -> None:
    """Refuse a name that stands in the header twice: JSON readers keep the last of them, or the first."""

    def once(pairs: Sequence[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise FileError(path, name, "one tensor of this name", "several")
            seen.add(name)

    try:
        json.loads(header.decode("utf-8", "replace"), object_pairs_hook=once)
    except FileError:
        raise
    except (ValueError, RecursionError):
        return  # said better by what reads it next


def _tensor(entry: Place) -> tuple[Declared, tuple[int, int]]:
    at = entry.keys(("dtype", "shape", "data_offsets"))
    kind = at["dtype"].one_of(*DTYPES)
    sides = at["shape"].elements()
    if len(sides) > MAX_AXES:
        at["shape"].refuse(f"at most {MAX_AXES} axes")
    shape = tuple(side.whole() for side in sides)
    offsets = [offset.whole() for offset in at["data_offsets"].elements()]
    if min(shape, default=0) < 0:
        at["shape"].refuse("sides of 0 or more")
    declared = Declared(shape, DTYPES[kind])
    needed = math.prod(shape) * ITEM_BYTES[declared.dtype]
    if len(offsets) != 2 or not 0 <= offsets[0] <= offsets[1] or offsets[1] - offsets[0] != needed:
        at["data_offsets"].refuse(f"the first and the last of {needed:,} bytes, for shape {shape} of {kind}")
    return declared, (offsets[0], offsets[1])


def _check_spans(path: Path, spans: list[tuple[int, int, str]], room: int) -> None:
    """The tensors lie one after another, without a gap, to the end of the file."""
    end = 0
    for start, stop, name in sorted(spans):
        if start != end:
            raise FileError(path, name, f"its numbers from byte {end:,} on", f"from byte {start:,} on")
        end = stop
    if end != room:
        expected, received = readable_sizes(end, room)
        raise FileError(path, "", f"{expected} of numbers, as the header says", received)
