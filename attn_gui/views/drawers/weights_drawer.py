"""WeightsDrawer: every table of numbers that the experiment is given besides its tokens, to read and to edit."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget

from attn_gui.model import view_choices
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import Session
from attn_gui.model.tables import source_tables, tables_of
from attn_gui.views.cell_ranges import CellRange
from attn_gui.views.changed_block import changed_numbers
from attn_gui.views.context import Context
from attn_gui.views.drawers.drawer import Drawer, table_height
from attn_gui.views.drawers.segments import Segments
from attn_gui.views.drawers.weights_controls import WeightsControls
from attn_gui.views.drawers.weights_model import WeightsModel
from attn_gui.views.drawers.weights_part import WeightsPart
from attn_gui.views.drawers.weights_view import WeightsView
from attn_gui.views.top_bar import Dropdown


class WeightsDrawer(Drawer):
    """A button for each matrix and bias, a list of the further tables; of several heads, one head's part or all."""

    title = "Projections"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.matrix = Segments(context.look, "Matrix", [])
        self.further = Dropdown("Further table")
        self.further.setPlaceholderText("Further tables")
        self.further.setToolTip("Tables of the scoring, sinks and appended keys")
        self.told = QLabel()
        self.told.setObjectName("muted")
        self.extent = Segments(context.look, "Show", [("head", "Head 1"), ("whole", "All heads")])
        self.model = WeightsModel(context, self)
        self.table = WeightsView(context, self.model)
        self.controls = WeightsControls(context)
        self.empty.say("Too large to edit", "What was given stays in its file: it is looked at under Stages.")
        self.fill(self.matrix, self.further, self.extent, self.told, self.controls, body=self.table)
        self.matrix.chosen.connect(self.show_table)
        self.further.chosen.connect(self.show_table)
        self.extent.chosen.connect(self._choose_extent)
        context.selection.head_changed.connect(lambda head: self._refresh_if_visible())
        context.document.changed.connect(self._on_changed)
        context.document.revisited.connect(self._reveal)
        self.refresh()

    def show_table(self, name: str) -> None:
        """Show the table called ``name``."""
        self.context.document.keep_view(weights_table=name)
        self.refresh()

    def show_cell(self, name: str, row: int, column: int) -> None:
        """Show the table called ``name`` with a cell of it selected, unless that would lose what is being typed."""
        if not self.table.held:
            self._show_block(self.context.document.experiment, name, CellRange(row, column, row, column))

    def refresh(self) -> None:
        e = self.context.document.experiment
        self.show_empty(not tables_of(e))
        if not tables_of(e):
            self.model.show_part(None)
            self.controls.refresh()
            return
        part = WeightsPart(e, self._show_choices(e), self._head(e))
        self._show_extent(part)
        self.model.show_part(part)
        self.table.setAccessibleName(part.title)
        self.told.setText(part.told())
        self.told.setToolTip(part.told())
        self.controls.refresh()

    def body_height(self, width: int) -> int:
        return table_height(self.table, width)

    def _on_changed(self, before: Session, after: Session) -> None:
        self._refresh_if_visible()

    def _reveal(self, before: Session, after: Session) -> None:
        """Show what an undo or a redo changed, unless that would lose what is being typed."""
        if not self.isVisible() or self.table.held or self.model.part is None:
            return
        old = {table.name: table.table for table in tables_of(before.experiment)}
        found = ((new.name, changed_numbers(old.get(new.name), new.table)) for new in tables_of(after.experiment))
        blocks = {name: block for name, block in found if block is not None}
        if not blocks:
            return
        name = self.model.part.name if self.model.part.name in blocks else next(iter(blocks))
        self._show_block(after.experiment, name, blocks[name])

    def _show_block(self, e: Experiment, name: str, block: CellRange) -> None:
        """Show the table called ``name`` with ``block`` of it selected, whole where that is not of one head."""
        part = WeightsPart(e, name, self._head(e))
        inside = block.top in part.rows and block.bottom in part.rows
        if not (inside and block.left in part.columns and block.right in part.columns):
            self.context.document.keep_view(weights_whole=True)
            part = WeightsPart(e, name)
        self.show_table(name)
        top, left = part.rows.start, part.columns.start
        self.table.select_block(CellRange(block.top - top, block.left - left, block.bottom - top, block.right - left))
        self.table.scrollTo(self.table.currentIndex())

    def _refresh_if_visible(self) -> None:
        if self.isVisible():
            self.refresh()

    def _show_choices(self, e: Experiment) -> str:
        """Offer the tables of ``e``; returns the name of the one that is shown."""
        titles = {table.name: table.title for table in tables_of(e)}
        first = [table.name for table in source_tables(e)]
        further = [(name, title, None) for name, title in titles.items() if name not in first]
        usual = first[0] if first else next(iter(titles))
        name = view_choices.word(self.context.document.session, "weights_table", titles, usual)
        if first != self.matrix.values:
            self.matrix.offer([(each, titles[each]) for each in first])
        self.matrix.show_value(name if name in first else "")
        self.further.setVisible(bool(further))
        self.further.show_choices(further, name)
        return name

    def _show_extent(self, part: WeightsPart) -> None:
        head, heads = self.context.selection.head, part.experiment.heads
        self.extent.setVisible(heads > 1)
        cut = part.of.parts > 1
        button = self.extent.button("head")
        button.setEnabled(head != "mean" and cut)
        button.setText("One head" if head == "mean" else f"Head {min(int(head), heads - 1) + 1}")
        reason = f"{part.title} is one for all heads" if not cut else "The mean over heads has no table of its own"
        button.setToolTip(reason if head == "mean" or not cut else "")
        self.extent.show_value("whole" if part.group is None else "head")

    def _head(self, e: Experiment) -> int | None:
        """The head to show the part of, None for all of it."""
        head = self.context.selection.head
        whole = view_choices.flag(self.context.document.session, "weights_whole")
        if e.heads == 1 or head == "mean" or whole:
            return None
        return min(int(head), e.heads - 1)

    def _choose_extent(self, value: str) -> None:
        self.context.document.keep_view(weights_whole=value == "whole")
        self.refresh()
