"""Find the convention: which way of computing attention gives somebody else's numbers."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QGuiApplication
from PySide6.QtWidgets import QCheckBox, QDialog, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from attn_gui.control.diagnosing import Asked, Diagnosing, Finding
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment
from attn_gui.views.context import Context
from attn_gui.views.diagnosis.given_panel import GivenPanel
from attn_gui.views.diagnosis.result_view import ResultView

WIDTH, HEIGHT = 640, 640
STEPS = 1000
TOPIC = "convention"
BASES = (500_000.0, 1_000_000.0)


class DiagnoseDialog(QDialog):
    """Stands beside the window. Nothing of the experiment changes until "Use it here", and then in one undo step."""

    def __init__(self, context: Context, diagnosing: Diagnosing, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._diagnosing = diagnosing
        self._finding: Finding | None = None
        self.setWindowTitle("Find the convention")
        self.setModal(False)
        self.given = GivenPanel(context, diagnosing)
        self.bases = QCheckBox("Try rotary &bases 500,000 and 1,000,000 too")
        self.bases.setToolTip("Besides 10,000, which is always tried")
        self.start = QPushButton("F&ind")
        self.progress = QProgressBar()
        self.cancel = QPushButton("&Cancel")
        self.error = QLabel()
        self.outcome = ResultView()
        self.show_cell = QPushButton("&Show the cell")
        self.use = QPushButton("Use it &here")
        self.copy = QPushButton("Cop&y report")
        self.shut = QPushButton("C&lose")
        self._lay_out()
        self._connect()
        self._on_running(False)
        self._say("")

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, max(HEIGHT, super().sizeHint().height()))

    def _lay_out(self) -> None:
        self.progress.setRange(0, STEPS)
        self.progress.setAccessibleName("Progress of the search")
        self.error.setObjectName("error")
        self.error.setWordWrap(True)
        self.error.setTextFormat(Qt.TextFormat.PlainText)
        self.error.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for button in (self.cancel, self.show_cell, self.use, self.copy, self.shut):
            button.setAutoDefault(False)
        self.start.setDefault(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 12)
        column.setSpacing(8)
        column.addWidget(self.given, 1)
        column.addLayout(_row(self.bases, None, self.progress, self.cancel, self.start))
        column.addWidget(self.error)
        column.addWidget(self.outcome, 1)
        column.addLayout(_row(self.show_cell, self.use, self.copy, None, self.shut))

    def _connect(self) -> None:
        diagnosing = self._diagnosing
        self.given.changed.connect(self._outdate)
        diagnosing.running_changed.connect(self._on_running)
        diagnosing.progressed.connect(lambda part: self.progress.setValue(int(part * STEPS)))
        diagnosing.found.connect(self._on_found)
        diagnosing.failed.connect(self._on_failed)
        diagnosing.cancelled.connect(lambda: self.outcome.show_nothing("Cancelled."))
        self.bases.toggled.connect(self._outdate)
        self.start.clicked.connect(self._find)
        self.cancel.clicked.connect(diagnosing.cancel)
        self.outcome.selected.connect(self._refresh)
        self.show_cell.clicked.connect(self._show_cell)
        self.use.clicked.connect(self._use)
        self.copy.clicked.connect(self._copy)
        self.shut.clicked.connect(self.close)
        self._context.document.changed.connect(lambda before, after: self._refresh())

    def _outdate(self) -> None:
        """What was found, or is being looked for, is no answer to what stands here now."""
        self._diagnosing.cancel()
        self._finding = None
        self._say("")
        self.outcome.show_nothing()

    def _find(self) -> None:
        self._outdate()
        bases = BASES if self.bases.isChecked() else ()
        asked = Asked(self._context.document.experiment, self.given.file, self.given.numbers, bases)
        self._diagnosing.start(asked, self._context.document.device)
        self.outcome.show_nothing("Trying…")

    def _on_running(self, running: bool) -> None:
        self.progress.setValue(0)
        self.progress.setVisible(running)
        self.cancel.setVisible(running)
        self.start.setVisible(not running)
        self._refresh()

    def _on_found(self, finding: Finding) -> None:
        self._finding = finding
        self.outcome.show_diagnosis(finding.diagnosis)
        self._refresh()
        if self.isVisible():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, finding.diagnosis.headline))
        else:
            self._context.notices.info(finding.diagnosis.headline, TOPIC)

    def _on_failed(self, sentence: str) -> None:
        self.outcome.show_nothing()
        self._say(sentence)
        if not self.isVisible():
            self._context.notices.error(sentence, TOPIC)

    def _say(self, fault: str) -> None:
        self.error.setText(f"⚠ {fault}" if fault else "")
        self.error.setVisible(bool(fault))

    def _refresh(self) -> None:
        ready = self.given.is_ready
        self.start.setEnabled(ready)
        self.start.setToolTip("" if ready else "Give scores, weights or output first")
        self.copy.setEnabled(self._finding is not None)
        from_file = self._finding is not None and self._finding.asked.file is not None
        self.use.setText("Open as &experiment" if from_file else "Use it &here")
        for button, does, why_not in (
            (self.show_cell, "Select the first cell that departs, in the window", self._why_no_cell()),
            (self.use, "Set the experiment so, as one undo step", self._why_no_use()),
        ):
            button.setEnabled(not why_not)
            button.setToolTip(why_not or does)

    def _why_no_cell(self) -> str:
        finding = self._finding
        if finding is None or self.outcome.departure is None:
            return "No cell departs"
        if finding.asked.file is not None:
            return "The numbers are not of what the window shows"
        return "" if self._is_present(finding) else "The experiment is another one by now: find again"

    def _why_no_use(self) -> str:
        """Why the convention that is looked at cannot be put in force, or ""."""
        finding, convention = self._finding, self.outcome.convention
        if finding is None or convention is None:
            return "Nothing has been found"
        if finding.asked.file is None:
            if not convention.choices:
                return "It is what the experiment does already"
            if not self._is_present(finding):
                return "The experiment is another one by now: find again"
        setting = finding.settings[convention]
        return setting if isinstance(setting, str) else ""

    def _is_present(self, finding: Finding) -> bool:
        return finding.asked.experiment is self._context.document.experiment

    def _show_cell(self) -> None:
        departure, selection = self.outcome.departure, self._context.selection
        if departure is None:
            return
        if departure.head is not None:
            selection.set_head(departure.head)
        elif departure.stage == "N":
            selection.set_head("mean")
        query = selection.query if departure.query is None else departure.query
        selection.set_cell(query, selection.key if departure.key is None else departure.key)

    def _use(self) -> None:
        finding, convention, document = self._finding, self.outcome.convention, self._context.document
        setting = None if finding is None or convention is None else finding.settings[convention]
        if finding is None or convention is None or not isinstance(setting, Experiment):
            return
        if finding.asked.file is None:
            document.apply(f"Convention: {convention.title}", setting)
        else:
            document.apply_named("Experiment from a file", NamedExperiment(finding.asked.file.path.stem, setting))
        self._context.notices.info(f"Set: {convention.title}. Undo brings back what was there.", TOPIC)

    def _copy(self) -> None:
        if self._finding is not None:
            QGuiApplication.clipboard().setText(str(self._finding.diagnosis))
            self._context.notices.info("The report is on the clipboard.", TOPIC)


def _row(*parts: QWidget | None) -> QHBoxLayout:
    """Widgets side by side; None is the room between."""
    row = QHBoxLayout()
    row.setSpacing(8)
    for part in parts:
        if part is None:
            row.addStretch(1)
        else:
            row.addWidget(part, 1 if isinstance(part, QProgressBar) else 0)
    return row
