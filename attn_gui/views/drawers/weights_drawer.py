"""WeightsDrawer: W_Q, W_K, W_V, W_O and the biases, to read and to edit."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget

from attn_gui.model import view_choices
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import Session
from attn_gui.views.cell_ranges import CellRange
from attn_gui.views.changed_block import changed_numbers
from attn_gui.views.context import Context
from attn_gui.views.drawers.drawer import Drawer, table_height
from attn_gui.views.drawers.segments import Segments
from attn_gui.views.drawers.weights_controls import WeightsControls
from attn_gui.views.drawers.weights_model import WeightsModel
from attn_gui.views.drawers.weights_part import WeightsPart, present
from attn_gui.views.drawers.weights_view import WeightsView


class WeightsDrawer(Drawer):
    """A tab for each matrix and bias; of several heads, one head's part or all of it."""

    title = "Projections"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.matrix = Segments(context.look, "Matrix", [])
        self.told = QLabel()
        self.told.setObjectName("muted")
        self.extent = Segments(context.look, "Show", [("head", "Head 1"), ("whole", "All heads")])
        self.model = WeightsModel(context, self)
        self.table = WeightsView(context, self.model)
        self.controls = WeightsControls(context)
        self.empty.say(
            "No projections",
            "Q, K and V were given as they are, so nothing is projected. See them in the Stages drawer, "
            "or choose an example to start from tokens and weights.",
        )
        self.fill(self.matrix, self.extent, self.told, self.controls, body=self.table)
        self.matrix.chosen.connect(self._choose_matrix)
        self.extent.chosen.connect(self._choose_extent)
        context.selection.head_changed.connect(lambda head: self._refresh_if_visible())
        context.document.changed.connect(self._on_changed)
        context.document.revisited.connect(self._reveal)
        self.refresh()

    def refresh(self) -> None:
        e = self.context.document.experiment
        self._show_matrices(present(e))
        self._show_extent(e)
        if e.weights is not None:
            part = WeightsPart(e, self.matrix.value, self._head(e))
            self.model.show_part(part)
            self.table.setAccessibleName(part.name)
            self.told.setText(part.told())
            self.told.setToolTip(part.told())
        else:
            self.model.show_part(None)
        self.controls.refresh()
        self.show_empty(e.weights is None)

    def body_height(self, width: int) -> int:
        return table_height(self.table, width)

    def _on_changed(self, before: Session, after: Session) -> None:
        self._refresh_if_visible()

    def _reveal(self, before: Session, after: Session) -> None:
        """Show what an undo or a redo changed, unless that would lose what is being typed."""
        old, new = before.experiment.weights, after.experiment.weights
        if not self.isVisible() or self.table.held or old is None or new is None:
            return
        blocks = {name: changed_numbers(old.get(name), new.get(name)) for name in self.matrix.values}
        changed = [name for name, block in blocks.items() if block is not None]
        if not changed:
            return
        name = self.matrix.value if self.matrix.value in changed else changed[0]
        block, part = blocks[name], WeightsPart(after.experiment, name, self._head(after.experiment))
        if block is None:
            return
        inside = block.top in part.rows and block.bottom in part.rows
        if not (inside and block.left in part.columns and block.right in part.columns):
            self.context.document.keep_view(weights_whole=True)
            part = WeightsPart(after.experiment, name)
        self._choose_matrix(name)
        top, left = part.rows.start, part.columns.start
        self.table.select_block(CellRange(block.top - top, block.left - left, block.bottom - top, block.right - left))
        self.table.scrollTo(self.table.currentIndex())

    def _refresh_if_visible(self) -> None:
        if self.isVisible():
            self.refresh()

    def _show_matrices(self, names: list[str]) -> None:
        if names != self.matrix.values:
            self.matrix.offer([(name, name) for name in names])
        if names:
            wanted = view_choices.word(self.context.document.session, "weights_table", names, names[0])
            self.matrix.show_value(wanted)

    def _show_extent(self, e: Experiment) -> None:
        head = self.context.selection.head
        self.extent.setVisible(e.heads > 1 and e.weights is not None)
        button = self.extent.button("head")
        button.setEnabled(head != "mean")
        button.setText("One head" if head == "mean" else f"Head {min(int(head), e.heads - 1) + 1}")
        button.setToolTip("The mean over heads has no matrix of its own" if head == "mean" else "")
        self.extent.show_value("whole" if self._head(e) is None else "head")

    def _head(self, e: Experiment) -> int | None:
        """The head to show the part of, None for all of it."""
        head = self.context.selection.head
        whole = view_choices.flag(self.context.document.session, "weights_whole")
        if e.heads == 1 or head == "mean" or whole:
            return None
        return min(int(head), e.heads - 1)

    def _choose_matrix(self, name: str) -> None:
        self.context.document.keep_view(weights_table=name)
        self.refresh()

    def _choose_extent(self, value: str) -> None:
        self.context.document.keep_view(weights_whole=value == "whole")
        self.refresh()
