"""Work: the tables that somebody has given for the present experiment, and what can be undone of their typing."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from attn_gui.control.worker import Priority, at_once
from attn_gui.files import answers
from attn_gui.files.answers import PrintedTables
from attn_gui.files.layout import distinct_stages_of
from attn_gui.model.check import GivenTable
from attn_gui.model.session import Session
from attn_gui.model.stage_shape import stage_shape
from attn_gui.views.check.change_tables import ChangeTables
from attn_gui.views.check.kept import Kept, Key, Tables
from attn_gui.views.context import Context

INPUTS = ("X", "context", "values")
UNDO_LIMIT = 200
READ = "check file"


class Work(QObject):
    """``changed(keys)`` tells which tables are others than before, ``not_read(reason)`` of a file that was refused."""

    changed = Signal(object)
    not_read = Signal(str)

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._kept = Kept(context.document)
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(UNDO_LIMIT)
        context.document.changed.connect(self._on_document)

    @property
    def stages(self) -> list[str]:
        """The stages to choose from: each that is computed and not hidden, once."""
        return [name for name in distinct_stages_of(self._context.document.experiment) if name not in INPUTS]

    @property
    def printed(self) -> PrintedTables | None:
        """The tables that ship with the example that is open, where it still has a place for them."""
        shipped = answers.printed_tables(self._context.document.session.named.name)
        fitting = () if shipped is None else tuple(table for table in shipped.tables if self._fits(table))
        return PrintedTables(shipped.title, fitting) if shipped is not None and fitting else None

    def table(self, key: Key) -> GivenTable:
        """What was given for a stage and a head, in the shape that the experiment gives it."""
        found = self._kept.tables().get(key, GivenTable(*key, ()))
        return found.fitted(*self._shape(key))

    def tables(self) -> list[GivenTable]:
        """Every table with something in it that the experiment has a place for, in the order of the computation."""
        heads, names = self._context.document.experiment.heads, self.stages
        keys = [k for k in self._kept.tables() if k[0] in names and (k[1] == "mean" or k[1] < heads)]
        order = sorted(keys, key=lambda k: (names.index(k[0]), k[1] == "mean", k[1]))
        return [table for table in map(self.table, order) if not table.is_blank]

    def is_too_large(self, key: Key) -> bool:
        """Whether a table has no place in a session file."""
        return self._kept.is_too_large(key)

    def put(self, label: str, *tables: GivenTable) -> None:
        """Have ``tables`` in place of what was given before, as one step that can be undone."""
        self._push(label, {**self._kept.tables(), **{(table.stage, table.head): table for table in tables}})

    def clear(self, key: Key) -> None:
        """Empty one table."""
        self._push("Clear", {k: table for k, table in self._kept.tables().items() if k != key})

    def read(self, key: Key, path: Path) -> None:
        """Read a table from a file, in the worker."""
        shape = self._shape(key)
        self._context.worker.submit(
            READ,
            at_once(lambda: answers.read_cells(path, shape, key[1])),
            Priority.ASK,
            lambda cells: self.put(f"Open {path.name}", GivenTable.of(*key, cells)),
            lambda error: self.not_read.emit(str(error)),
        )

    def _shape(self, key: Key) -> tuple[int, int]:
        return stage_shape(self._context.document.experiment, key[0])

    def _fits(self, table: GivenTable) -> bool:
        return table.stage in self.stages and table.shape == self._shape((table.stage, table.head))

    def _push(self, label: str, after: Tables) -> None:
        self.undo_stack.push(ChangeTables(label, dict(self._kept.tables()), after, self._take))

    def _take(self, tables: Tables) -> None:
        before = self._kept.tables()
        changed = {key for key in {*before, *tables} if before.get(key) != tables.get(key)}
        self._kept.keep(tables)
        self.changed.emit(changed)

    def _on_document(self, before: Session, after: Session) -> None:
        if before.named.name != after.named.name or before.current != after.current:
            # the steps and the file on its way are about other tables
            self.undo_stack.clear()
            self._context.worker.cancel(READ)
