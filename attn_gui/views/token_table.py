"""TokenTable: the editable table of tokens, their embeddings and what else is known of each."""

from __future__ import annotations

from itertools import accumulate

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from attn_gui.model import edits
from attn_gui.model.columns import COLUMNS
from attn_gui.model.edits import Side
from attn_gui.model.errors import ExperimentError
from attn_gui.model.lit import Lit
from attn_gui.model.session import Session
from attn_gui.views.band_follower import BandFollower
from attn_gui.views.cell_ranges import CellRange
from attn_gui.views.context import Context
from attn_gui.views.cut_text import beginning
from attn_gui.views.header_editor import HeaderEditor
from attn_gui.views.lit_table import LEAST_COLUMNS, LitTable
from attn_gui.views.number_delegate import SPACE
from attn_gui.views.token_model import NAME, TokenModel

# pixels
NUMBER_WIDTH = 48
PAD_WIDTH = 40
NAME_WIDTHS = (72, 168)
NAMED_WIDTH = 144
CONTEXT_ROW = 28
CALLED: dict[Side, str] = {
    "tokens": "Tokens and embeddings",
    "context": "Context tokens and embeddings",
    "values": "Embeddings of the values",
    "past": "Tokens and embeddings of the cache",
}
# names beyond these are not measured for the width of their column
MEASURED = 256


