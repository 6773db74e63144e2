"""TokenBox: the names of the queries, or of the keys, typed, pasted or from a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from attn_gui.files.summary import printable
from attn_gui.files.tensors.token_lists import TokenList
from attn_gui.views.tensors.words import counted

# after the last key: a paste is read at once, typing not with every letter
PATIENCE_MS = 200
HINT = "One name a line; or in one line, between blanks, commas or tabs; or a JSON list. Left empty they are numbered."
AS_QUERIES = "Each key has the name of its query. Where there are not as many, they are numbered."
TEXT = "The text that {tokenizer} splits into tokens"
FROM_FILE = "Names in the file"


class TokenBox(QWidget):
    """``edited(text)`` asks for the text to be read, ``file_wanted`` for a file; ``changed`` tells of other names.

    tokens: the names, None where they are numbered. special: which are special tokens, empty where no tokenizer says.
    pending: whether a text is being read. fault: why what stands here is no list of names, or "". tokenizer: what
    splits the text; None takes it as a list.
    """

    edited = Signal(str)
    file_wanted = Signal()
    changed = Signal()

    def __init__(self, what: str, letter: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tokens: tuple[str, ...] | None = None
        self.special: tuple[bool, ...] = ()
        self.pending = False
        self.fault = ""
        self.tokenizer: Path | None = None
        self._expected = 0
        self._words: Mapping[str, tuple[str, ...]] = {}
        self.words = QComboBox()
        self.words.setAccessibleName(f"Names in the file for {what}")
        self.editor = QPlainTextEdit()
        self.editor.setAccessibleName(f"Names of {what}")
        self.editor.setTabChangesFocus(True)
        self.editor.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.note = QLabel()
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setWordWrap(True)
        self.open = QPushButton(f"From a file {letter}…")
        self.open.setAccessibleName(f"Names of {what} from a file")
        self.open.setToolTip("A list as text or JSON, or a tokenizer.json that splits the text above")
        self.open.setAutoDefault(False)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.note, 1)
        row.addWidget(self.open)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.words)
        column.addWidget(self.editor, 1)
        column.addLayout(row)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PATIENCE_MS)
        self._timer.timeout.connect(lambda: self.edited.emit(self.editor.toPlainText()))
        self.editor.textChanged.connect(self._on_text)
        self.open.clicked.connect(self.file_wanted)
        self.words.activated.connect(self._take_words)
        self.begin({}, None, 0)

    def begin(self, words: Mapping[str, tuple[str, ...]], tokens: tuple[str, ...] | None, expected: int) -> None:
        """Start on another file, which lists ``words`` and is proposed to be read with ``tokens``."""
        self._words, self.tokenizer = words, None
        with QSignalBlocker(self.words):
            self.words.clear()
            self.words.addItem(FROM_FILE, None)
            for name, listed in words.items():
                self.words.addItem(f"{printable(name)}, {counted(len(listed), 'name')}", name)
            chosen = next((name for name, listed in words.items() if listed == tokens), None)
            self.words.setCurrentIndex(self.words.findData(chosen))
        self.words.setVisible(bool(words))
        self._timer.stop()
        with QSignalBlocker(self.editor):
            self.editor.clear()
        self.tokens, self.pending, self.fault = None, False, ""
        self.show_tokens(tokens, expected)

    def show_tokens(self, tokens: tuple[str, ...] | None, expected: int) -> None:
        """Show ``tokens``, of which ``expected`` are needed; 0: as many as there are."""
        self._expected = expected
        if tokens != self.tokens:
            self._timer.stop()
            with QSignalBlocker(self.editor):
                self.editor.setPlainText("" if tokens is None else as_text(tokens))
            self.tokens, self.special, self.pending, self.fault = tokens, (), False, ""
        self._show()

    def take(self, found: TokenList) -> None:
        """Hold the names that were found in the text, or in a file."""
        self.tokens, self.special, self.pending, self.fault = found.tokens, found.special, False, ""
        if not self.editor.toPlainText().strip():
            with QSignalBlocker(self.editor):
                self.editor.setPlainText(as_text(found.tokens))
        self._show()
        self.changed.emit()

    def take_file(self, found: TokenList) -> None:
        """Hold the names that a file lists in place of whatever stands here."""
        self.tokenizer = None
        with QSignalBlocker(self.editor):
            self.editor.clear()
        self.take(found)

    def wait(self) -> None:
        """What stands here is being read once more."""
        self.pending = True
        self._show()

    def refuse(self, fault: str) -> None:
        """What stands here, and stays, is no list of names."""
        self.tokens, self.special, self.pending, self.fault = None, (), False, fault
        self._show()
        self.changed.emit()

    def use_tokenizer(self, path: Path) -> None:
        """Have ``path`` split what stands here."""
        self.tokenizer = path
        self._on_text()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.EnabledChange:
            self._show()

    def _take_words(self, index: int) -> None:
        name = self.words.itemData(index)
        if name is not None:
            self.take_file(TokenList(self._words[name]))

    def _on_text(self) -> None:
        self.tokens, self.special, self.fault = None, (), ""
        with QSignalBlocker(self.words):
            self.words.setCurrentIndex(0)
        self.pending = bool(self.editor.toPlainText().strip())
        if self.pending:
            self._timer.start()
        else:
            self._timer.stop()
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        tokenizer = "" if self.tokenizer is None else printable(self.tokenizer.name)
        hint = TEXT.format(tokenizer=tokenizer) if tokenizer else HINT
        self.editor.setPlaceholderText(hint if self.isEnabled() else AS_QUERIES)
        expected = self._expected
        fault = bool(self.fault)
        if not self.isEnabled():
            text = ""
        elif self.fault:
            text = f"⚠ {self.fault}"
        elif self.pending:
            text = "Reading…"
        elif self.tokens is None:
            text = f"Numbered from 1 to {expected:,}" if expected else "Numbered"
        elif expected and len(self.tokens) != expected:
            text, fault = f"⚠ {counted(len(self.tokens), 'name')}; {expected:,} needed", True
        else:
            text = counted(len(self.tokens), "name") + (f", split by {tokenizer}" if tokenizer else "")
        self.note.setObjectName("error" if fault else "muted")
        self.note.setText(text)
        self.editor.setAccessibleDescription(text)
        self.note.style().unpolish(self.note)
        self.note.style().polish(self.note)


def as_text(tokens: tuple[str, ...]) -> str:
    """``tokens`` as a text that is read back as the same: one a line, or as JSON where that would not do."""
    lines = "\n".join(tokens)
    plain = len(tokens) > 1 and all(token.strip() == token and token.isprintable() for token in tokens)
    return lines if plain and not lines.startswith(("[", "{", '"')) else json.dumps(list(tokens), ensure_ascii=False)
