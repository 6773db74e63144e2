"""TokenPage: the names of the queries, and of the keys where they have names of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QFileDialog, QGridLayout, QLabel, QWidget

from attn_gui.control.token_reading import KEYS, QUERIES, TokenReading
from attn_gui.files.tensors.token_lists import TokenList
from attn_gui.model.tensors.checks import sizes
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.reading import Reading
from attn_gui.views.tensors.token_box import TokenBox

FILTER = "Lists of tokens (*.txt *.json *.csv *.tsv);;All files (*)"


class TokenPage(QWidget):
    """``changed(reading)`` comes with other names; ``waiting_changed`` when what is typed is being read, or was."""

    changed = Signal(object)
    waiting_changed = Signal()

    def __init__(self, reading: TokenReading, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._token_reading = reading
        self._contents: Contents | None = None
        self._reading: Reading | None = None
        self._folder = Path.home()
        self._files: dict[str, Path] = {}  # those that are being read
        # those that were read, and the names, None where there are none
        self._sources: dict[str, tuple[Path, tuple[str, ...] | None]] = {}
        self.queries = TokenBox(QUERIES, "(&1)")
        # in the order that Tab goes
        self.own_keys = QCheckBox("Ke&ys have names of their own")
        self.own_keys.setToolTip("As in cross-attention; otherwise each key is called as its query")
        self.keys = TokenBox(KEYS, "(&2)")
        grid = QGridLayout(self)
        grid.setContentsMargins(12, 12, 12, 12)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(8)
        grid.addWidget(QLabel("Queries"), 0, 0)
        grid.addWidget(self.own_keys, 0, 1)
        grid.addWidget(self.queries, 1, 0)
        grid.addWidget(self.keys, 1, 1)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        for which, box in self.boxes.items():
            box.edited.connect(lambda text, which=which: self._split(which, text))
            box.changed.connect(lambda which=which: self._on_box(which))
            box.file_wanted.connect(lambda which=which: self._choose(which))
        self.own_keys.toggled.connect(self._on_own)
        reading.found.connect(self._on_found)
        reading.refused.connect(self._on_refused)
        reading.tokenizer.connect(self._on_tokenizer)

    @property
    def boxes(self) -> dict[str, TokenBox]:
        return {QUERIES: self.queries, KEYS: self.keys}

    @property
    def pending(self) -> bool:
        """Whether names are being read."""
        return self.queries.pending or (self.own_keys.isChecked() and self.keys.pending)

    @property
    def fault(self) -> str:
        """Why what stands here is no list of names, or ""."""
        return self.queries.fault or (self.keys.fault if self.own_keys.isChecked() else "")

    @property
    def special(self) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
        """Which of the queries and of the keys are special tokens; empty where nobody says."""
        return self.queries.special, self.keys.special if self.own_keys.isChecked() else ()

    def begin(self, contents: Contents, reading: Reading, folder: Path) -> None:
        """Start on another file."""
        self._contents, self._reading, self._folder = contents, reading, folder
        self._sources.clear()
        n_q, n_k = _counts(contents, reading)
        for which in self.boxes:
            self._token_reading.forget(which)
        self.queries.begin(contents.words, reading.tokens, n_q)
        self.keys.begin(contents.words, reading.key_tokens, n_k)
        with QSignalBlocker(self.own_keys):
            self.own_keys.setChecked(reading.key_tokens is not None)
        self.keys.setEnabled(self.own_keys.isChecked())

    def show_reading(self, contents: Contents, reading: Reading) -> None:
        """Show the names that ``reading`` has, and how many it needs."""
        before, self._reading = self._reading, reading
        n_q, n_k = _counts(contents, reading)
        self.queries.show_tokens(self.queries.tokens if self.queries.pending else reading.tokens, n_q)
        if reading.key_tokens is not None and not self.own_keys.isChecked():
            with QSignalBlocker(self.own_keys):
                self.own_keys.setChecked(True)
            self.keys.setEnabled(True)
        if not self.keys.pending:
            self.keys.show_tokens(reading.key_tokens if self.own_keys.isChecked() else self.keys.tokens, n_k)

        if before is not None and before.batch != reading.batch:
            self._read_again()

    def _read_again(self) -> None:
        """Of lists for each item of the batch have those read that are of the one that is opened now."""
        for which, box in self.boxes.items():
            path, tokens = self._sources.get(which, (None, None))
            if path is not None and box.tokens == tokens:
                box.wait()
                self.open_file(which, path)
            elif box.tokenizer is None and box.editor.toPlainText().strip():
                box.wait()
                self._split(which, box.editor.toPlainText())

    def _split(self, which: str, text: str) -> None:
        item = 0 if self._reading is None else self._reading.batch
        self._token_reading.split(which, text, self.boxes[which].tokenizer, item)

    def _on_own(self, own: bool) -> None:
        self.keys.setEnabled(own)
        self._on_box(KEYS)

    def _on_box(self, which: str) -> None:
        if self._reading is not None:
            keys = self.keys.tokens if self.own_keys.isChecked() else None
            names = replace(self._reading, tokens=self.queries.tokens, key_tokens=keys)
            if (names.tokens, names.key_tokens) != (self._reading.tokens, self._reading.key_tokens):
                self._reading = names
                self.changed.emit(names)
        self.waiting_changed.emit()

    def _choose(self, which: str) -> None:
        name, _ = QFileDialog.getOpenFileName(self.window(), f"Names of {which}", str(self._folder), FILTER)
        if name:
            self.open_file(which, Path(name))

    def open_file(self, which: str, path: Path) -> None:
        """Take the names of ``which`` from a file."""
        if self._contents is not None and self._reading is not None:
            self._files[which] = path
            self._token_reading.open(which, path, self._contents, self._reading)

    def _on_found(self, which: str, found: TokenList) -> None:
        box = self.boxes[which]
        from_file = self._keep_source(which, found.tokens)
        (box.take_file if from_file else box.take)(found)

    def _keep_source(self, which: str, tokens: tuple[str, ...] | None) -> bool:
        """Whether what was read is a file, of which is kept that it gave ``tokens``."""
        path = self._files.pop(which, None)
        if path is None:
            self._sources.pop(which, None)
        else:
            self._sources[which] = path, tokens
        return path is not None

    def _on_tokenizer(self, which: str, path: Path) -> None:
        self._files.pop(which, None)
        self.boxes[which].use_tokenizer(path)

    def _on_refused(self, which: str, fault: str) -> None:
        self._keep_source(which, None)
        self.boxes[which].refuse(fault)


def _counts(contents: Contents, reading: Reading) -> tuple[int, int]:
    """How many queries and keys there are; 0 where they differ or nothing says."""
    counts = list(sizes(contents, reading).values())
    n_q, n_k = {each.n_q for each in counts}, {each.n_k for each in counts}
    return (n_q.pop() if len(n_q) == 1 else 0), (n_k.pop() if len(n_k) == 1 else 0)
