"""JSON values that know where they stand, so that a fault can be named: ``experiments[0].tokens.embeddings``."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from attn_gui.files.errors import FileError
from attn_gui.model.errors import ExperimentError
from attn_gui.model.given import BFLOAT16
from attn_gui.model.table import Table

Array = NDArray[Any]
NON_FINITE = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}


def parsed(path: Path, where: str, data: bytes) -> Any:
    """The value of JSON text; raises FileError for what is not strict JSON in UTF-8."""
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        at = f"{where} byte {error.start}".strip()
        raise FileError(path, at, "UTF-8 text", f"{data[error.start]:#04x}") from error
    except json.JSONDecodeError as error:
        at = f"{where} line {error.lineno}, column {error.colno}".strip()
        raise FileError(path, at, "JSON", error.msg) from error
    except RecursionError as error:
        raise FileError(path, where, "JSON", "brackets nested too deep") from error
    except _NotJson as error:
        raise FileError(path, where, "JSON", str(error)) from error
    except ValueError as error:
        # the one other thing that Python refuses, in words about its own settings
        most = sys.get_int_max_str_digits()
        line = 1 + data[: _first_of_more_digits(data, most)].count(b"\n")
        at = f"{where} line {line}".strip()
        raise FileError(path, at, f"whole numbers of at most {most:,} digits", "a longer one") from error


class _NotJson(ValueError):
    pass


def _refuse_constant(constant: str) -> NoReturn:
    raise _NotJson(f"{constant}, which JSON does not have")


def _first_of_more_digits(data: bytes, most: int) -> int:
    found = re.search(rb'(?<![0-9."])[0-9]{%d}(?![0-9]*[.eE])' % (most + 1), data)
    return found.start() if found is not None else 0


class Members(Protocol):
    """The arrays that a file keeps beside its JSON, where ``{"npy": name}`` stands for them."""

    def array(self, place: Place) -> Array:
        """The array that ``place`` refers to, read-only, of numbers or flags."""
        ...

    def table(self, place: Place, axes: int) -> Table:
        """As ``place.table(axes)``, but one Table for all places that refer to one array."""
        ...


class Place:
    """A value of parsed JSON and its place in the file; without ``members`` all its arrays are lists."""

    def __init__(self, value: Any, path: Path, where: str = "", members: Members | None = None) -> None:
        self.value = value
        self.path = path
        self.where = where
        self.members = members

    def refuse(self, expected: str) -> NoReturn:
        """Raise FileError for the value."""
        raise FileError(self.path, self.where, expected, _described(self.value))

    def refused(self, error: ExperimentError) -> FileError:
        """What the model says about the value, as a fault of the file."""
        where = ": ".join(part for part in (self.where, error.field) if part)
        return FileError(self.path, where, error.expected, error.received)

    def _at(self, value: Any, where: str) -> Place:
        return Place(value, self.path, where, self.members)

    def keys(self, required: Sequence[str], optional: Sequence[str] = ()) -> Mapping[str, Place]:
        """The members of an object that has all of ``required`` and nothing beyond ``optional``."""
        self.of(dict, "an object")
        for key in required:
            if key not in self.value:
                raise FileError(self.path, self.where, f"“{key}”", "an object without it")
        for key in self.value:
            if key not in required and key not in optional:
                known = ", ".join((*required, *optional))
                raise FileError(self.path, self.where, f"only {known}", f"“{key}”")
        return dict(self.items())

    def items(self) -> Iterator[tuple[str, Place]]:
        """The members of an object."""
        for key, value in self.of(dict, "an object").items():
            yield key, self._at(value, f"{self.where}.{key}" if self.where else key)

    def elements(self) -> list[Place]:
        """The elements of a list."""
        return [self._at(v, f"{self.where}[{i}]") for i, v in enumerate(self.of(list, "a list"))]

    def of(self, kind: type, called: str) -> Any:
        """The value, which is a ``kind``; true and false are no numbers."""
        if type(self.value) is not kind:
            self.refuse(called)
        return self.value

    def text(self) -> str:
        string: str = self.of(str, "text")
        return string

    def whole(self) -> int:
        """A whole number of 64 bits: what is longer is no count, and cannot even be written in a message."""
        number: int = self.of(int, "a whole number")
        if not -(2**63) <= number < 2**63:
            self.refuse("a whole number of 64 bits")
        return number

    def number(self) -> float:
        """A finite number."""
        if type(self.value) not in (int, float):
            self.refuse("a number")
        try:
            number = float(self.value)
        except OverflowError:
            number = np.inf
        if not np.isfinite(number):
            self.refuse("a finite number")
        return number

    def one_of(self, *words: str) -> str:
        if self.value not in words:
            self.refuse(" or ".join(f"“{word}”" for word in words))
        return self.text()

    def array(self, *axes: int) -> Array:
        """Numbers in nested lists of equal lengths, as deep as one of ``axes`` says, or a member: float64."""
        if self.members is not None and isinstance(self.value, dict):
            return self._checked(self.members.array(self), "float64", axes)
        depth = self._depth(axes)
        array = np.array(self._nested(depth), dtype=np.float64)
        if array.ndim != depth:
            self.refuse(f"numbers in {depth} nested lists")
        return array

    def given(self, dtype: str, axes: int) -> Array:
        """As :meth:`array`, of the type called ``dtype``, read-only; also one that stands in another file."""
        if self.members is not None and isinstance(self.value, dict):
            array = self.members.array(self)
            if dtype == BFLOAT16.name and array.dtype == np.uint16:
                array = array.view(BFLOAT16)
            return self._checked(array, dtype, (axes,))
        read = self.flags((axes,)) if dtype == "bool" else self.array(axes)
        with np.errstate(over="ignore", invalid="ignore"):
            array = read.astype(BFLOAT16 if dtype == BFLOAT16.name else dtype)
        array.flags.writeable = False
        return array

    def table(self, axes: int = 2) -> Table:
        """A table of the array with two axes, or with one, which is its only row."""
        if self.members is not None and isinstance(self.value, dict):
            return self.members.table(self, axes)
        return Table.of(self.array(axes) if axes == 2 else [self.array(axes)])

    def flags(self, axes: Sequence[int] = (1,)) -> NDArray[np.bool_]:
        """True and false in nested lists of equal lengths, as deep as one of ``axes`` says, or a member: bool."""
        if self.members is not None and isinstance(self.value, dict):
            return self._checked(self.members.array(self), "bool", axes)
        return np.array(self._nested_flags(self._depth(axes)), dtype=bool)

    def wholes(self) -> NDArray[np.int64]:
        """A list of whole numbers, or a member: int64 [n]."""
        if self.members is not None and isinstance(self.value, dict):
            return self._checked(self.members.array(self), "int64", (1,))
        return np.array([place.whole() for place in self.elements()], dtype=np.int64)

    def _checked(self, array: Array, dtype: str, axes: Sequence[int]) -> Array:
        if array.dtype.name != dtype or array.ndim not in axes:
            received = f"{array.dtype} of shape {array.shape}"
            expected = f"{dtype} numbers with {' or '.join(map(str, axes))} axes"
            raise FileError(self.path, self.where, expected, received)
        return array

    def _depth(self, axes: Sequence[int]) -> int:
        """How deep the lists are nested, which is the last of ``axes`` unless it is another of them."""
        depth, value = 0, self.value
        while isinstance(value, list) and depth < max(axes):
            depth, value = depth + 1, value[0] if value else None
        return depth if depth in axes else axes[-1]

    def _nested_flags(self, axes: int) -> list[Any]:
        if axes == 1:
            return [place.of(bool, "true or false") for place in self.elements()]
        return self._even([place._nested_flags(axes - 1) for place in self.elements()])

    def _nested(self, axes: int) -> list[Any]:
        if axes == 1:
            row = self.of(list, "a list of numbers")
            if all(type(v) is float for v in row) and np.isfinite(row).all():
                return row
            return [NON_FINITE[p.value] if p._is_non_finite() else p.number() for p in self.elements()]
        return self._even([place._nested(axes - 1) for place in self.elements()])

    def _even(self, rows: list[Any]) -> list[Any]:
        for place, row in zip(self.elements(), rows, strict=True):
            if len(row) != len(rows[0]):
                raise FileError(self.path, place.where, f"{len(rows[0])} entries, as in the first", str(len(row)))
        return rows

    def _is_non_finite(self) -> bool:
        return isinstance(self.value, str) and self.value in NON_FINITE


def _described(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
