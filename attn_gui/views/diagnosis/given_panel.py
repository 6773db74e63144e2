"""GivenPanel: the stages of the other program side by side, and whose queries, keys and values they were made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLabel, QPushButton, QTabWidget, QVBoxLayout, QWidget

from attn_gui.control.diagnosing import FILES, Diagnosing
from attn_gui.files.tensor_file import STAGES, TensorFile
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.question import Numbers, question_of
from attn_gui.views.context import Context
from attn_gui.views.diagnosis.given_page import GivenPage

FILTER = f"Arrays ({' '.join(f'*{ending}' for ending in FILES)});;All files (*)"
COLUMNS = {"scores": "key", "weights": "key", "output": "dimension"}
FIRST = "weights"


class GivenPanel(QWidget):
    """``changed`` tells that something else is given now.

    file: where Q, K and V come from; None: the window.
    """

    changed = Signal()

    def __init__(self, context: Context, diagnosing: Diagnosing, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._diagnosing = diagnosing
        self.file: TensorFile | None = None
        self.source = QLabel()
        self.source.setTextFormat(Qt.TextFormat.PlainText)
        self.source.setWordWrap(True)
        self.window_again = QPushButton("Use the &window’s")
        self.window_again.setAutoDefault(False)
        self.pages = {stage: GivenPage(stage, COLUMNS[stage]) for stage in STAGES}
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName("Numbers of the other program")
        for stage, page in self.pages.items():
            self.tabs.addTab(page, stage.capitalize())
            page.edited.connect(lambda text, stage=stage: diagnosing.read(stage, text))
            page.changed.connect(lambda stage=stage: self._on_page(stage))
            page.open.clicked.connect(lambda checked=False, stage=stage: self._choose(stage))
        self.tabs.setCurrentWidget(self.pages[FIRST])
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.source, 1)
        row.addWidget(self.window_again)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(row)
        column.addWidget(self.tabs, 1)
        self.window_again.clicked.connect(lambda: self._take_from(None))
        diagnosing.numbers_read.connect(self._on_numbers)
        diagnosing.not_read.connect(lambda stage, fault: self.pages[stage].refuse(fault))
        diagnosing.opened.connect(self._take_from)
        context.document.changed.connect(lambda before, after: self._on_document())
        self._show_source()

    @property
    def numbers(self) -> dict[str, Numbers]:
        """What is given, by its stage."""
        return {stage: page.numbers for stage, page in self.pages.items() if page.numbers is not None}

    @property
    def is_ready(self) -> bool:
        """Whether something is given, and nothing that cannot be read or is being read stands beside it."""
        return bool(self.numbers) and not any(page.pending or page.fault for page in self.pages.values())

    def open_file(self, path: Path) -> None:
        """Read ``path`` for the stage that is looked at, or for whatever its names say."""
        self._diagnosing.open(STAGES[self.tabs.currentIndex()], path)

    def _choose(self, stage: str) -> None:
        folder = str(self._context.settings.export_folder)
        name, _ = QFileDialog.getOpenFileName(self.window(), "Numbers of the other program", folder, FILTER)
        if name:
            self._diagnosing.open(stage, Path(name))

    def _on_numbers(self, stage: str, numbers: Numbers, file: str) -> None:
        page = self.pages[stage]
        fault = self._misfit(stage, numbers)
        if fault:
            page.refuse(fault)
        else:
            page.take(numbers, file)

    def _take_from(self, file: TensorFile | None) -> None:
        """Q, K and V, and what was made of them, from ``file``, or from the window with nothing given yet."""
        self.file = file
        for stage, page in self.pages.items():
            if file is not None and stage in file.arrays:
                page.take(file.arrays[stage], file.path.name)
                self.tabs.setCurrentWidget(page)
            else:
                page.empty()
        self._show_source()
        self.changed.emit()

    def _misfit(self, stage: str, numbers: Numbers) -> str:
        """Why ``numbers`` cannot be of the window's experiment, or ""."""
        if self.file is not None:
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
        # what is still being read for it was about a text that is no more
        self._diagnosing.forget(stage)
        self.changed.emit()

    def _on_document(self) -> None:
        self._show_source()
        for stage, numbers in self.numbers.items():
            fault = self._misfit(stage, numbers)
            if fault:
                self.pages[stage].refuse(fault)

    def _show_source(self) -> None:
        self.source.setText(_source(self._context.document.experiment, self.file))
        self.window_again.setVisible(self.file is not None)


def _source(e: Experiment, file: TensorFile | None) -> str:
    if file is None and not e.has_queries:
        return "The window has no Q, K and V: open a file of them."
    if file is None:
        heads = "1 head" if e.heads == 1 else f"{e.heads} heads"
        return f"Q, K and V of the window: {heads}, {e.n_q:,} queries, {e.n_k:,} keys, d_k {e.d_k:,}, d_v {e.d_v:,}."
    shapes = ", ".join(f"{name} {' × '.join(map(str, file.arrays[name].shape))}" for name in "QKV")
    mask = ", and a mask" if file.mask is not None else ""
    return f"From {file.path.name}: {shapes}{mask}."
