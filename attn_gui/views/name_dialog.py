"""NameDialog: the name and the note of the experiment, as a person reads them."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from attn_gui.model.session import NamedExperiment, Session
from attn_gui.views.buttons import give_letters
from attn_gui.views.context import Context

WIDTH = 440
LONGEST_NAME = 120


class NameDialog(QDialog):
    """Stands beside the window, not in front of it; both fields change in one undo step."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.setWindowTitle("Name and note")
        self.setMinimumWidth(WIDTH)
        self.name = QLineEdit()
        self.name.setAccessibleName("Name")
        self.name.setMaxLength(LONGEST_NAME)
        self.note = QPlainTextEdit()
        self.note.setAccessibleName("Note")
        self.note.setPlaceholderText("What there is to see here")
        self.note.setTabChangesFocus(True)
        self.note.setFixedHeight(5 * self.fontMetrics().lineSpacing() + 12)
        self.reason = QLabel("An experiment needs a name")
        self.reason.setObjectName("error")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        give_letters(self.buttons)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        form = QFormLayout()
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        form.setVerticalSpacing(4)
        form.addRow("&Name", self.name)
        form.addRow("No&te", self.note)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        layout.addLayout(form)
        layout.addWidget(self.reason)
        layout.addWidget(self.buttons)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.name.textChanged.connect(lambda text: self._judge())
        context.document.changed.connect(self._on_changed)
        self._fill(context.document.session.named)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fill(self._context.document.session.named)
        self.name.setFocus()
        self.name.selectAll()

    def accept(self) -> None:
        """Put the name and the note in force, if they differ."""
        document = self._context.document
        named = document.session.named
        changed = replace(named, name=self.name.text().strip(), note=self.note.toPlainText().strip())
        if (changed.name, changed.note) != (named.name, named.note):
            document.apply_session("Name and note", document.session.with_current(changed))
        super().accept()

    def _on_changed(self, before: Session, after: Session) -> None:
        """What is typed stays, unless it is about another experiment now."""
        if (before.named.name, before.named.note) != (after.named.name, after.named.note):
            self._fill(after.named)

    def _fill(self, named: NamedExperiment) -> None:
        self.name.setText(named.name)
        self.note.setPlainText(named.note)
        self._judge()

    def _judge(self) -> None:
        nameless = not self.name.text().strip()
        self.ok.setEnabled(not nameless)
        self.reason.setVisible(nameless)
