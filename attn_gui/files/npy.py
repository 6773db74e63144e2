"""``.npy``: written in blocks as members of zip files, and read only after the header was checked."""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import IO, Any, NamedTuple
from zipfile import ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from attn_gui.files.errors import FileError

Array = NDArray[Any]


class Types(NamedTuple):
    """The types of number that an array may have: in words, and by numpy's codes without a byte order."""

    called: str
    codes: tuple[str, ...]


ANY = Types(
    "an array of numbers or flags",
    ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"),
)

# zip's earliest date: the same content gives the same bytes, whenever it is saved
DATE = (1980, 1, 1, 0, 0, 0)
# numpy reads none longer, either, of what it does not trust
MAX_HEADER_BYTES = 10_000
# as many as numpy can hold
MAX_AXES = 64

_MAGIC = b"\x93NUMPY"
# of each version of the format, how many bytes say how long the header is
_LENGTH_BYTES = {b"\x01\x00": 2, b"\x02\x00": 4, b"\x03\x00": 4}
# without blanks: 'descr':'<f8', or 'fortran_order':False, or 'shape':(60,20), and what follows it
_ENTRY = re.compile(
    rb"(?P<quote>['\"])(?P<key>descr|fortran_order|shape)(?P=quote):"
    rb"(?:(?P<mark>['\"])(?P<type>[^'\"\\]{1,40})(?P=mark)|(?P<flag>True|False)|\((?P<sides>[-0-9L,]*)\))(?:,|\Z)"
)
# Python 2 wrote an L after some numbers
_SIDE = re.compile(rb"(-?[0-9]{1,18})L?")


class _Header(NamedTuple):
    type: str
    fortran_order: bool
    shape: tuple[int, ...]


class Stated(NamedTuple):
    """What a header states: numpy's code of the type, the order, the shape, and the byte that the numbers start at."""

    type: str
    fortran_order: bool
    shape: tuple[int, ...]
    start: int


def member(name: str) -> ZipInfo:
    """An entry for a zip file, stored uncompressed."""
    info = ZipInfo(name, DATE)
    info.external_attr = 0o644 << 16
    return info


def write(
    archive: ZipFile, name: str, dtype: np.dtype[Any], shape: tuple[int, ...], blocks: Iterable[Array]
) -> Generator[int, None, None]:
    """Write ``blocks``, which make up an array of ``shape`` in C order; yields the count of cells so far."""
    header = {"descr": npy_format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    done = 0
    with archive.open(member(name), "w", force_zip64=True) as file:
        npy_format.write_array_header_1_0(file, header)
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype=dtype).data)
            done += block.size
            yield done


def read(path: Path, where: str, file: IO[bytes], size: int, types: Types) -> Array:
    """The array of one of ``types`` that the ``size`` bytes of ``file`` hold, read-only and in its own byte order.

    ``where`` is its place in ``path``. Nothing is allocated before the header was found to describe exactly what is
    there, and nothing is unpickled or evaluated. Raises FileError.
    """
    stated = look(path, where, file, size, types)
    dtype = np.dtype(stated.type)
    try:
        numbers = np.frombuffer(file.read(size - stated.start), dtype)
        array = numbers.reshape(stated.shape, order="F" if stated.fortran_order else "C")
    except ValueError as error:
        raise FileError(path, where, "a shape that numpy can hold", f"shape {stated.shape}") from error
    if dtype.kind == "b" and (numbers.view(np.uint8) > 1).any():
        raise FileError(path, where, "0 or 1 in each byte of bool", "other bytes")
    return array


def look(path: Path, where: str, file: IO[bytes], size: int, types: Types) -> Stated:
    """What the header of the ``size`` bytes of ``file`` states, which is true of them; ``file`` stands behind it then.

    Others as for :func:`read`. Raises FileError.
    """
    header = _header(path, where, file)
    code = header.type.removeprefix(header.type[0]) if header.type[0] in "<>=|" else header.type
    if code not in types.codes:
        received = {"c": "complex numbers, ", "O": "Python objects, which are not unpickled, "}.get(code[:1], "")
        raise FileError(path, where, types.called, f"{received}numpy type {header.type}")
    if min(header.shape, default=0) < 0:
        raise FileError(path, where, "a shape with sides of 0 or more", f"shape {header.shape}")
    if len(header.shape) > MAX_AXES:
        raise FileError(path, where, "a shape that numpy can hold", f"one of {len(header.shape):,} axes")
    needed, held = math.prod(header.shape) * np.dtype(header.type).itemsize, size - file.tell()
    if needed != held:
        raise FileError(path, where, f"{needed} bytes of numbers, for shape {header.shape}", f"{held}")
    return Stated(*header, file.tell())


def _header(path: Path, where: str, file: IO[bytes]) -> _Header:
    # numpy's own reader evaluates the header as Python, and lets through what Python says of it
    start = file.read(len(_MAGIC) + 2)
    length = int.from_bytes(file.read(_LENGTH_BYTES.get(start[len(_MAGIC) :], 0)), "little")
    text = file.read(length) if start.startswith(_MAGIC) and length <= MAX_HEADER_BYTES else b""
    header = _parsed(text)
    if header is None:
        raise FileError(path, where, "a numpy array (.npy)", "another header, or a damaged one")
    return header


def _parsed(text: bytes) -> _Header | None:
    """The header that ``text`` states, its entries in any order; None where it is none."""
    text = b"".join(text.split())
    found: dict[bytes, re.Match[bytes]] = {}
    at, end = 1, len(text) - 1
    while at < end:
        entry = _ENTRY.match(text, at, end)
        if entry is None or entry["key"] in found:
            return None
        found[entry["key"]] = entry
        at = entry.end()
    if text[:1] + text[-1:] != b"{}" or len(found) != 3:
        return None
    stated, flag, sides = found[b"descr"]["type"], found[b"fortran_order"]["flag"], found[b"shape"]["sides"]
    shape = None if sides is None else _shape(sides)
    if stated is None or flag is None or shape is None:
        return None
    return _Header(stated.decode("latin-1"), flag == b"True", shape)


def _shape(sides: bytes) -> tuple[int, ...] | None:
    """The tuple that ``60,20`` states, or ``60,`` or nothing; None where that is none."""
    if not sides:
        return ()
    found = [_SIDE.fullmatch(side) for side in sides.removesuffix(b",").split(b",")]
    whole = tuple(int(side[1]) for side in found if side is not None)
    return whole if len(whole) == len(found) and b"," in sides else None
