"""Export: which stages, in which form, to where; and how far it has come."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QDesktopServices, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from attn_gui.control.exports import Exports, Order
from attn_gui.control.storage import reason
from attn_gui.files.errors import FileError
from attn_gui.files.export import EXPERIMENT_FILE, METADATA_FILE, Form
from attn_gui.files.export_parts import Window
from attn_gui.files.regular import is_file
from attn_gui.model.errors import readable_bytes
from attn_gui.model.experiment import Experiment
from attn_gui.model.trace import Trace
from attn_gui.views.context import Context
from attn_gui.views.export_choices import ExportChoices
from attn_gui.views.typed_path import typed_path

WIDTH = 560
STEPS = 1000
TOPIC = "export"
EVERY_TOKEN = "Every token is written, also those that the heatmaps hide or merge."
LONGEST_NAME = 60
NOT_IN_NAMES = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')
ENDINGS: dict[Form, str] = {"csv": ".csv", "csv-long": ".csv", "npz": ".npz"}
KINDS: dict[Form, str] = {"csv": "CSV (*.csv)", "csv-long": "CSV (*.csv)", "npz": "NumPy (*.npz)"}


class ExportDialog(QDialog):
    """Stays open beside the window; what it writes is what the window shows."""

    def __init__(
        self, context: Context, exports: Exports, in_sight: Callable[[], Window], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._context = context
        self._exports = exports
        self._written = Path()
        self._fresh = False  # whether what has been written is still all there is to say
        self._agreed: Path | None = None  # where the person has agreed that files are replaced
        self._home = self._document_folder()
        self.setWindowTitle("Export")
        self.setModal(False)
        self.choices = ExportChoices(in_sight, self)
        self.path = QLineEdit()
        self.path.setAccessibleName("Where to write to")
        self.browse = QPushButton("&Browse…")
        self.plan = _wrapped("muted")
        self.progress = QProgressBar()
        self.progress.setRange(0, STEPS)
        self.progress.setAccessibleName("Progress of the export")
        self.cancel = QPushButton("&Cancel")
        self.outcome = _wrapped("outcome")
        self.error = _wrapped("error")
        self.question = _wrapped("question")
        self.replace = QPushButton("&Replace")
        self.keep = QPushButton("&Keep")
        self.open_folder = QPushButton("Open fol&der")
        self.copy = QPushButton("Cop&y")
        self.copy.setToolTip("Put this stage on the clipboard as text for a spreadsheet, every number exact")
        self.export = QPushButton("&Export")
        self.shut = QPushButton("C&lose")
        self._lay_out()
        self._connect()
        self._on_running(exports.running)
        self._say()
        self._withdraw_question()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, super().sizeHint().height())

    def _lay_out(self) -> None:
        choices = self.choices
        to = QLabel("&To")
        to.setBuddy(self.path)
        form = QFormLayout()
        form.setHorizontalSpacing(12)
        form.setVerticalSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow("&What", choices.what)
        form.addRow("&Head", choices.head)
        form.addRow("&Form", choices.form)
        form.addRow("&Part", choices.part)
        form.addRow(to, _row(self.path, self.browse))
        self.plan.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        form.addRow("", self.plan)
        for button in (self.browse, self.cancel, self.replace, self.keep, self.open_folder, self.copy, self.shut):
            button.setAutoDefault(False)
        self.export.setDefault(True)
        below = QWidget()
        below.setMinimumHeight(3 * self.fontMetrics().lineSpacing())
        outcome = QVBoxLayout(below)
        outcome.setContentsMargins(0, 0, 0, 0)
        outcome.addLayout(_row(self.progress, self.cancel))
        outcome.addLayout(_row(self.outcome, self.open_folder))
        outcome.addWidget(self.error)
        outcome.addLayout(_row(self.question, self.replace, self.keep))
        outcome.addStretch(0)
        buttons = _row(self.copy)
        buttons.addStretch(1)
        buttons.addWidget(self.export)
        buttons.addWidget(self.shut)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 12)
        column.setSpacing(8)
        column.addLayout(form)
        column.addWidget(below, 1)
        column.addLayout(buttons)

    def _connect(self) -> None:
        feed, exports = self._context.feed, self._exports
        self.choices.chosen.connect(self._on_choice)
        self.path.textChanged.connect(self._on_path)
        self.browse.clicked.connect(self._browse)
        self.export.clicked.connect(self._export)
        self.replace.clicked.connect(self._replace)
        self.keep.clicked.connect(self._withdraw_question)
        self.copy.clicked.connect(self._copy)
        self.cancel.clicked.connect(exports.cancel)
        self.shut.clicked.connect(self.close)
        self.open_folder.clicked.connect(self._open_folder)
        feed.traced.connect(self._on_trace)
        self._context.document.path_changed.connect(self._on_file)
        feed.busy_changed.connect(self._show_plan)
        self._context.arranging.changed.connect(self._show_plan)
        exports.running_changed.connect(self._on_running)
        exports.progressed.connect(self._on_progress)
        exports.finished.connect(self._on_finished)
        exports.failed.connect(self._on_failed)
        exports.cancelled.connect(self._on_cancelled)
        exports.copied.connect(self._on_copied)
        exports.copy_failed.connect(self._on_copy_failed)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.choices.want(self._context.selection.head)
        if not self._exports.running:
            self._say()
        shown = self._shown()
        if shown is None:
            self._show_plan()
        else:
            self._offer(shown)

    def _on_trace(self, trace: Trace) -> None:
        self._withdraw()
        if self.isVisible():
            self._offer(trace.experiment)

    def _offer(self, experiment: Experiment) -> None:
        before = self.choices.order if self.path.text() and self.choices.what.count() else None
        self.choices.offer(experiment)
        if self.choices.order != before:
            self._suggest()
        else:
            self._show_plan()

    def _on_choice(self) -> None:
        if not self._exports.running:
            self._say()
        self._agreed = None
        self._withdraw_question()
        self._suggest()

    def _on_path(self) -> None:
        self._withdraw()
        self._agreed = None
        self._withdraw_question()
        self._show_plan()

    def _on_file(self) -> None:
        """Suggest the folder of the session that is open now, where that is another one."""
        home = self._document_folder()
        if home != self._home:
            self._home = home
            self.path.clear()
            if self.isVisible():
                self._suggest()

    def _withdraw(self) -> None:
        """What was written is no longer what would be."""
        if self._fresh:
            self._say()

    def _shown(self) -> Experiment | None:
        trace = self._context.feed.trace
        return None if trace is None else trace.experiment

    def _suggest(self) -> None:
        """Put the name that fits the choices in the place of the last one, in the folder that is there."""
        e = self._shown()
        if e is not None:
            self.path.setText(str(self._folder() / self._name(self.choices.order, e)))
            self._show_plan()

    def _name(self, order: Order, e: Experiment) -> str:
        if order.stage is None:
            return file_name_of(self._context.document.title)
        return f"{order.stage}_heads" if order.in_folder(e) else order.files(e)[0][2]

    def _folder(self) -> Path:
        typed = typed_path(self.path.text())
        return typed.parent if typed.is_absolute() else self._first_folder()

    def _first_folder(self) -> Path:
        home = self._home
        return home if home is not None and home.is_dir() else self._context.settings.export_folder

    def _document_folder(self) -> Path | None:
        path = self._context.document.path
        return None if path is None else path.absolute().parent

    def _target(self) -> Path | None:
        """The path to write to, with an ending where a file's name has none; None while there is none."""
        text, e = self.path.text().strip(), self._shown()
        if not text or e is None:
            return None
        path = self._first_folder() / typed_path(text)
        order = self.choices.order
        if path.suffix or path.name in ("", "..") or order.in_folder(e):
            return path
        return path.with_name(path.name + ENDINGS[order.form])

    def _show_plan(self) -> None:
        if not self.isVisible():
            return
        e, target = self._shown(), self._target()
        self.export.setEnabled(target is not None and not self._exports.running)
        self.copy.setEnabled(self.choices.table is not None)
        if e is None or not self.choices.what.count():
            self.plan.setText("There is nothing to export until the first result is there.")
            return
        if self._fresh:
            self.plan.clear()
            return
        order = self.choices.order
        sentences = [_amount(order, e)]
        if target is None:
            sentences.append("Say where to write to.")
        elif in_the_way := _in_the_way(order, e, target):
            sentences.append(_there_already(in_the_way))
        if self._context.arranging.feed.arranged is not None:
            sentences.append(EVERY_TOKEN)
        if self._context.feed.busy or e is not self._context.document.experiment:
            sentences.append("The latest change is not computed yet: what is shown is what is written.")
        self.plan.setText(" ".join(sentences))

    def _browse(self) -> None:
        e, order = self._shown(), self.choices.order
        if e is None:
            return
        target = self._target() or self._folder() / self._name(order, e)
        if order.in_folder(e):
            title = f"Where to put the folder “{target.name}”"
            parent = QFileDialog.getExistingDirectory(self, title, str(target.parent))
            chosen = str(Path(parent) / target.name) if parent else ""
        else:
            chosen, _ = QFileDialog.getSaveFileName(self, "Export to", str(target), KINDS[order.form])
        if chosen:
            self.path.setText(chosen)
            if not order.in_folder(e):
                self._agreed = self._target()  # the file dialog has asked

    def _export(self) -> None:
        target, e, order = self._target(), self._shown(), self.choices.order
        if target is None or e is None or self._exports.running:
            return
        in_the_way = _in_the_way(order, e, target)
        if in_the_way and target != self._agreed:
            self._ask_to_replace(in_the_way)
            return
        self._agreed = None
        self._withdraw_question()
        self._exports.export(order, self._context.document.session.named, target)

    def _ask_to_replace(self, names: list[str]) -> None:
        text = f"{_there_already(names)} Replace {'it' if len(names) == 1 else 'them'}?"
        self._say()
        self.plan.clear()
        self.question.setText(text)
        for part in (self.question, self.replace, self.keep):
            part.show()
        self.keep.setFocus()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def _replace(self) -> None:
        self._agreed = self._target()
        self._export()

    def _withdraw_question(self) -> None:
        for part in (self.question, self.replace, self.keep):
            part.hide()
        self._show_plan()

    def _copy(self) -> None:
        if self.choices.table is not None:
            self._exports.copy(*self.choices.table)

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._written)))

    def _on_running(self, running: bool) -> None:
        self.progress.setValue(0)
        self.progress.setVisible(running)
        self.cancel.setVisible(running)
        if running:
            self._say()
        self._show_plan()

    def _on_progress(self, part: float) -> None:
        self.progress.setValue(int(part * STEPS))

    def _on_finished(self, path: Path) -> None:
        self._written = path if path.is_dir() else path.parent
        self._context.settings.export_folder = path.parent
        folder = self.fontMetrics().elidedText(str(path.parent), Qt.TextElideMode.ElideMiddle, WIDTH // 2)
        self._say(f"{path.name} is written to {folder}.", fresh=True)
        self.open_folder.show()
        self._show_plan()

    def _on_failed(self, error: BaseException) -> None:
        what = f"{error.path.name} was not written" if isinstance(error, FileError) else "The export stopped"
        self._say(error=f"{what}: {reason(error)}")

    def _on_cancelled(self) -> None:
        self._say("Cancelled. No file was left half written.")

    def _on_copied(self) -> None:
        self._say("Copied.")

    def _on_copy_failed(self, error: BaseException) -> None:
        self._say(error=f"Not copied: {error}")

    def _say(self, outcome: str = "", error: str = "", *, fresh: bool = False) -> None:
        """Say how it went, here or, while the dialog is out of sight, in the window."""
        self._fresh = fresh
        self.outcome.setText(outcome)
        self.outcome.setVisible(bool(outcome))
        self.error.setText(error)
        self.error.setVisible(bool(error))
        self.open_folder.hide()
        if (outcome or error) and self.isVisible():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, outcome or error))
        elif error:
            self._context.notices.error(error, TOPIC)
        elif outcome:
            self._context.notices.info(outcome, TOPIC)


