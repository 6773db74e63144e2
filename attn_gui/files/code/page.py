"""Page: a script that is being written, line by line, and the numbers that go into it or into a file beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from attn_gui.files import npy
from attn_gui.files.atomic import replacing, write_bytes
from attn_gui.files.code.literals import literal, rounded
from attn_gui.files.summary import printable
from attn_gui.model.dialects import Dialect
from attn_gui.model.errors import ExperimentError
from attn_gui.model.precision import Precision

Array = NDArray[Any]

# what a person still reads over; more goes into a file beside the script
INLINE = 400
# a table this small stays readable even then
SMALL = 16
# of a script that has to be in one piece
MOST_INLINE = 20_000
MOST = 1 << 26
LONGEST_REMARK = 40


@dataclass(frozen=True, eq=False)
class Script:
    """The text of a script, and the arrays that it reads from the file ``beside`` it, none where all are in it."""

    text: str
    arrays: Mapping[str, Array]
    beside: str | None = None

    def save(self, path: str | Path) -> None:
        """Write the script to ``path`` and its arrays beside it, each file whole or not at all; raises FileError."""
        path = Path(path)
        if self.arrays and self.beside is not None:
            with replacing(path.with_name(self.beside)) as file, ZipFile(file, "w") as zipped:
                for name, array in self.arrays.items():
                    with closing(npy.write(zipped, f"{name}.npy", array.dtype, array.shape, [array])) as written:
                        for _ in written:
                            pass
        write_bytes(path, self.text.encode())


@dataclass(frozen=True, eq=False)
class _Table:
    name: str
    values: Array
    dtype: str
    precision: Precision
    wrapped: bool
    rows: Sequence[str]
    shape: str


class Page:
    """Lines of a script in a dialect. Stages of half precision are rounded by a function ``stage`` of the script."""

    def __init__(self, dialect: Dialect, precision: Precision) -> None:
        self.dialect = dialect
        self.precision = precision
        self.halves = precision.bytes == 2
        self.working = Precision.FLOAT64 if precision is Precision.FLOAT64 else Precision.FLOAT32
        self._parts: list[str | _Table] = []
        self._title: Sequence[str] = ("",)

    def add(self, *lines: str) -> None:
        self._parts += lines

    def gap(self) -> None:
        """An empty line, one at most."""
        if self._parts and self._parts[-1] != "":
            self._parts.append("")

    def define(self, text: str) -> None:
        """A function, with the empty lines around it that people expect."""
        self.gap()
        self._parts += ["", *text.rstrip("\n").split("\n"), "", ""]

    def staged(self, expression: str) -> str:
        """``expression`` as a stage: rounded to the precision where computing alone does not do that."""
        return f"stage({expression})" if self.halves else expression

    def table(self, name: str, values: Array, rows: Sequence[str] = (), shape: str = "") -> None:
        """Numbers of the experiment's precision."""
        self._put(name, values, self.precision, self.halves, rows, shape)

    def working_table(self, name: str, values: Array, shape: str = "") -> None:
        """Numbers of the precision that sums run in."""
        self._put(name, values, self.working, False, (), shape)

    def exact_table(self, name: str, values: Array, shape: str = "") -> None:
        """Numbers of float64, or whole numbers, or flags, as they are."""
        self._put(name, values, Precision.FLOAT64, False, (), shape)

    def _put(
        self, name: str, values: Array, precision: Precision, wrapped: bool, rows: Sequence[str], shape: str
    ) -> None:
        xp = self.dialect.xp
        kinds = {"b": f"{xp}.bool" if xp == "torch" else "bool", "i": f"{xp}.int64"}
        dtype = kinds.get(values.dtype.kind) or (f"{xp}.float64" if precision is Precision.FLOAT64 else "dtype")
        if _is_identity(values):
            ones = f"{xp}.eye({values.shape[0]}, {values.shape[1]}, dtype={dtype})"
            self.add(f"{name} = {ones}{f'  # {shape}' if shape else ''}")
            return
        self._parts.append(_Table(name, values, dtype, precision, wrapped, [remark(row) for row in rows], shape))

    @property
    def numbers(self) -> int:
        """How many numbers the tables hold."""
        return sum(part.values.size for part in self._parts if isinstance(part, _Table))

    def script(self, beside: str | None) -> Script:
        """The script; its tables go to the file ``beside`` it where they are many, and there is to be one.

        Raises ExperimentError for more numbers than fit.
        """
        count, most = self.numbers, MOST_INLINE if beside is None else MOST
        if count > most:
            instead = ": save the script, and they go into a file beside it" if count <= MOST else ""
            raise ExperimentError("copy as code", f"at most {most:,} numbers", f"{count:,}{instead}")
        apart = beside is not None and count > INLINE
        arrays: dict[str, Array] = {}
        lines: list[str] = []
        for part in self._parts:
            if isinstance(part, str):
                lines.append(part)
            elif apart and part.values.size > SMALL:
                floats = part.values.dtype.kind == "f"
                arrays[part.name] = rounded(part.values, part.precision) if floats else np.asarray(part.values)
                lines.append(self._assigned(part, self.dialect.stored(f'data["{part.name}"]', part.dtype)))
            else:
                text = literal(part.values, part.precision, part.rows)
                lines.append(self._assigned(part, self.dialect.make(text, part.dtype)))
        if arrays and beside is not None:
            lines = [*_reading(beside), *lines]
        body = "\n".join(lines)
        text = "\n".join([*self._head(body, bool(arrays)), body]).rstrip("\n") + "\n"
        return Script(re.sub(r"\n{4,}", "\n\n\n", text), arrays, beside if arrays else None)

    def title(self, *lines: str) -> None:
        """What the script is, for its docstring."""
        self._title = lines

    def _head(self, body: str, apart: bool) -> Iterator[str]:
        yield from ('"""' + self._title[0], *self._title[1:], '"""', "")
        constants = [name for name in ("inf", "nan") if re.search(rf"(?<![\w.]){name}\b", body)]
        if re.search(r"\bmath\.", body):
            yield "import math"
        if constants:
            yield f"from math import {', '.join(constants)}"
        if apart:
            yield "from pathlib import Path"
        if constants or apart or re.search(r"\bmath\.", body):
            yield ""
        if apart and self.dialect.is_torch:
            yield "import numpy as np"
        yield self.dialect.imports
        if "nn." in body:
            yield "from torch import nn"
        yield ""

    def _assigned(self, table: _Table, value: str) -> str:
        shape = f"  # {table.shape}" if table.shape else ""
        return f"{table.name} = {f'stage({value})' if table.wrapped else value}{shape}"


def _is_identity(values: Array) -> bool:
    """Whether it is better said than written out."""
    return (
        values.dtype.kind == "f"
        and values.ndim == 2
        and min(values.shape) > 1
        and values.size <= MOST
        and np.array_equal(values, np.eye(*values.shape))
    )


def _reading(beside: str) -> Iterator[str]:
    yield f"with np.load(Path(__file__).with_name({beside!r})) as file:  # the numbers lie beside this script"
    yield "    data = dict(file)"
    yield ""


def remark(text: str) -> str:
    """``text`` on one line of a comment, whatever characters it holds."""
    shown = printable(text)
    return shown if len(shown) <= LONGEST_REMARK else shown[: LONGEST_REMARK - 1] + "…"
