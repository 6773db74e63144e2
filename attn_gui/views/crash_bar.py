"""The bar that tells of a run before this one that was struck down, and has the report of it."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from attn_gui.control.fault_reports import Report
from attn_gui.views.bar import Bar
from attn_gui.views.context import Context
from attn_gui.views.fault_dialog import FaultDialog


class CrashBar(Bar):
    """One line on ``reports``, the newest last; told once, since the next start finds new ones only."""

    def __init__(
        self, context: Context, reports: tuple[Report, ...], dialog: FaultDialog, parent: QWidget | None = None
    ) -> None:
        super().__init__(context, "A crash before this start", parent)
        self.text.setMinimumWidth(0)
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.show_report = QPushButton("Sh&ow")
        self.show_report.setToolTip("What was written down about it; nothing was sent anywhere")
        self.add(self.show_report)
        self.later.setToolTip("Put this away; the report stays where it is")
        self.later.setAccessibleName("Put this away")
        self.later.clicked.connect(self.hide)
        self.show_report.clicked.connect(lambda: dialog.show_reports(reports))
        times = f", {len(reports)} times" if len(reports) > 1 else ""
        newest = reports[-1]
        where = f"The report is in {newest.path}" if newest.path is not None else "The report could not be kept"
        self.say(f"attn_gui crashed{times} ({newest.summary}). {where}")
        self.text.setToolTip(self.text.text())