def file_name_of(title: str) -> str:
    """``title`` as the name of a file or a folder on any system."""
    return NOT_IN_NAMES.sub("-", title)[:LONGEST_NAME].strip(" .-…") or "experiment"


def _amount(order: Order, e: Experiment) -> str:
    files = len(order.files(e)) + (2 if order.stage is None else 0)
    what = f"{files:,} files in a folder" if order.in_folder(e) else "1 file"
    cells = order.cells(e)
    return f"{what}, {cells:,} {'number' if cells == 1 else 'numbers'}, about {readable_bytes(order.bytes(e))}."


def _in_the_way(order: Order, e: Experiment, target: Path) -> list[str]:
    """The names of the files that writing ``order`` to ``target`` would replace."""
    if not order.in_folder(e):
        return [target.name] if is_file(target) else []
    names = [name for _, _, name in order.files(e)]
    if order.stage is None:
        names = [EXPERIMENT_FILE, METADATA_FILE, *names]
    return [name for name in names if is_file(target / name)]


def _there_already(names: list[str]) -> str:
    return f"{names[0]} is there already." if len(names) == 1 else f"{len(names):,} of these files are there already."


def _wrapped(style: str) -> QLabel:
    label = QLabel()
    label.setObjectName(style)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setAlignment(Qt.AlignmentFlag.AlignTop)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def _row(*parts: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(8)
    for part in parts:
        row.addWidget(part, 1 if isinstance(part, QLineEdit | QProgressBar | QLabel) else 0)
    return row
