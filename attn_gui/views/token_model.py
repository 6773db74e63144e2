"""TokenModel: a token table of the document as Qt sees it: names, embeddings, and per-token columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal

from attn_gui.control.document import Document
from attn_gui.control.settings import Settings
from attn_gui.files.numbers import text as number_text
from attn_gui.model.columns import COLUMNS, NO_PARENT, Values
from attn_gui.model.edits import Side
from attn_gui.model.precision import Precision
from attn_gui.model.session import Session
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.view_choices import flag
from attn_gui.views.clipboard import Block
from attn_gui.views.cut_text import beginning
from attn_gui.views.figures import shown
from attn_gui.views.grid import EDITABLE, NOWHERE, GridModel, Index, full_texts
from attn_gui.views.heatmap.labels import token_text
from attn_gui.views.spans import Span, TableSpans
from attn_gui.views.token_changes import (
    Splice,
    changed_cells,
    changed_columns,
    changed_entries,
    changed_rows,
    resized_column,
    resized_columns,
    resized_rows,
)
from attn_gui.views.token_columns import POSITIONS, column_text, shown_columns
from attn_gui.views.token_writing import write_block

Role = Qt.ItemDataRole
NAME = 0
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, eq=False)
class _Shown:
    """The part of a session that the model shows. width: embedding columns, none where Q, K, V were given.

    columns: the per-token columns in their order, each [n].
    """

    sequence: TokenSequence
    width: int
    columns: Mapping[str, Values]

    @classmethod
    def of(cls, session: Session, side: Side) -> _Shown | None:
        experiment = session.experiment
        sequence: TokenSequence | None = getattr(experiment, side)
        if sequence is None:
            return None
        width = 0 if experiment.weights is None else sequence.width
        return cls(sequence, width, shown_columns(experiment, side, flag(session, POSITIONS)))

    def same_as(self, other: _Shown) -> bool:
        """Whether the two look alike."""
        columns = [(name, other.columns[name]) for name in self.columns if name in other.columns]
        alike = self.sequence is other.sequence and self.width == other.width
        return (
            alike
            and list(self.columns) == list(other.columns)
            and all(np.array_equal(self.columns[name], values) for name, values in columns)
        )

    def with_columns(self, names: Sequence[str], of: _Shown) -> _Shown:
        """With the columns ``names``, new ones as in ``of``."""
        columns = {name: (self if name in self.columns else of).columns[name] for name in names}
        return replace(self, columns=columns)


class TokenModel(GridModel):
    """One token table of the document's experiment; empty where there is none of that name.

    Columns: the token's name, its dimensions, and the per-token columns that something reads.
    ``figures`` is what all its numbers take on screen; ``figures_changed`` comes after every change.
    """

    figures_changed = Signal()
    grows = True

    def __init__(self, document: Document, settings: Settings, side: Side, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.side = side
        self._document = document
        self._settings = settings
        self._spans = TableSpans()
        self._shown = _Shown.of(document.session, side)
        self.figures = self._find_figures()
        document.changed.connect(self._on_changed)
        settings.changed.connect(self._on_setting)

    @property
    def sequence(self) -> TokenSequence | None:
        return None if self._shown is None else self._shown.sequence

    @property
    def width(self) -> int:
        """How many columns are dimensions; they begin at column 1."""
        return 0 if self._shown is None else self._shown.width

    @property
    def columns(self) -> list[str]:
        """The per-token columns, which come last."""
        return [] if self._shown is None else list(self._shown.columns)

    def column_name(self, column: int) -> str | None:
        """Which per-token column ``column`` is, None where it is none of them."""
        at = column - 1 - self.width
        return self.columns[at] if 0 <= at < len(self.columns) else None

    def marks(self, column: int) -> bool:
        """Whether ``column`` is checked rather than typed."""
        name = self.column_name(column)
        return name is not None and COLUMNS[name].marks

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() or self._shown is None else len(self._shown.sequence)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() or self._shown is None else 1 + self._shown.width + len(self._shown.columns)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        if index.isValid() and self.marks(index.column()):
            return (flags & ~EDITABLE) | Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if self._shown is None or not index.isValid():
            return None
        sequence, row, column = self._shown.sequence, index.row(), index.column()
        if role == Role.TextAlignmentRole:
            return _LEFT if column == NAME else _RIGHT
        if column == NAME:
            return _name_data(sequence.tokens[row], role)
        name = self.column_name(column)
        if name is not None:
            return _column_data(sequence.tokens, row, name, int(self._shown.columns[name][row]), role)
        value = sequence.embeddings[row, column - 1]
        if role == Role.DisplayRole:
            return shown(value, self.figures.decimals)
        if role == Role.EditRole:
            return number_text(value, Precision.FLOAT64)
        if role == Role.AccessibleTextRole:
            dimension = sequence.dimension_name(column - 1)
            return f"token {sequence.tokens[row]}, {dimension}, {number_text(value, Precision.FLOAT64)}"
        if role == Role.ToolTipRole and round(value, self.figures.decimals) != value:
            return number_text(value, Precision.FLOAT64)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Vertical:
            return str(section + 1) if role == Role.DisplayRole else None
        if role == Role.TextAlignmentRole:
            if self.marks(section):
                return Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom
            side = Qt.AlignmentFlag.AlignLeft if section == NAME else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignBottom
        if section >= self.columnCount() or role not in (Role.DisplayRole, Role.ToolTipRole) or self._shown is None:
            return None
        if section == NAME:
            return "token"
        column = self.column_name(section)
        if column is not None:
            return column if role == Role.DisplayRole else COLUMNS[column].about
        name = self._shown.sequence.dimension_name(section - 1)
        return name if role == Role.DisplayRole else f"<span>{escape(beginning(name))} (double-click to rename)</span>"

    def setData(self, index: Index, value: Any, role: int = Role.EditRole) -> bool:
        if role == Role.CheckStateRole and index.isValid() and self.marks(index.column()):
            text = "1" if Qt.CheckState(value) == Qt.CheckState.Checked else "0"
            return self.set_block(index.row(), index.column(), [[text]], "Change padding") is None
        return super().setData(index, value, role)

    def cleared(self, column: int) -> str | None:
        if column == NAME:
            return None
        # nothing: what the token has by itself
        return "0" if self.column_name(column) is None else ""

    def cells(self, rows: range, columns: range) -> list[list[str]]:
        if self._shown is None:
            return []
        sequence = self._shown.sequence
        first, last = max(1, columns.start), min(columns.stop, self.width + 1)
        others = [name for name in map(self.column_name, columns) if name is not None]
        block = full_texts(sequence.embeddings.rows(rows.start, rows.stop)[:, first - 1 : last - 1], Precision.FLOAT64)
        for row, line in zip(rows, block, strict=True):
            if NAME in columns:
                line.insert(0, sequence.tokens[row])
            line += [column_text(name, int(self._shown.columns[name][row])) for name in others]
        return block

    def write(self, row: int, column: int, block: Block, label: str) -> None:
        before = self._document.experiment
        after = write_block(before, self.side, self.width, self.columns, row, column, block)
        if after is not before:
            self._document.apply(label, after)

    def show_view(self) -> None:
        """The session's view choices have changed."""
        self._on_changed(self._document.session, self._document.session)

    # following the document

    def _find_figures(self) -> Span:
        if self._shown is None or not self._shown.width:
            return Span()
        return self._spans.of(self._shown.sequence.embeddings, self._settings.decimals)

    def _on_setting(self, name: str) -> None:
        if name == "decimals":
            self._refigure()

    def _on_changed(self, before: Session, after: Session) -> None:
        old, new = self._shown, _Shown.of(after, self.side)
        if old is None and new is None:
            return
        if old is None or new is None or (len(old.sequence) != len(new.sequence) and old.width != new.width):
            if old is not new:
                self.beginResetModel()
                self._shown = new
                self.endResetModel()
        elif new.same_as(old):
            return
        else:
            self._become(old, new)
        self._refigure()

    def _become(self, old: _Shown, new: _Shown) -> None:
        """Go from ``old`` to ``new`` in steps that Qt knows: columns that go do so first, new ones come last."""
        for name in [name for name in old.columns if name not in new.columns]:
            place = old.width + 1 + list(old.columns).index(name)
            old = old.with_columns([other for other in old.columns if other != name], old)
            self._splice(Splice(place, 1, 0), old, columns=True)
        almost = new.with_columns(list(old.columns), new)
        if new.width != old.width:
            both = old.width and new.width
            change = changed_columns(old.sequence, new.sequence) if both else Splice(0, old.width, new.width)
            # to the new shape first, with every other cell as it was, as Qt expects; then to the new contents
            resized = replace(almost, sequence=resized_columns(old.sequence, change), columns=old.columns)
            self._splice(replace(change, first=change.first + 1), resized, columns=True)
            self._shown = almost
            self._say_changed(0, NAME, len(new.sequence) - 1, self.columnCount() - 1)
        elif len(new.sequence) != len(old.sequence):
            change = changed_rows(old.sequence, new.sequence)
            values = {name: resized_column(old.columns[name], almost.columns[name], change) for name in old.columns}
            resized = replace(almost, sequence=resized_rows(old.sequence, new.sequence, change), columns=values)
            self._splice(change, resized, columns=False)
            self._shown = almost
            if change.stay:
                self._say_changed(change.first, NAME, change.first + change.stay - 1, self.columnCount() - 1)
            self._say_columns(resized, almost)
        else:
            self._shown = almost
            self._say_cells(old, almost)
        if self.width:
            self._say_header(old, new)
        for name in [name for name in new.columns if name not in old.columns]:
            shown = [other for other in new.columns if other == name or other in self.columns]
            self._splice(Splice(new.width + 1 + shown.index(name), 0, 1), almost.with_columns(shown, new), columns=True)

    def _say_cells(self, old: _Shown, new: _Shown) -> None:
        """Signals for what differs between two versions of one shape."""
        names = changed_entries(old.sequence.tokens, new.sequence.tokens)
        if names is not None:
            self._say_changed(names[0], NAME, names[1], NAME)
        cells = changed_cells(old.sequence.embeddings, new.sequence.embeddings) if self.width else None
        if cells is not None:
            self._say_changed(cells.top, cells.left + 1, cells.bottom, cells.right + 1)
        self._say_columns(old, new)

    def _say_columns(self, old: _Shown, new: _Shown) -> None:
        """Signals for what differs in the per-token columns, which are the same ones in both."""
        for place, name in enumerate(new.columns, start=self.width + 1):
            differ = np.flatnonzero(old.columns[name] != new.columns[name])
            if differ.size:
                self._say_changed(int(differ[0]), place, int(differ[-1]), place)

    def _say_header(self, old: _Shown, new: _Shown) -> None:
        if old.width != new.width:
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 1, new.width)
            return
        names = changed_entries(old.sequence.dimensions, new.sequence.dimensions)
        if names is not None:
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, names[0] + 1, names[1] + 1)

    def _splice(self, change: Splice, then: _Shown, *, columns: bool) -> None:
        """Become ``then`` by inserting or removing as many rows or columns as its counts differ by."""
        first, more = change.first + change.stay, change.inserted - change.removed
        last = first + abs(more) - 1
        if more > 0:
            (self.beginInsertColumns if columns else self.beginInsertRows)(NOWHERE, first, last)
            self._shown = then
            (self.endInsertColumns if columns else self.endInsertRows)()
        else:
            (self.beginRemoveColumns if columns else self.beginRemoveRows)(NOWHERE, first, last)
            self._shown = then
            (self.endRemoveColumns if columns else self.endRemoveRows)()

    def _refigure(self) -> None:
        before, self.figures = self.figures, self._find_figures()
        if self.figures.decimals != before.decimals and self.width:
            self._say_changed(0, 1, self.rowCount() - 1, self.width)
        self.figures_changed.emit()

    def _say_changed(self, top: int, left: int, bottom: int, right: int) -> None:
        self.dataChanged.emit(self.index(top, left), self.index(bottom, right))


def _name_data(name: str, role: int) -> str | None:
    if role == Role.DisplayRole:
        return token_text(name)
    if role == Role.ToolTipRole:
        return f"<span>{escape(token_text(name))}</span>"  # a token may look like markup, which Qt would follow
    if role == Role.EditRole:
        return name
    return f"token {name}" if role == Role.AccessibleTextRole else None


def _column_data(names: Sequence[str], row: int, column: str, value: int, role: int) -> str | int | None:
    kind = COLUMNS[column]
    if role == Role.EditRole or (role == Role.DisplayRole and not kind.marks):
        return column_text(column, value)
    if role == Role.CheckStateRole and kind.marks:
        return (Qt.CheckState.Checked if value else Qt.CheckState.Unchecked).value
    parent = names[value] if kind.counted and value != NO_PARENT else None
    if role == Role.ToolTipRole and parent is not None:
        return f"<span>{escape(token_text(parent))}</span>"
    if role != Role.AccessibleTextRole:
        return None
    if kind.marks:
        said = f"padding, {'yes' if value else 'no'}"
    elif kind.counted:
        said = "no parent" if parent is None else f"parent {parent}, row {value + 1}"
    else:
        said = f"{column} {value}"
    return f"token {names[row]}, {said}"