class TokenTable(LitTable):
    """Tokens ("tokens": the queries, in the shared bands), or a table of keys.

    These are the context of a cross-attention ("context"), the cache ("past"), or the values' own embeddings.
    ``whole_rows_deleted``: Delete was pressed on whole rows.
    """

    whole_rows_deleted = Signal()

    def __init__(self, context: Context, side: Side, parent: QWidget | None = None) -> None:
        super().__init__(context, side, parent)
        self.tokens = TokenModel(context.document, context.settings, side, self)
        self._named: tuple[str, ...] = ()
        self._name_width = NAME_WIDTHS[0]
        self._before_columns = 0
        self._had: list[str] = []
        self._lights = 0, 0
        self.setModel(self.tokens)
        self.setAccessibleName(CALLED[side])
        header = self.horizontalHeader()
        header.setSectionsClickable(True)
        header.setMinimumSectionSize(PAD_WIDTH)
        self._header_editor = HeaderEditor(header, self._rename_section)
        header.sectionDoubleClicked.connect(self.rename_dimension)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._on_header_menu)
        if side == "tokens":
            self.follower = BandFollower(self, context.bands)
        else:
            self.verticalHeader().setDefaultSectionSize(CONTEXT_ROW)
        self.tokens.figures_changed.connect(self._on_model_changed)
        context.document.changed.connect(self._on_document)
        context.look.changed.connect(self._fit_columns)
        self._on_model_changed()

    @property
    def least_width(self) -> int:
        """What names cut short, the first dimensions and the per-token columns take."""
        numbers = self.horizontalHeader().defaultSectionSize() * min(self.tokens.width, LEAST_COLUMNS)
        return NAME_WIDTHS[0] + numbers + self.columns_width

    @property
    def columns_width(self) -> int:
        """What the per-token columns take, and the numbers of rows that one of them speaks of."""
        rows = self.verticalHeader().sizeHint().width() if self._numbered else 0
        return rows + sum(map(self._width_of, self.tokens.columns))

    @property
    def _numbered(self) -> bool:
        """Whether a column names rows by their numbers."""
        return any(COLUMNS[name].counted for name in self.tokens.columns)

    def range_of(self, part: Lit) -> CellRange | None:
        """Embeddings of queries are rows of X; those of keys, the cache among them, of the context."""
        of_keys = self.side != "tokens" or not self.context.document.experiment.variant.is_cross
        here = part.stage == ("values" if self.side == "values" else "context") and of_keys
        if not here and (part.stage != "X" or self.side != "tokens"):
            return None
        first = self.first_key if part.stage == "context" else 0
        return self.cells_of(part, first, range(NAME + 1, NAME + 1 + self.tokens.width))

    def clear_cells(self) -> None:
        last = self.tokens.columnCount() - 1
        selected = self.selected
        if selected and all((r.left, r.right) == (NAME, last) for r in selected):
            self.whole_rows_deleted.emit()
        else:
            super().clear_cells()

    def reveal(self, block: CellRange) -> None:
        """Select ``block`` and bring it into sight, unless that would lose what is being typed."""
        if not self.held:
            self.select_block(block)
            self.scrollTo(self.tokens.index(block.bottom, block.right))
            self.scrollTo(self.tokens.index(block.top, block.left))

    def rename_dimension(self, column: int) -> None:
        """Open the name of ``column`` for editing, if it is a dimension."""
        if not 1 <= column <= self.tokens.width or self.tokens.sequence is None:
            return
        self.scrollTo(self.tokens.index(max(0, self.currentIndex().row()), column))
        self._header_editor.open(column, self.tokens.sequence.dimensions[column - 1] or "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def _on_header_menu(self, at: QPoint) -> None:
        column = self.horizontalHeader().logicalIndexAt(at)
        if column >= 0 and not any(column in r.columns for r in self.selected):
            self.selectColumn(column)
        self.open_menu(self.horizontalHeader().viewport().mapToGlobal(at))

    def _on_document(self, before: Session, after: Session) -> None:
        if before.experiment.offset != after.experiment.offset:
            # the keys before the first row are more or fewer
            self._on_model_changed()

    def _on_model_changed(self) -> None:
        self.verticalHeader().setVisible(self._numbered)
        self._fit_columns()
        current = self.currentIndex()
        if not current.isValid():
            self.follow_selection()
        elif current.row() != self.lit and self._was_lit:
            # rows came or went above: the selection stays with its token
            self.select_token(current.row())
        self._lights = self.first_key, self.tokens.rowCount()

    @property
    def _was_lit(self) -> bool:
        """Whether the selected token was one of this table's, before it changed."""
        first, count = self._lights
        return self.side == "tokens" or first <= self.context.selection.key < first + count

    def _rename_section(self, section: int, name: str) -> None:
        sequence = self.tokens.sequence
        if sequence is None or not 1 <= section <= sequence.width:
            return
        if name == (sequence.dimensions[section - 1] or "") or (
            sequence.dimensions[section - 1] is None and name == sequence.dimension_name(section - 1)
        ):
            return
        document = self.context.document
        try:
            renamed = edits.rename_dimension(document.experiment, self.side, section - 1, name)
        except ExperimentError as error:
            self._header_editor.open(section, name, again=True)
            self.reason.say(str(error), self._header_editor.geometry().translated(self.horizontalHeader().pos()))
            return
        self.reason.withdraw()
        document.apply(f"Rename {beginning(sequence.dimension_name(section - 1))}", renamed)

    def _fit_columns(self) -> None:
        """Numbers in columns of one width, wider where a name asks for it; what is left goes to the tokens."""
        model, header, metrics = self.tokens, self.horizontalHeader(), self.fontMetrics()
        if model.sequence is None:
            return
        length = header.length()
        widest = max(metrics.horizontalAdvance(text) for text in model.figures.widest)
        number = max(NUMBER_WIDTH, widest + SPACE)
        if header.defaultSectionSize() != number:
            header.setDefaultSectionSize(number)
        total = number * model.width
        widths = [number] * model.width
        for index, name in enumerate(model.sequence.dimensions[: model.width]):
            wanted = number
            if name is not None:
                wanted = min(max(number, metrics.horizontalAdvance(beginning(name)) + SPACE), NAMED_WIDTH)
            total += wanted - number
            widths[index] = wanted
            if header.sectionSize(index + 1) != wanted:
                header.resizeSection(index + 1, wanted)
        for place, name in enumerate(model.columns, start=model.width + 1):
            header.resizeSection(place, self._width_of(name))
            total += header.sectionSize(place)
        if model.sequence.tokens is not self._named:
            self._named = model.sequence.tokens
            longest = max(metrics.horizontalAdvance(beginning(name)) for name in self._named[:MEASURED])
            self._name_width = max(NAME_WIDTHS[0], min(longest + SPACE, NAME_WIDTHS[1]))
        spare = self.viewport().width() - total
        # names rather than what is known of the tokens are cut short
        least = NAME_WIDTHS[0] if model.columns else self._name_width
        names = max(least, min(spare, NAME_WIDTHS[1]))
        if spare < least and not model.columns:
            # as the table opens, no column is cut at the edge: what is left of the room goes to the tokens as well
            room = self.viewport().width() - least
            names += room - max((end for end in accumulate(widths) if end <= room), default=room)
        header.resizeSection(NAME, names)
        if header.length() != length:
            self.updateGeometries()
        bar = self.horizontalScrollBar()
        if not set(model.columns) <= set(self._had):
            if not self._had:
                self._before_columns = bar.value()
            bar.setValue(bar.maximum())
        elif self._had and not model.columns:
            bar.setValue(self._before_columns)  # back to the names, if that is what was in sight
        self._had = model.columns

    def _width_of(self, column: str) -> int:
        """Pixels of a per-token column: what its heading needs, and its numbers to four digits."""
        if COLUMNS[column].marks:
            return PAD_WIDTH
        return max(NUMBER_WIDTH, self.horizontalHeader().fontMetrics().horizontalAdvance(column) + SPACE)
