"""GivenPage: one stage of somebody else's computation, pasted or from a file."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from attn_gui.model.question import Numbers

# after the last key: a paste is read at once, typing not with every letter
PATIENCE_MS = 200
LINES = 7
HINT = (
    "Paste {what}: one line a query, one column a {column}, with tabs, commas or blanks between them, "
    "or what NumPy or PyTorch prints. Several heads: one below the other, with an empty line between them."
)


class GivenPage(QWidget):
    """``edited(text)`` asks for the text to be read; ``changed`` tells of numbers that are there, or no more.

    numbers: what is given, None where nothing is or where it cannot be read. pending: whether a text is being read.
    fault: why what stands here cannot be used, or "".
    """

    edited = Signal(str)
    changed = Signal()

    def __init__(self, what: str, column: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.numbers: Numbers | None = None
        self.pending = False
        self.fault = ""
        self._hint = HINT.format(what=what, column=column)
        self._file = ""
        self.editor = QPlainTextEdit()
        self.editor.setAccessibleName(f"The other program's {what}")
        self.editor.setTabChangesFocus(True)
        self.editor.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.editor.setMinimumHeight(LINES * self.fontMetrics().lineSpacing() + 12)
        self.editor.setPlaceholderText(self._hint)
        self.note = QLabel()
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setWordWrap(True)
        self.open = QPushButton("From a &file…")
        self.open.setToolTip("A CSV or .npy file with these numbers, or .npz or .safetensors with names")
        self.clear = QPushButton("Clea&r")
        for button in (self.open, self.clear):
            button.setAutoDefault(False)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.note, 1)
        row.addWidget(self.open)
        row.addWidget(self.clear)
        column_of_parts = QVBoxLayout(self)
        column_of_parts.setContentsMargins(12, 12, 12, 12)
        column_of_parts.setSpacing(8)
        column_of_parts.addWidget(self.editor, 1)
        column_of_parts.addLayout(row)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PATIENCE_MS)
        self._timer.timeout.connect(lambda: self.edited.emit(self.editor.toPlainText()))
        self.editor.textChanged.connect(self._on_text)
        self.clear.clicked.connect(self.empty)
        self._show()

    def take(self, numbers: Numbers, file: str = "") -> None:
        """Hold ``numbers``, from the file of that name or from the text that stands here."""
        self.numbers, self.pending, self.fault, self._file = numbers, False, "", file
        if file:
            self._timer.stop()
            with QSignalBlocker(self.editor):
                self.editor.clear()
        self._show()
        self.changed.emit()

    def refuse(self, fault: str) -> None:
        """What stands here cannot be used, and stays."""
        self.numbers, self.pending, self.fault = None, False, fault
        self._show()
        self.changed.emit()

    def empty(self) -> None:
        """Give nothing."""
        self._timer.stop()
        self.numbers, self.pending, self.fault, self._file = None, False, "", ""
        with QSignalBlocker(self.editor):
            self.editor.clear()
        self._show()
        self.changed.emit()

    def _on_text(self) -> None:
        if not self.editor.toPlainText().strip():
            self.empty()
            return
        self.numbers, self.pending, self.fault, self._file = None, True, "", ""
        self._timer.start()
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        self.editor.setReadOnly(bool(self._file))
        self.editor.setPlaceholderText(f"From {self._file}. Clear to paste instead." if self._file else self._hint)
        self.clear.setEnabled(bool(self._file or self.fault or self.editor.toPlainText()))
        if self.fault:
            text = f"⚠ {self.fault}"
        elif self.numbers is not None:
            text = described(self.numbers)
        else:
            text = "Reading…" if self.pending else ""
        self.note.setObjectName("error" if self.fault else "muted")
        self.note.setText(text)
        self.note.style().unpolish(self.note)
        self.note.style().polish(self.note)


def described(numbers: Numbers) -> str:
    """The shape of ``numbers`` in words."""
    *tables, rows, columns = (1, *numbers.shape)[-3:]
    count = f"{tables[0]} tables of " if tables[0] > 1 else ""
    return f"{count}{rows:,} × {columns:,} numbers"
