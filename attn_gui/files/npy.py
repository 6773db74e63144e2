"""Arrays in zip files as ``.npy`` members: written in blocks, read only after their header was checked."""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from attn_gui.files.errors import FileError

Array = NDArray[Any]

# zip's earliest date: the same content gives the same bytes, whenever it is saved
DATE = (1980, 1, 1, 0, 0, 0)


_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '(?P<dtype>[^']{1,40})', 'fortran_order': (?P<fortran>True|False), "
    rb"'shape': \((?P<shape>|[0-9]{1,18},|[0-9]{1,18}(?:, [0-9]{1,18}){1,31})\), \} *\n"
)


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


def read(path: Path, info: ZipInfo, file: IO[bytes]) -> Array:
    """The float64, int64 or bool array of an entry, read-only and of native byte order.

    Nothing is allocated before the header was found to describe exactly what the entry holds, and nothing is
    unpickled. Raises FileError.
    """
    shape, fortran_order, dtype = _header(path, info, file)
    needed = math.prod(shape) * dtype.itemsize
    held = info.file_size - file.tell()
    if needed != held:
        expected = f"{needed} bytes of numbers, for shape {shape}"
        raise FileError(path, info.filename, expected, f"{held}")
    try:
        array = np.frombuffer(file.read(needed), dtype).reshape(shape, order="F" if fortran_order else "C")
    except ValueError as error:
        raise FileError(path, info.filename, "a shape that numpy can hold", f"shape {shape}") from error
    if dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise FileError(path, info.filename, "0 or 1 in each byte of bool", "other bytes")
    result = np.ascontiguousarray(array, dtype.newbyteorder("="))
    result.flags.writeable = False
    return result


def _header(path: Path, info: ZipInfo, file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    # numpy's own reader evaluates the header as Python; this is the one text that numpy writes
    start = file.read(len(_MAGIC) + 2)
    text = file.read(int.from_bytes(start[-2:], "little"))
    found = _HEADER.fullmatch(text) if start[:-2] == _MAGIC else None
    if found is None:
        raise FileError(path, info.filename, "a numpy array (.npy, format 1.0)", "another header, or a damaged one")
    dtype = found["dtype"].decode("ascii")
    if dtype not in ("<f8", ">f8", "<i8", ">i8", "|b1"):
        raise FileError(path, info.filename, "numbers of float64, int64 or bool", f"numpy type {dtype}")
    shape = tuple(int(side) for side in found["shape"].replace(b",", b" ").split())
    return shape, found["fortran"] == b"True", np.dtype(dtype)
