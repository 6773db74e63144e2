"""ImportDialog: a mask from a file, shown in each of its meanings before it is taken."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import get_args

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from attn_gui.control.worker import Priority, at_once
from attn_gui.files.errors import FileError
from attn_gui.model.errors import ExperimentError
from attn_gui.model.mask_import import Meaning
from attn_gui.views.buttons import give_letters
from attn_gui.views.context import Context
from attn_gui.views.masks.cells import LARGEST
from attn_gui.views.masks.pattern_view import PatternView
from attn_gui.views.masks.reading import Candidate, Reading, candidates, with_reading

JOB = "mask file"
FILTER = "Arrays (*.npy *.npz *.csv)"
PATTERN = 146
COLUMN = 184
LEAST_WIDTH = 480
TITLES: dict[Meaning, str] = {
    "allowed": "True = &may attend",
    "blocked": "True = &blocked",
    "additive": "&Added to the scores",
}
ABOUT: dict[Meaning, str] = {
    "allowed": "As scaled_dot_product_attention, ONNX and transformers have it",
    "blocked": "As nn.MultiheadAttention and masked_fill have it",
    "additive": "Numbers added to the scores; −inf, or a precision's lowest number, forbids",
}


class ImportDialog(QDialog):
    """Stays open beside the window. Files are read, and counted through, in the worker."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._path = Path.home()
        self._found: list[Candidate] = []
        self._failure = ""
        self.setWindowTitle("Mask from a file")
        self.setModal(False)
        self.setMinimumWidth(LEAST_WIDTH)
        self.file = QLabel()
        self.file.setTextFormat(Qt.TextFormat.PlainText)
        self.file.setWordWrap(True)
        self.browse = QPushButton("Bro&wse…")
        self.array_label = QLabel("A&rray")
        self.array = QComboBox()
        self.array.setAccessibleName("Array of the file")
        self.array.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.array_label.setBuddy(self.array)
        self.meanings = {meaning: _Meaning(context, meaning) for meaning in get_args(Meaning)}
        self.error = QLabel()
        self.error.setObjectName("error")
        self.error.setTextFormat(Qt.TextFormat.PlainText)
        self.error.setWordWrap(True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.use = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.use.setText("&Use this mask")
        self.use.setDefault(True)
        give_letters(self.buttons)
        self._group = QButtonGroup(self)
        for each in self.meanings.values():
            self._group.addButton(each.choice)
        self._lay_out()
        self.browse.clicked.connect(self.open_file)
        self.array.activated.connect(lambda index: self._show_candidate())
        self._group.buttonClicked.connect(lambda button: self._judge())
        self.buttons.accepted.connect(self._use)
        self.buttons.rejected.connect(self.reject)
        context.document.changed.connect(lambda before, after: self._judge() if self.isVisible() else None)

    def open_file(self) -> None:
        """Ask for a file, and show what is in it."""
        over = self if self.isVisible() else self.parentWidget()
        start = self._path if self._path.is_dir() else self._path.parent
        chosen, _ = QFileDialog.getOpenFileName(over, "Mask from a file", str(start), FILTER)
        if chosen:
            self.load(Path(chosen))

    def load(self, path: Path) -> None:
        """Read ``path`` and show what is in it."""
        self._path = path
        self._context.worker.submit(
            JOB, at_once(partial(candidates, path)), Priority.ASK, self._on_read, self._on_failure
        )

    @property
    def reading(self) -> Reading | None:
        """The mask as it would be taken."""
        candidate = self._candidate
        chosen = next((m for m, each in self.meanings.items() if each.choice.isChecked()), None)
        return None if candidate is None or chosen is None else candidate.readings.get(chosen)

    @property
    def _candidate(self) -> Candidate | None:
        index = self.array.currentIndex()
        return self._found[index] if 0 <= index < len(self._found) else None

    def _lay_out(self) -> None:
        top = QGridLayout()
        top.setHorizontalSpacing(12)
        top.setVerticalSpacing(8)
        top.setColumnStretch(1, 1)
        top.addWidget(QLabel("File"), 0, 0)
        top.addWidget(self.file, 0, 1)
        top.addWidget(self.browse, 0, 2)
        top.addWidget(self.array_label, 1, 0)
        top.addWidget(self.array, 1, 1, Qt.AlignmentFlag.AlignLeft)
        middle = QHBoxLayout()
        middle.setSpacing(16)
        for each in self.meanings.values():
            middle.addWidget(each)
        middle.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        for part in (top, middle):
            layout.addLayout(part)
        layout.addWidget(self.error)
        layout.addStretch(1)
        layout.addWidget(self.buttons)

    def _on_read(self, found: list[Candidate], failure: str = "") -> None:
        self._found, self._failure = found, failure
        self.file.setText(self._path.name)
        self.array.clear()
        for each in found:
            shape = " × ".join(str(side) for side in each.array.shape) or "one number"
            self.array.addItem(f"{each.name + ', ' if each.name else ''}{each.array.dtype}, {shape}")
        self.array.setEnabled(len(found) > 1)
        self._show_candidate()
        self.show()
        self.raise_()
        self.activateWindow()

    def _on_failure(self, error: BaseException) -> None:
        if not isinstance(error, (FileError, MemoryError)):
            raise error
        words = str(error) or "There is not enough memory for this file"
        if isinstance(error, FileError):
            where = f"{error.where[:1].upper()}{error.where[1:]}: e" if error.where else "E"
            words = f"{where}xpected {error.expected}, received {error.received}"
        self._on_read([], words)

    def _show_candidate(self) -> None:
        candidate = self._candidate
        for part in (self.array_label, self.array, *self.meanings.values()):
            part.setVisible(candidate is not None)
        if candidate is not None:
            for meaning, each in self.meanings.items():
                each.show_reading(candidate.readings.get(meaning), candidate.refusals.get(meaning, ""))
            if candidate.best is not None:
                self.meanings[candidate.best].choice.setChecked(True)
        self._judge()
        self.adjustSize()

    def _judge(self) -> None:
        """Whether the mask can be taken, and if not why."""
        reading, reason = self.reading, self._failure
        if reading is not None:
            try:
                with_reading(self._context.document.experiment, reading)
            except ExperimentError as error:
                reason = f"Expected {error.expected}, received {error.received}"
        elif self._candidate is not None:
            reason = "This array is no mask"
        self._say(reason)
        self.use.setEnabled(reading is not None and not reason)

    def _say(self, reason: str) -> None:
        self.error.setText(f"⚠ {reason}" if reason else "")
        self.error.setVisible(bool(reason))

    def _use(self) -> None:
        reading = self.reading
        if reading is not None:
            experiment = with_reading(self._context.document.experiment, reading)
            self._context.document.apply(f"Mask: {self._path.name}", experiment)
            self.accept()


class _Meaning(QWidget):
    """One way to read an array: a choice, what the mask would look like, and how much it allows."""

    def __init__(self, context: Context, meaning: Meaning) -> None:
        super().__init__()
        self.choice = QRadioButton(TITLES[meaning])
        self.choice.setToolTip(ABOUT[meaning])
        self.pattern = PatternView(context.look, PATTERN)
        self.facts = QLabel()
        self.facts.setObjectName("muted")
        self.facts.setWordWrap(True)
        self.facts.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.facts.setFixedWidth(COLUMN)  # a label that wraps would ask for more than its column has
        self.setFixedWidth(COLUMN)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for part in (self.choice, self.pattern, self.facts):
            column.addWidget(part)
        column.addStretch(1)

    def show_reading(self, reading: Reading | None, refusal: str) -> None:
        """Show ``reading``, or why there is none."""
        self.choice.setEnabled(reading is not None)
        self.pattern.setVisible(reading is not None)
        text = facts(reading) if reading is not None else f"{refusal[:1].upper()}{refusal[1:]}"
        self.facts.setText(text)
        self.choice.setAccessibleDescription(text)
        if reading is not None:
            self.pattern.show_cells(reading.cells, f"Pattern of {self.choice.text().replace('&', '')}")


def facts(reading: Reading) -> str:
    """How much ``reading`` allows, in lines."""
    if reading.least == reading.most:
        keys = f"{reading.most:,} keys allowed in every row"
    else:
        keys = f"{reading.least:,} to {reading.most:,} keys allowed a row, {reading.mean:.1f} on average"
    lines = [keys, f"{reading.masked:,} of {reading.rows:,} rows fully masked"]
    if reading.meaning == "additive":
        lines.append(f"{reading.added:,} scores changed")
    if reading.cells.shape[0] == LARGEST or reading.cells.shape[1] == LARGEST:
        lines.append(f"(drawn: the first {LARGEST} tokens)")
    return "\n".join(lines)
