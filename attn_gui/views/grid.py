"""GridModel: what SpreadsheetView asks of a table besides Qt's own model."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from attn_gui.files import numbers
from attn_gui.model.precision import Precision
from attn_gui.views.clipboard import Block, Refused, ragged

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
COMPUTED = "These numbers are computed from others, and cannot be changed here"
EDITABLE = Qt.ItemFlag.ItemIsEditable
# said once: a view asks for them with every cell that it draws
_SHOWN = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
_EDITED = _SHOWN | EDITABLE

# the table of shortest texts of all 16-bit numbers takes half a second to make; fewer cells are quicker without it
FEW_CELLS = 4096


class GridModel(QAbstractTableModel):
    """A table whose cells go out and come in as text.

    A subclass gives rowCount, columnCount and data; EditRole is a cell's full text (never rounded), DisplayRole what
    is shown of it, which is aligned alike in all of a column. An editable one (``editable``) overrides :meth:`write`
    as well; one with text columns :meth:`cleared`; one with columns that are checked :meth:`marks`.
    """

    editable = True
    grows = False  # whether rows and columns can be added

    def write(self, row: int, column: int, block: Block, label: str) -> None:
        """Write ``block`` with its first cell at (row, column), as one undo step called ``label``; None leaves a cell.

        The block is a rectangle within the table. Raises :class:`Refused` (row and column within the block) or
        ValueError with the reason; nothing has changed then.
        """
        raise NotImplementedError

    def cleared(self, column: int) -> str | None:
        """What Delete puts into a cell of ``column``, None where it leaves it alone."""
        return "0"

    def marks(self, column: int) -> bool:
        """Whether the cells of ``column`` are checked rather than typed."""
        return False

    def cells(self, rows: range, columns: range) -> list[list[str]]:
        """The full text of a block of cells; override where it can be had faster than cell by cell."""
        return [[str(self.index(r, c).data(Qt.ItemDataRole.EditRole)) for c in columns] for r in rows]

    def set_block(self, row: int, column: int, block: Block, label: str) -> str | None:
        """As :meth:`write`, but returns the reason why the block was refused; nothing has changed then."""
        reason = None if self.editable else COMPUTED
        reason = reason or ragged(block) or self._beyond(row, column, block)
        if reason is not None:
            return reason
        try:
            self.write(row, column, block, label)
        except Refused as refused:
            if len(block) == len(block[0]) == 1:
                return str(refused)
            return f"row {row + refused.row + 1}, column {column + refused.column + 1}: {refused}"
        except ValueError as error:
            return str(error)
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if not index.isValid() or role != Qt.ItemDataRole.EditRole or not self.flags(index) & EDITABLE:
            return False
        return self.set_block(index.row(), index.column(), [[str(value)]], "Edit cell") is None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return _EDITED if self.editable else _SHOWN

    def _beyond(self, row: int, column: int, block: Block) -> str | None:
        for what, first, needed, there in (
            ("row", row, len(block), self.rowCount()),
            ("column", column, len(block[0]), self.columnCount()),
        ):
            if first + needed > there:
                left = there - first
                remedy = f"add {needed - left} or choose another place" if self.grows else "choose another place"
                return (
                    f"The block has {needed} {what}s and {'only' if left else 'there are'} {left} from {what} "
                    f"{first + 1} on: {remedy}"
                )
        return None


def full_texts(block: NDArray[Any], precision: Precision) -> list[list[str]]:
    """The numbers of ``block`` [rows, columns] in full, as they are copied."""
    width = block.shape[1]
    if not block.size:
        return [[] for _ in block]
    if precision.bytes == 2 and block.size <= FEW_CELLS:
        return [[numbers.text(float(value), precision) for value in row] for row in block]
    flat = numbers.row_text(block.ravel(), precision).decode("ascii").split(",")
    return [flat[start : start + width] for start in range(0, len(flat), width)]
