"""What has been typed into Check my work, by experiment, and kept in the session as far as its file holds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attn_gui.control.document import Document
from attn_gui.model.check import GivenTable
from attn_gui.model.session import CHECKED
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head

VIEW = CHECKED
# values and characters, less than what a session file takes of view choices
MOST_KEPT = 48_000
LONGEST_CELL = 40

Key = tuple[str, Head]
Tables = Mapping[Key, GivenTable]


class Kept:
    """The tables of each experiment of the document, by its name."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._written: Any = None
        self._tables: dict[str, Tables] = {}

    def tables(self) -> Tables:
        """Those of the present experiment, as they were typed, by stage and head."""
        session = self._document.session
        written = session.view.get(VIEW)
        if written is not self._written:  # another session has been opened
            self._written = written
            self._tables = dict(_read(written))
        return self._tables.get(session.named.name, {})

    def keep(self, tables: Tables) -> None:
        """Have ``tables`` in place of those of the present experiment."""
        self.tables()
        self._tables[self._document.session.named.name] = {k: t for k, t in tables.items() if not t.is_blank}
        self._written = _plain(self._tables)
        self._document.keep_view(**{VIEW: self._written})

    def is_too_large(self, key: Key) -> bool:
        """Whether a table of the present experiment has no place in a session file."""
        name = self._document.session.named.name
        if key not in self.tables():
            return False
        return all((table["stage"], table["head"]) != key for table in self._written.get(name, ()))


def _plain(by_name: Mapping[str, Tables]) -> dict[str, Any]:
    """As JSON values, a row a text; what would be too much for a session file is left out."""
    plain: dict[str, Any] = {}
    left = MOST_KEPT
    for name, tables in by_name.items():
        for (stage, head), table in tables.items():
            rows = ["\t".join(row) for row in table.cells]
            size = len(name) + sum(map(len, rows)) + len(rows) + 32
            if size <= left:
                left -= size
                plain.setdefault(name, []).append({"stage": stage, "head": head, "rows": rows})
    return plain


def _read(written: Any) -> Iterator[tuple[str, Tables]]:
    """It may come from a file, and so be anything JSON can say."""
    if not isinstance(written, dict):
        return
    for name, tables in written.items():
        read = [_table(each) for each in tables] if isinstance(tables, list) else []
        yield name, {(table.stage, table.head): table for table in read if table is not None}


def _table(plain: Any) -> GivenTable | None:
    if not isinstance(plain, dict):
        return None
    stage, head, rows = (plain.get(name) for name in ("stage", "head", "rows"))
    is_head = head == "mean" or (type(head) is int and head >= 0)
    if head is None or not is_head or not isinstance(stage, str) or stage not in STAGES:
        return None
    if not isinstance(rows, list) or not all(isinstance(row, str) for row in rows):
        return None
    cells = [[cell[:LONGEST_CELL] for cell in row.split("\t")] for row in rows]
    return GivenTable.of(stage, head, cells)
