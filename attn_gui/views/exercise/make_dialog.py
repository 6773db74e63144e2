"""MakeDialog: which stages are to be filled in, with whose numbers, and by whom."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from attn_gui.control.making import Making
from attn_gui.files.exercise_files import ENDING, Handout, safe_name, students_in
from attn_gui.files.regular import is_there
from attn_gui.model.errors import ExperimentError
from attn_gui.model.exercise import ASKABLE, LEAST_DECIMALS, MOST_DECIMALS, Exercise, askable
from attn_gui.model.stages import STAGES
from attn_gui.model.tokens import LONGEST_NAME
from attn_gui.views.buttons import give_letters
from attn_gui.views.context import Context
from attn_gui.views.exercise.numbers_box import NumbersBox

WIDTH = 520
TOPIC = "exercise"
FILES = "Exercises (*.attn)"
LISTS = "Text files (*.txt *.csv);;All files (*)"
FIRST_ASKED = ("A", "N", "output")
TRIES: dict[str, int | None] = {
    "Never": None,
    "After 1 check": 1,
    **{f"After {count} checks": count for count in (2, 3, 5, 10)},
}


class MakeDialog(QDialog):
    """Stands beside the window, not in front of it; closes once the files are written."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._making = Making(context.worker, self)
        self._suggested = ""
        self.setWindowTitle("Make exercise")
        self.name = QLineEdit()
        self.name.setMaxLength(LONGEST_NAME)
        self.name.setAccessibleName("Name")
        self.task = QLineEdit()
        self.task.setAccessibleName("Task")
        self.task.setPlaceholderText("What the student is to read; may be empty")
        self.stages = {stage: QCheckBox(stage) for stage in ASKABLE}
        for stage, box in self.stages.items():
            box.setAccessibleName(f"{stage}, {STAGES[stage].what}")
            box.setChecked(stage in FIRST_ASKED)
            box.toggled.connect(lambda on: self._refresh())
        self.why_not = _muted()
        self.decimals = QSpinBox()
        self.decimals.setAccessibleName("Decimals of the answers")
        self.decimals.setRange(LEAST_DECIMALS, MOST_DECIMALS)
        self.decimals.setValue(3)
        self.tries = QComboBox()
        self.tries.setAccessibleName("Show the answers")
        for text, tries in TRIES.items():
            self.tries.addItem(text, tries)
        self.numbers = NumbersBox()
        self.students = QPlainTextEdit()
        self.students.setAccessibleName("Students")
        self.students.setPlaceholderText("One id a line. Empty: one file for everybody")
        self.students.setTabChangesFocus(True)
        self.students.setFixedHeight(4 * self.fontMetrics().lineSpacing() + 12)
        self.browse = QPushButton("From a &file…")
        self.outcome = QLabel()
        self.outcome.setObjectName("error")
        self.outcome.setWordWrap(True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.make = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.make.setText("&Make…")
        give_letters(self.buttons)
        self._lay_out()
        self.buttons.accepted.connect(self._choose_and_make)
        self.buttons.rejected.connect(self.reject)
        self.browse.clicked.connect(self._choose_list)
        self.students.textChanged.connect(self._refresh)
        self.numbers.changed.connect(self._refresh)
        self._making.made.connect(self._on_made)
        self._making.not_made.connect(self._say)
        self._making.read.connect(lambda students: self.students.setPlainText("\n".join(students)))
        self._making.not_read.connect(self._say)
        context.document.changed.connect(lambda before, after: self._refresh())
        self._refresh()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, super().sizeHint().height())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._say("")
        self._refresh()

    @property
    def asked(self) -> tuple[str, ...]:
        return tuple(stage for stage, box in self.stages.items() if box.isChecked() and box.isEnabled())

    @property
    def listed(self) -> list[str]:
        """The students, each once."""
        return students_in(self.students.toPlainText())

    def handout(self) -> Handout:
        """What was chosen; raises ExperimentError."""
        exercise = Exercise(self.asked, self.decimals.value(), self.tries.currentData(), recipe=self.numbers.recipe())
        document = self._context.document
        return Handout(document.experiment, exercise, self.name.text().strip() or self._suggested, self.task.text())

    def write(self, path: Path) -> None:
        """Write the exercises to ``path``, a folder where there are students."""
        try:
            self._making.make(self.handout(), self.listed, path)
        except ExperimentError as error:
            self._say(str(error))

    def _refresh(self) -> None:
        """Offer what the present experiment can be asked."""
        named = self._context.document.session.named
        self._suggested = f"Exercise: {named.name}"[:LONGEST_NAME]
        self.name.setPlaceholderText(self._suggested)
        self.numbers.offer(named.experiment)
        reasons: dict[str, list[str]] = {}
        for stage, reason in askable(named.experiment, self.numbers.drawn).items():
            self.stages[stage].setEnabled(reason is None)
            self.stages[stage].setToolTip(reason or STAGES[stage].what)
            if reason is not None:
                reasons.setdefault(reason, []).append(stage)
        self.why_not.setText("; ".join(f"{', '.join(stages)}: {reason}" for reason, stages in reasons.items()))
        self.why_not.setVisible(bool(reasons))
        hidden = bool(named.experiment.hidden)
        self.make.setEnabled(bool(self.asked) and not hidden and self.numbers.is_sound)
        count = len(self.listed)
        self.make.setText(f"&Make {count:,} files…" if count > 1 else "&Make…")

    def _choose_and_make(self) -> None:
        start = self._context.settings.export_folder
        if self.listed:
            chosen = QFileDialog.getExistingDirectory(self, "Where to put the exercises", str(start))
        else:
            name = safe_name(self.name.text().strip() or self._suggested)
            chosen, _ = QFileDialog.getSaveFileName(self, "Save the exercise", str(start / (name + ENDING)), FILES)
        if chosen:
            path = Path(chosen)
            attn = path.suffix.casefold() == ENDING or bool(self.listed)
            self._begin(path if attn else path.with_name(path.name + ENDING), asked_for=attn)

    def _begin(self, path: Path, *, asked_for: bool) -> None:
        """Write to ``path``, unless that would replace what nobody was asked about."""
        if path == self._context.document.path:
            self._say(f"{path.name} holds what the exercise is made of: choose another name")
        elif not asked_for and is_there(path):
            self._say(f"{path.name} is there already: choose it to replace it")
        else:
            self.write(path)

    def _choose_list(self) -> None:
        start = str(self._context.settings.export_folder)
        chosen, _ = QFileDialog.getOpenFileName(self, "A list of students", start, LISTS)
        if chosen:
            self._making.open(Path(chosen))

    def _on_made(self, count: int, path: Path) -> None:
        self._context.settings.export_folder = path if count else path.parent
        files = f"{count:,} exercise{'s' if count > 1 else ''} written to {path}"
        self._context.notices.info(files if count else f"{path.name} is written to {path.parent}", TOPIC)
        self.accept()

    def _say(self, why: str) -> None:
        self.outcome.setText(why)
        self.outcome.setVisible(bool(why))
        if why:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, why))

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setHorizontalSpacing(12)
        form.setVerticalSpacing(8)
        form.addRow("&Name", self.name)
        form.addRow("&Task", self.task)
        form.addRow("Fill in", _row(*self.stages.values()))
        form.addRow("", self.why_not)
        form.addRow(_label("&Decimals", self.decimals), _row(self.decimals))
        form.addRow(_label("Show &answers", self.tries), _row(self.tries))
        form.addRow("Numbers", self.numbers)
        form.addRow("&Students", self.students)
        form.addRow("", _row(self.browse))
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addLayout(form)
        column.addWidget(self.outcome)
        column.addStretch(1)
        column.addWidget(self.buttons)


def _label(text: str, of: QWidget) -> QLabel:
    label = QLabel(text)
    label.setBuddy(of)
    return label


def _row(*parts: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(12)
    for part in parts:
        row.addWidget(part)
    row.addStretch(1)
    return row


def _muted() -> QLabel:
    label = QLabel()
    label.setObjectName("muted")
    label.setWordWrap(True)
    return label
