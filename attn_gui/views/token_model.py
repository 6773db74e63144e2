"""TokenModel: a token table of the document as Qt sees it: names, embeddings, and which tokens are padding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal

from attn_gui.control.document import Document
from attn_gui.control.settings import Settings
from attn_gui.files.numbers import text as number_text
from attn_gui.model.edits import Side
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision
from attn_gui.model.session import Session
from attn_gui.model.tokens import TokenSequence
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
    resized_columns,
    resized_rows,
)
from attn_gui.views.token_writing import write_block

Role = Qt.ItemDataRole
NAME = 0
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, eq=False)
class _Shown:
    """The part of an experiment that the model shows. width: embedding columns, none where Q, K, V were given."""

    sequence: TokenSequence
    width: int
    has_pad: bool
    pad: np.ndarray[Any, np.dtype[np.bool_]]

    @classmethod
    def of(cls, experiment: Experiment, side: Side) -> _Shown | None:
        sequence: TokenSequence | None = getattr(experiment, side)
        if sequence is None:
            return None
        is_keys = (side == "context") == experiment.variant.is_cross
        has_pad = is_keys and "pad" in experiment.rule.reads
        return cls(sequence, 0 if experiment.weights is None else sequence.width, has_pad, sequence.pad)

    @property
    def shape(self) -> tuple[int, int, bool]:
        return len(self.sequence), self.width, self.has_pad


class TokenModel(GridModel):
    """One token table ("tokens" or "context") of the document's experiment; empty where there is none.

    Columns: the token's name, its dimensions, and ``pad`` while the mask is the padding rule and these are the keys.
    ``figures`` is what all its numbers take on screen; ``figures_changed`` comes after every change.
    """

    figures_changed = Signal()

    def __init__(self, document: Document, settings: Settings, side: Side, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.side = side
        self._document = document
        self._settings = settings
        self._spans = TableSpans()
        self._shown = _Shown.of(document.experiment, side)
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
    def has_pad(self) -> bool:
        """Whether the last column is the padding mark."""
        return self._shown is not None and self._shown.has_pad

    def is_pad(self, column: int) -> bool:
        return self.has_pad and column == self.width + 1

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() or self._shown is None else len(self._shown.sequence)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() or self._shown is None else 1 + self._shown.width + self._shown.has_pad

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        if index.isValid() and self.is_pad(index.column()):
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
        if self.is_pad(column):
            return _pad_data(sequence.tokens[row], bool(self._shown.pad[row]), role)
        value = sequence.embeddings[row, column - 1]
        if role == Role.DisplayRole:
            return shown(value, self.figures.decimals)
        if role == Role.EditRole:
            return number_text(value, Precision.FLOAT64)
        if role == Role.AccessibleTextRole:
            name = sequence.dimension_name(column - 1)
            return f"token {sequence.tokens[row]}, {name}, {number_text(value, Precision.FLOAT64)}"
        if role == Role.ToolTipRole and round(value, self.figures.decimals) != value:
            return number_text(value, Precision.FLOAT64)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Vertical:
            return str(section + 1) if role == Role.DisplayRole else None
        if role == Role.TextAlignmentRole:
            if self.is_pad(section):
                return Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom
            side = Qt.AlignmentFlag.AlignLeft if section == NAME else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignBottom
        if section >= self.columnCount() or role not in (Role.DisplayRole, Role.ToolTipRole) or self._shown is None:
            return None
        if section == NAME:
            return "token"
        if self.is_pad(section):
            return "pad" if role == Role.DisplayRole else "Padding: marked tokens are masked as keys"
        name = self._shown.sequence.dimension_name(section - 1)
        return name if role == Role.DisplayRole else f"<span>{escape(beginning(name))} (double-click to rename)</span>"

    def setData(self, index: Index, value: Any, role: int = Role.EditRole) -> bool:
        if role == Role.CheckStateRole and index.isValid() and self.is_pad(index.column()):
            text = "1" if Qt.CheckState(value) == Qt.CheckState.Checked else "0"
            return self.set_block(index.row(), index.column(), [[text]], "Change padding") is None
        return super().setData(index, value, role)

    def cleared(self, column: int) -> str | None:
        return None if column == NAME else "0"

    def cells(self, rows: range, columns: range) -> list[list[str]]:
        if self._shown is None:
            return []
        sequence, pad = self._shown.sequence, self.width + 1
        first, last = max(1, columns.start), min(columns.stop, pad)
        block = full_texts(sequence.embeddings.rows(rows.start, rows.stop)[:, first - 1 : last - 1], Precision.FLOAT64)
        for row, line in zip(rows, block, strict=True):
            if NAME in columns:
                line.insert(0, sequence.tokens[row])
            if self.has_pad and pad in columns:
                line.append("1" if self._shown.pad[row] else "0")
        return block

    def write(self, row: int, column: int, block: Block, label: str) -> None:
        before = self._document.experiment
        after = write_block(before, self.side, self.width, row, column, block)
        if after is not before:
            self._document.apply(label, after)

    # following the document

    def _find_figures(self) -> Span:
        if self._shown is None or not self._shown.width:
            return Span()
        return self._spans.of(self._shown.sequence.embeddings, self._settings.decimals)

    def _on_setting(self, name: str) -> None:
        if name == "decimals":
            self._refigure()

    def _on_changed(self, before: Session, after: Session) -> None:
        old, new = self._shown, _Shown.of(after.experiment, self.side)
        if old is None and new is None:
            return
        if old is None or new is None or (len(old.sequence) != len(new.sequence) and old.width != new.width):
            if old is not new:
                self.beginResetModel()
                self._shown = new
                self.endResetModel()
        elif new.sequence is old.sequence and new.shape == old.shape:
            return
        else:
            self._become(old, new)
        self._refigure()

    def _become(self, old: _Shown, new: _Shown) -> None:
        """Go from ``old`` to ``new`` in steps that Qt knows: the padding column goes first and comes last."""
        if old.has_pad and not new.has_pad:
            self._splice(Splice(old.width + 1, 1, 0), replace(old, has_pad=False), columns=True)
        almost = replace(new, has_pad=new.has_pad and old.has_pad)
        if new.width != old.width:
            both = old.width and new.width
            change = changed_columns(old.sequence, new.sequence) if both else Splice(0, old.width, new.width)
            # to the new shape first, with every other cell as it was, as Qt expects; then to the new contents
            resized = replace(almost, sequence=resized_columns(old.sequence, change), pad=old.pad)
            self._splice(replace(change, first=change.first + 1), resized, columns=True)
            self._shown = almost
            self._say_changed(0, NAME, len(new.sequence) - 1, self.columnCount() - 1)
        elif len(new.sequence) != len(old.sequence):
            change = changed_rows(old.sequence, new.sequence)
            sequence = resized_rows(old.sequence, new.sequence, change)
            self._splice(change, replace(almost, sequence=sequence, pad=sequence.pad), columns=False)
            self._shown = almost
            if change.stay:
                self._say_changed(change.first, NAME, change.first + change.stay - 1, self.columnCount() - 1)
        else:
            self._shown = almost
            self._say_cells(old, new)
        if self.width:
            self._say_header(old, new)
        if new.has_pad and not old.has_pad:
            self._splice(Splice(new.width + 1, 0, 1), new, columns=True)

    def _say_cells(self, old: _Shown, new: _Shown) -> None:
        """Signals for what differs between two versions of one shape."""
        names = changed_entries(old.sequence.tokens, new.sequence.tokens)
        if names is not None:
            self._say_changed(names[0], NAME, names[1], NAME)
        cells = changed_cells(old.sequence.embeddings, new.sequence.embeddings) if self.width else None
        if cells is not None:
            self._say_changed(cells.top, cells.left + 1, cells.bottom, cells.right + 1)
        pads = np.flatnonzero(old.pad != new.pad)
        if self.has_pad and pads.size:
            self._say_changed(int(pads[0]), self.width + 1, int(pads[-1]), self.width + 1)

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


def _pad_data(name: str, pad: bool, role: int) -> str | int | None:
    if role == Role.EditRole:
        return "1" if pad else "0"
    if role == Role.CheckStateRole:
        return (Qt.CheckState.Checked if pad else Qt.CheckState.Unchecked).value
    return f"token {name}, padding, {'yes' if pad else 'no'}" if role == Role.AccessibleTextRole else None
