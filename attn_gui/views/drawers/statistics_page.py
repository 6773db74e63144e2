"""StatisticsPage: the table of statistics with what can be done with it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton, QVBoxLayout, QWidget

from attn_gui.control.storage import reason
from attn_gui.control.worker import Priority, at_once
from attn_gui.files.statistics_csv import write_statistics
from attn_gui.model.statistics import HeadStatistics
from attn_gui.views.context import Context
from attn_gui.views.drawers.drawer import SPACING, table_height
from attn_gui.views.drawers.flow import Flow
from attn_gui.views.drawers.statistics_model import StatisticsModel
from attn_gui.views.drawers.statistics_table import StatisticsTable

TOPIC = "statistics"
CSV = "CSV (*.csv)"


class StatisticsPage(QWidget):
    """Every head a line, every statistic a column; ``table.opened`` tells which head was chosen."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.model = StatisticsModel(self)
        self.table = StatisticsTable(self.model)
        self.save = QPushButton("Save as CSV…")
        self.save.setToolTip("Every number as it was computed")
        self.save.clicked.connect(self._choose_file)
        hint = QLabel("Click a heading to sort; point at it for its formula")
        hint.setObjectName("muted")
        below = Flow()
        below.addWidget(self.save)
        below.addWidget(hint)
        self._below = below
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACING)
        column.addWidget(self.table, 1)
        column.addLayout(below)
        self.show_statistics(None)

    def show_statistics(self, statistics: HeadStatistics | None) -> None:
        """Show these, or none while they are computed."""
        self.model.show(statistics, self._context.settings.decimals)
        self.save.setEnabled(statistics is not None)

    def height_for(self, width: int) -> int:
        """Pixels for every line where it is ``width`` wide."""
        return table_height(self.table, width) + SPACING + self._below.heightForWidth(width)

    def write(self, path: Path) -> None:
        """Put the table at ``path``, in the worker, and say how it went."""
        statistics, notices = self.model.statistics, self._context.notices
        if statistics is None:
            return
        self._context.worker.submit(
            "save statistics",
            at_once(partial(write_statistics, path, statistics)),
            Priority.TRACE,
            lambda _: notices.info(f"Saved {path.name}", TOPIC),
            lambda error: notices.error(f"{path.name} was not saved: {reason(error)}", TOPIC),
            owed=True,
        )

    def _choose_file(self) -> None:
        start = self._context.settings.export_folder / "statistics.csv"
        chosen, _ = QFileDialog.getSaveFileName(self, "Save the statistics", str(start), CSV)
        if chosen:
            self.write(Path(chosen))
