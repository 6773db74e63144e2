"""Find the convention: which way of computing attention gives somebody else's numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from attn_gui.control.diagnosing import FILES, Asked, Diagnosing, Finding
from attn_gui.files.tensor_file import STAGES, TensorFile
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.question import Numbers, question_of
from attn_gui.model.session import NamedExperiment
from attn_gui.views.context import Context
from attn_gui.views.diagnosis.given_page import GivenPage
from attn_gui.views.diagnosis.result_view import ResultView

WIDTH, HEIGHT = 640, 640
STEPS = 1000
BASES = (500_000.0, 1_000_000.0)
FILTER = f"Arrays ({' '.join(f'*{ending}' for ending in FILES)});;All files (*)"
COLUMNS = {"scores": "key", "weights": "key", "output": "dimension"}


class DiagnoseDialog(QDialog):
    """Stands beside the window. Nothing of the experiment changes until "Use it here", and then in one undo step."""

    def __init__(self, context: Context, diagnosing: Diagnosing, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._diagnosing = diagnosing
        self._file: TensorFile | None = None
        self._finding: Finding | None = None
        self.setWindowTitle("Find the convention")
        self.setModal(False)
        self.source = QLabel()
        self.source.setTextFormat(Qt.TextFormat.PlainText)
        self.source.setWordWrap(True)
        self.window_again = QPushButton("&Use the window’s")
        self.pages = {stage: GivenPage(stage, COLUMNS[stage]) for stage in STAGES}
        self.tabs = QTabWidget()
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
        self._refresh()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, max(HEIGHT, super().sizeHint().height()))

    def _lay_out(self) -> None:
        for stage, page in self.pages.items():
            self.tabs.addTab(page, stage.capitalize())
        self.tabs.setCurrentWidget(self.pages["weights"])
        self.tabs.setAccessibleName("Numbers of the other program")
        self.progress.setRange(0, STEPS)
        self.progress.setAccessibleName("Progress of the search")
        self.error.setObjectName("error")
        self.error.setWordWrap(True)
        self.error.setTextFormat(Qt.TextFormat.PlainText)
        self.error.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for button in (self.window_again, self.cancel, self.show_cell, self.use, self.copy, self.shut):
            button.setAutoDefault(False)
        self.start.setDefault(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 12)
        column.setSpacing(8)
        column.addLayout(_row(self.source, self.window_again))
        column.addWidget(self.tabs, 1)
        column.addLayout(_row(self.bases, None, self.progress, self.cancel, self.start))
        column.addWidget(self.error)
        column.addWidget(self.outcome, 1)
        column.addLayout(_row(self.show_cell, self.use, self.copy, None, self.shut))

    def _connect(self) -> None:
        diagnosing = self._diagnosing
        for stage, page in self.pages.items():
            page.edited.connect(lambda text, stage=stage: diagnosing.read(stage, text))
            page.changed.connect(lambda stage=stage: self._on_page(stage))
            page.open.clicked.connect(lambda checked=False, stage=stage: self._choose(stage))
        diagnosing.numbers_read.connect(self._on_numbers)
        diagnosing.not_read.connect(lambda stage, fault: self.pages[stage].refuse(fault))
        diagnosing.opened.connect(self._on_opened)
        diagnosing.running_changed.connect(self._on_running)
        diagnosing.progressed.connect(lambda part: self.progress.setValue(int(part * STEPS)))
        diagnosing.found.connect(self._on_found)
        diagnosing.failed.connect(self._on_failed)
        diagnosing.cancelled.connect(lambda: self.outcome.show_nothing("Cancelled."))
        self.window_again.clicked.connect(self._forget_file)
        self.start.clicked.connect(self._find)
        self.cancel.clicked.connect(diagnosing.cancel)
        self.outcome.selected.connect(self._refresh)
        self.show_cell.clicked.connect(self._show_cell)
        self.use.clicked.connect(self._use)
        self.copy.clicked.connect(self._copy)
        self.shut.clicked.connect(self.close)
        self._context.document.changed.connect(lambda before, after: self._on_document())

    def open_file(self, path: Path) -> None:
        """Read ``path`` for the stage that is looked at."""
        self._diagnosing.open(self._stage(), path)

    def _stage(self) -> str:
        return STAGES[self.tabs.currentIndex()]

    def _choose(self, stage: str) -> None:
        folder = str(self._context.settings.export_folder)
        name, _ = QFileDialog.getOpenFileName(self, "Numbers of the other program", folder, FILTER)
        if name:
            self._diagnosing.open(stage, Path(name))

    def _on_numbers(self, stage: str, numbers: Numbers, file: str) -> None:
        page = self.pages[stage]
        if not file and not page.pending:
            return  # the text was cleared, or a file has taken its place
        fault = self._misfit(stage, numbers)
        if fault:
            page.refuse(fault)
        else:
            page.take(numbers, file)

    def _on_opened(self, file: TensorFile) -> None:
        """Take Q, K and V, and what was made of them, from a file."""
        self._file = file
        for stage, page in self.pages.items():
            if stage in file.arrays:
                page.take(file.arrays[stage], file.path.name)
            else:
                page.empty()
        self._refresh()

    def _forget_file(self) -> None:
        self._file = None
        for page in self.pages.values():
            page.empty()
        self._refresh()

    def _misfit(self, stage: str, numbers: Numbers) -> str:
        """Why ``numbers`` cannot be of the window's experiment, or ""."""
        if self._file is not None:
            return ""
        given: dict[str, Any] = {stage: numbers}
        try:
            question_of(self._context.document.experiment, **given)
        except ExperimentError as error:
            return f"Expected {error.expected}, received {error.received}"
        return ""

    def _on_page(self, stage: str) -> None:
        page = self.pages[stage]
        mark = " ⚠" if page.fault else " ✓" if page.numbers is not None else ""
        self.tabs.setTabText(STAGES.index(stage), f"{stage.capitalize()}{mark}")
        if not page.pending:
            self._diagnosing.forget(stage)
        self._outdate()

    def _on_document(self) -> None:
        for stage, page in self.pages.items():
            if page.numbers is not None and (fault := self._misfit(stage, page.numbers)):
                page.refuse(fault)
        self._refresh()

    def _outdate(self) -> None:
        """What was found is no longer an answer to what stands here."""
        self._finding = None
        self._say("")
        self.outcome.show_nothing()

    def _find(self) -> None:
        given = {stage: page.numbers for stage, page in self.pages.items() if page.numbers is not None}
        if not given or self._diagnosing.running:
            return
        self._outdate()
        self.outcome.show_nothing("Trying…")
        bases = BASES if self.bases.isChecked() else ()
        asked = Asked(self._context.document.experiment, self._file, given, bases)
        self._diagnosing.start(asked, self._context.document.device)

    def _on_running(self, running: bool) -> None:
        self.progress.setValue(0)
        self.progress.setVisible(running)
        self.cancel.setVisible(running)
        self.start.setVisible(not running)
        self.bases.setEnabled(not running)
        self._refresh()

    def _on_found(self, finding: Finding) -> None:
        self._finding = finding
        self.outcome.show_diagnosis(finding.diagnosis)
        self._refresh()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, finding.diagnosis.headline))

    def _on_failed(self, sentence: str) -> None:
        self.outcome.show_nothing()
        self._say(sentence)

    def _say(self, sentence: str) -> None:
        self.error.setText(f"⚠ {sentence}" if sentence else "")
        self.error.setVisible(bool(sentence))

    def _refresh(self) -> None:
        e, pages = self._context.document.experiment, self.pages.values()
        self.source.setText(_source(e, self._file))
        self.window_again.setVisible(self._file is not None)
        ready = any(page.numbers is not None for page in pages) and not any(p.pending or p.fault for p in pages)
        self.start.setEnabled(ready)
        self.start.setToolTip("" if ready else "Give scores, weights or output first")
        finding = self._finding
        self.copy.setEnabled(finding is not None)
        if finding is None:
            for button in (self.show_cell, self.use):
                button.setEnabled(False)
                button.setToolTip("")
            return
        why_no_cell = self._why_no_cell(finding)
        self.show_cell.setEnabled(not why_no_cell)
        self.show_cell.setToolTip(why_no_cell or "Select the first cell that departs, in the window")
        why_not = self._why_not(finding)
        self.use.setEnabled(not why_not)
        self.use.setToolTip(why_not or "Set the experiment so, as one undo step")
        self.use.setText("Use it &here" if finding.asked.file is None else "S&how as experiment")

    def _why_no_cell(self, finding: Finding) -> str:
        if self.outcome.departure is None:
            return "No cell departs"
        if finding.asked.file is not None:
            return "The numbers are not those of the window"
        return "" if self._is_present(finding) else "The experiment is another one by now"

    def _why_not(self, finding: Finding) -> str:
        """Why the convention that is looked at cannot be put in force, or ""."""
        convention = self.outcome.convention
        if convention is None:
            return "Nothing is selected"
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
        finding, convention = self._finding, self.outcome.convention
        if finding is None or convention is None or self._why_not(finding):
            return
        setting, document = finding.settings[convention], self._context.document
        if not isinstance(setting, Experiment):
            return
        if finding.asked.file is None:
            document.apply(f"Convention: {convention.title}", setting)
        else:
            document.apply_named("Experiment from a file", NamedExperiment(finding.asked.file.path.stem, setting))
        self._context.notices.info(f"Set: {convention.title}. Undo brings back what was there.", "convention")

    def _copy(self) -> None:
        if self._finding is not None:
            QGuiApplication.clipboard().setText(str(self._finding.diagnosis))
            self._context.notices.info("The report is on the clipboard", "convention")


def _source(e: Experiment, file: TensorFile | None) -> str:
    if file is None:
        heads = "1 head" if e.heads == 1 else f"{e.heads} heads"
        return f"Q, K and V of the window: {heads}, {e.n_q:,} queries, {e.n_k:,} keys, d_k {e.d_k:,}, d_v {e.d_v:,}."
    shapes = ", ".join(f"{name} {' × '.join(map(str, file.arrays[name].shape))}" for name in "QKV")
    mask = " and a mask" if file.mask is not None else ""
    return f"Q, K, V{mask} of {file.path.name}: {shapes}."


def _row(*parts: QWidget | None) -> QHBoxLayout:
    """Widgets side by side; None is the room between."""
    row = QHBoxLayout()
    row.setSpacing(8)
    for part in parts:
        if part is None:
            row.addStretch(1)
        else:
            row.addWidget(part, 1 if isinstance(part, QLabel | QProgressBar) else 0)
    return row
