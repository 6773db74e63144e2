"""ContentsPage: the tensors of a file, what each is read as, and which layer and item of the batch is opened."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLabel, QTableView, QVBoxLayout, QWidget

from attn_gui.model.tensors.checks import Problem
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.reading import Reading
from attn_gui.views.tensors.part_editor import PartEditor
from attn_gui.views.tensors.parts_model import PartsModel
from attn_gui.views.tensors.pickers import Pickers

# rows that columns are made wide enough for
MEASURED = 50
SHOWN_REMARKS = 3


class ContentsPage(QWidget):
    """``changed(reading)`` comes with each correction."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._contents: Contents | None = None
        self._reading: Reading | None = None
        self._problems: tuple[Problem, ...] = ()
        self._fresh = True  # whether the first tensor is still to be chosen
        self.parts = PartsModel(self)
        self.table = QTableView()
        self.editor = PartEditor()
        self.pickers = Pickers()
        self.remarks = QLabel()
        self.remarks.setObjectName("muted")
        self.remarks.setTextFormat(Qt.TextFormat.PlainText)
        self.remarks.setWordWrap(True)
        self._dress_table()
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(12)
        column.addWidget(self.table, 1)
        column.addWidget(self.editor)
        column.addWidget(self.pickers)
        column.addWidget(self.remarks)
        self.table.selectionModel().currentRowChanged.connect(lambda current, before: self._show_part())
        self.editor.changed.connect(self.changed)
        self.pickers.changed.connect(self.changed)

    def begin(self, contents: Contents | None) -> None:
        """Start on another file."""
        self._fresh = True
        remarks = () if contents is None else contents.remarks
        left = len(remarks) - SHOWN_REMARKS
        self.remarks.setText("\n".join([*remarks[:SHOWN_REMARKS], *([f"and {left:,} more"] if left > 0 else [])]))
        self.remarks.setVisible(bool(remarks))

    def show_reading(self, contents: Contents | None, reading: Reading | None, problems: tuple[Problem, ...]) -> None:
        """Show ``reading``, whose parts with ``problems`` are marked."""
        self._contents, self._reading, self._problems = contents, reading, problems
        faulty = frozenset(problem.part for problem in problems if problem.part is not None)
        self.parts.show(contents, reading, faulty)
        if self._fresh and reading is not None and reading.parts:
            self._fresh = False
            used = (place for place, part in enumerate(reading.parts) if part.role is not None)
            first = self.parts.index(min(faulty, default=next(used, 0)), 0)
            self.table.setCurrentIndex(first)
            self.table.scrollTo(first)
        self._show_part()
        self.pickers.show_reading(contents, reading)

    def _show_part(self) -> None:
        row = self.table.currentIndex().row()
        axes = {problem.axis for problem in self._problems if problem.part == row}
        self.editor.show_part(self._contents, self._reading, row, axes)

    def _dress_table(self) -> None:
        table = self.table
        table.setModel(self.parts)
        table.setObjectName("list")
        table.setAccessibleName("Tensors in the file")
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setTabKeyNavigation(False)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(self.fontMetrics().lineSpacing() + 8)
        header = table.horizontalHeader()
        header.setResizeContentsPrecision(MEASURED)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(64)
        header.setHighlightSections(False)
