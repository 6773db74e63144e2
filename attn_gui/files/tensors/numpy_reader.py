"""``.npy`` and ``.npz``: members that are stored as they are can be mapped, packed ones are read whole."""

from __future__ import annotations

import io
import math
import re
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from attn_gui.files import npy
from attn_gui.files.arrays import MAX_BYTES, MAX_ENTRIES
from attn_gui.files.errors import BROKEN, FileError, cannot_read, check_size
from attn_gui.files.regular import size_of_file
from attn_gui.files.tensors.stored import TYPES, Array, Opened, Region, Stored, name_of
from attn_gui.files.tensors.zipped import check_names, check_packing, start_of
from attn_gui.model.tensors.info import ITEM_BYTES

# numpy has no name for bfloat16: that of ml_dtypes is saved as 2 bytes without a type
BFLOAT16 = "V2"
KNOWN = npy.Types(npy.ANY.called, (*npy.ANY.codes, "c8", "c16", BFLOAT16))
_ENDING = ".npy"
_START, _MOST_OF_WORDS = 200, 1 << 24
_WORDS = re.compile(rb"'descr': *'([<>]U[1-9][0-9]{0,4})'")


def open_npy(path: Path) -> Opened:
    """The array of a ``.npy``; raises FileError."""
    size = size_of_file(path)
    try:
        with path.open("rb") as file:
            stated = npy.look(path, "", file, size, KNOWN)
    except OSError as error:
        raise cannot_read(path, error) from error
    return Opened(
        [_region(path, 0, stated).stored("", lambda file: f"np.load({file!r})")], remarks=_remarks(stated, path.name)
    )


def open_npz(path: Path) -> Opened:
    """The arrays of a ``.npz`` by their names, and its lists of words; raises FileError."""
    size_of_file(path)
    tensors: list[Stored] = []
    words: dict[str, tuple[str, ...]] = {}
    remarks: tuple[str, ...] = ()
    try:
        with ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.endswith(_ENDING)]
            _check(path, archive, entries)
            for entry in entries:
                key = entry.filename.removesuffix(_ENDING)
                with archive.open(entry) as file:
                    start = file.read(_START)
                    if (code := _WORDS.search(start)) is not None:
                        words[key] = _words(path, entry, code[1].decode(), start + file.read(_MOST_OF_WORDS))
                        continue
                    file.seek(0)
                    stated = npy.look(path, entry.filename, file, entry.file_size, KNOWN)
                tensors.append(_stored(path, entry, key, stated))
                remarks += _remarks(stated, key)
    except FileError:
        raise
    except BROKEN as error:
        raise FileError(path, "", "a zip file that is whole (.npz)", str(error) or "a damaged one") from error
    except OSError as error:
        raise cannot_read(path, error) from error
    return Opened(tensors, words, remarks)


def _check(path: Path, archive: ZipFile, entries: list[ZipInfo]) -> None:
    if not 0 < len(entries) <= MAX_ENTRIES:
        raise FileError(path, "", f"1 to {MAX_ENTRIES} arrays (.npy)", str(len(entries)))
    check_names(path, entries)
    for entry in entries:
        if entry.flag_bits & 1 or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise FileError(path, entry.filename, "a stored or deflated entry without a password", "another kind")
        if entry.compress_type == ZIP_DEFLATED:
            check_size(path, entry.filename, entry.file_size, MAX_BYTES, advice=": save it with numpy.savez instead")
    check_packing(path, entries)


def _region(path: Path, start: int, stated: npy.Stated) -> Region:
    code = stated.type.lstrip("<>=|")
    dtype = TYPES["bfloat16"] if code == BFLOAT16 else np.dtype(stated.type)
    return Region(path, start + stated.start, stated.shape, dtype, stated.fortran_order)


def _stored(path: Path, entry: ZipInfo, key: str, stated: npy.Stated) -> Stored:
    def source(file: str) -> str:
        return f"np.load({file!r})[{key!r}]"

    region = _region(path, 0, stated)
    if entry.compress_type == ZIP_STORED:
        region = _region(path, start_of(path, entry), stated)
        return region.stored(key, source)

    def get(mapped: bool) -> Array:
        return _unpacked(path, entry.filename, region)

    return Stored(key, stated.shape, name_of(region.dtype), get, source)


def _unpacked(path: Path, name: str, region: Region) -> Array:
    """The numbers of a packed member, which was looked at before."""
    needed = math.prod(region.shape) * ITEM_BYTES[name_of(region.dtype)]
    try:
        with ZipFile(path) as archive, archive.open(name) as file:
            if archive.getinfo(name).file_size != region.start + needed:
                raise FileError(path, name, "the array that was there before", "a file that has changed")
            file.seek(region.start)
            numbers = np.empty(needed, np.uint8)
            at = 0
            while at < needed and (block := file.read(min(1 << 20, needed - at))):
                numbers[at : at + len(block)] = np.frombuffer(block, np.uint8)
                at += len(block)
    except FileError:
        raise
    except MemoryError as error:
        raise FileError(path, name, "an array that fits in memory", "a larger one") from error
    except (*BROKEN, KeyError) as error:
        raise FileError(path, name, "an entry that is whole", str(error) or "a damaged one") from error
    except OSError as error:
        raise cannot_read(path, error) from error
    if at < needed or (region.dtype.kind == "b" and (numbers > 1).any()):
        raise FileError(path, name, "the numbers that its header states", "others")
    numbers.flags.writeable = False
    try:
        return numbers.view(region.dtype).reshape(region.shape, order="F" if region.fortran else "C")
    except ValueError as error:
        raise FileError(path, name, "a shape that numpy can hold", f"shape {region.shape}") from error


def _words(path: Path, entry: ZipInfo, code: str, data: bytes) -> tuple[str, ...]:
    """The list of words that a member of text (``<U5``) holds."""
    if len(data) < entry.file_size:
        raise FileError(path, entry.filename, f"at most {_MOST_OF_WORDS:,} bytes of words", f"{entry.file_size:,}")
    file = io.BytesIO(data)
    stated = npy.look(path, entry.filename, file, len(data), npy.Types("words", (code[1:],)))
    if len(stated.shape) != 1:
        raise FileError(path, entry.filename, "words in one axis", f"shape {stated.shape}")
    try:
        return tuple(str(word) for word in np.frombuffer(file.read(), np.dtype(code)))
    except (ValueError, UnicodeError) as error:
        raise FileError(path, entry.filename, "words of Unicode", "other numbers") from error


def _remarks(stated: npy.Stated, name: str) -> tuple[str, ...]:
    if stated.type.lstrip("<>=|") != BFLOAT16:
        return ()
    return (f"{name}: 2 bytes a number without a type, as numpy saves bfloat16, read as that",)
