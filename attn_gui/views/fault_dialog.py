"""What is said when something happened that should not have: the report, and that the session goes on."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QFontDatabase, QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from attn_gui.control.fault_reports import Report
from attn_gui.control.faults import Faults
from attn_gui.control.storage import reason
from attn_gui.files.atomic import write_bytes
from attn_gui.files.errors import FileError
from attn_gui.views.context import Context

TITLE = "Something went wrong; your work is kept"
EARLIER = "attn_gui crashed before this start"
WIDTH = 560
DETAILS_HEIGHT = 260


class FaultDialog(QDialog):
    """Comes up by itself with each report, beside the window and without stopping it; several are read together."""

    def __init__(self, context: Context, faults: Faults, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._reports: list[Report] = []
        self.setWindowTitle("attn_gui")
        self.setModal(False)
        self.setAccessibleName(TITLE)
        self.title = QLabel(TITLE)
        self.title.setObjectName("title")
        self.text = _wrapped()
        self.outcome = _wrapped()
        self.outcome.setObjectName("muted")
        self.outcome.setMinimumHeight(self.fontMetrics().lineSpacing())
        self.show_details = QPushButton("Show &details")
        self.show_details.setCheckable(True)
        self.details = QPlainTextEdit()
        self.details.setReadOnly(True)
        self.details.setTabChangesFocus(True)
        self.details.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.details.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.details.setAccessibleName("Details of the fault")
        self.details.setMinimumHeight(DETAILS_HEIGHT)
        self.details.hide()
        self.copy = QPushButton("&Copy details")
        self.save = QPushButton("&Save report…")
        self.go_on = QPushButton("C&ontinue")
        self.go_on.setDefault(True)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for button in (self.show_details, self.copy, self.save):
            button.setAutoDefault(False)
            buttons.addWidget(button)
        buttons.insertStretch(1, 1)
        buttons.addWidget(self.go_on)
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 12)
        column.setSpacing(8)
        column.addWidget(self.title)
        column.addWidget(self.text)
        column.addWidget(self.details, 1)
        column.addWidget(self.outcome)
        column.addStretch(0)
        column.addLayout(buttons)
        self.show_details.toggled.connect(self._show_details)
        self.copy.clicked.connect(self._copy)
        self.save.clicked.connect(self._choose_and_save)
        self.go_on.clicked.connect(self.accept)
        self.finished.connect(self._forget)
        faults.reported.connect(self._on_report)

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, self._column.totalHeightForWidth(WIDTH))

    def show_reports(self, reports: tuple[Report, ...]) -> None:
        """Show ``reports`` of runs before this one."""
        self._forget()
        self._reports += reports[:-1]
        self._on_report(reports[-1])
        self.show_details.setChecked(True)

    def _on_report(self, report: Report) -> None:
        self._reports.append(report)
        title = EARLIER if report.earlier else TITLE
        self.title.setText(title)
        self.setAccessibleName(title)
        self.text.setText(_words(self._reports))
        self.details.setPlainText("\n".join(r.text for r in self._reports))
        self.outcome.clear()
        self.adjustSize()
        self.show()
        self.raise_()
        self.go_on.setFocus()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, title))

    def _show_details(self, on: bool) -> None:
        self.details.setVisible(on)
        self.show_details.setText("Hide &details" if on else "Show &details")
        self.adjustSize()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.details.toPlainText())
        self._say("The details are on the clipboard.")

    def _choose_and_save(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Save the report", str(self._suggestion()), "Text (*.txt)")
        if name:
            try:
                write_bytes(name, self.details.toPlainText().encode("utf-8", "backslashreplace"))
            except FileError as error:
                self._say(f"{Path(name).name} was not saved: {reason(error)}")
            else:
                self._say(f"Saved as {name}")

    def _suggestion(self) -> Path:
        written = [report.path for report in self._reports if report.path is not None]
        return Path.home() / (written[-1].name if written else "attn_gui-report.txt")

    def _say(self, text: str) -> None:
        self.outcome.setText(text)
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def _forget(self) -> None:
        self._reports.clear()
        self.show_details.setChecked(False)


def _wrapped() -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def _words(reports: list[Report]) -> str:
    last = reports[-1]
    if last.earlier:
        times = f", {len(reports)} times" if len(reports) > 1 else ""
        where = f"The report is in {last.path}" if last.path is not None else "The report could not be kept; copy it"
        return (
            f"A library that attn_gui uses ended the program at once{times}, the last time with “{last.summary}”. "
            "Work that was not saved, if there was any, is offered above the tables.\n\n"
            f"{where}. Nothing is sent anywhere, and it holds nothing that you typed."
        )
    count = f"{len(reports)} faults, the last: " if len(reports) > 1 else ""
    where = (
        f"A report is in {last.path}; nothing is sent anywhere, and it holds nothing that you typed."
        if last.path is not None
        else "A report could not be written; copy or save it from here."
    )
    return (
        f"attn_gui met a fault of its own and goes on ({count}{last.summary}). Your session is as it was, and you can "
        f"go on working or save it.\n\n{where}"
    )
