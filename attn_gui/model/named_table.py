"""NamedTable: one table of numbers of an experiment, what its rows and columns are called, and how it is replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from attn_gui.model.experiment import Experiment
from attn_gui.model.table import Floats, Table, frozen

Called = Callable[[int], str]


@dataclass(frozen=True, eq=False)
class Axis:
    """What the rows or the columns of a table are called, each by its place within its part.

    parts: into how many equal parts they are cut, one for each head or kv head; 1 where heads share them.
    """

    called: Called
    parts: int = 1

    def name(self, place: int, length: int) -> str:
        """``2·v1``: v1 of head 2, where there are several; ``length`` is that of the whole axis."""
        if self.parts == 1:
            return self.called(place)
        size = length // self.parts
        return f"{place // size + 1}·{self.called(place % size)}"


@dataclass(frozen=True, eq=False)
class NamedTable:
    """``name`` is for files and code, ``title`` and ``about`` for the screen.

    replaced: the experiment with another table of the same shape in its place.
    """

    name: str
    title: str
    table: Table
    rows: Axis
    columns: Axis
    replaced: Callable[[Table], Experiment]
    about: str = ""

    @property
    def parts(self) -> int:
        """Into how many heads or kv heads it is cut; 1 where they share it."""
        return max(self.rows.parts, self.columns.parts)

    @property
    def by_rows(self) -> bool:
        """Whether a head has rows of it, and not columns."""
        return self.rows.parts > 1

    @property
    def size(self) -> int:
        """Rows or columns of one head."""
        return (len(self.table) if self.by_rows else self.table.width) // self.parts

    def row_name(self, row: int) -> str:
        return self.rows.name(row, len(self.table))

    def column_name(self, column: int) -> str:
        return self.columns.name(column, self.table.width)


def named_head(place: int) -> str:
    return f"head {place + 1}"


def numbered(letter: str) -> Called:
    """q1, q2, ..."""
    return lambda place: f"{letter}{place + 1}"


def always(name: str) -> Called:
    """The name of a single row."""
    return lambda place: name


def as_table(array: Floats) -> Table:
    """``array``, [.., columns], as a table on the same memory."""
    rows = frozen(array).reshape(-1, array.shape[-1])
    return Table([rows], rows.shape[1])


def as_array(table: Table, shape: tuple[int, ...]) -> Floats:
    """The numbers of ``table`` in the shape that they had before :func:`as_table`."""
    return table.array().reshape(shape)
