"""LostFileBox: a session whose file of tensors is not where it was, and the question where it is now."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QPushButton, QWidget

from attn_gui.files.lost import Located, LostFile
from attn_gui.views.buttons import give_letters

LOCATED = "Files that lie in one folder are found together. The tensors are compared with those of the session first."


class LostFileBox:
    """``box`` is the question that stands in the window, None without one."""

    def __init__(self, parent: QWidget) -> None:
        self._parent = parent
        self.box: QMessageBox | None = None
        self.locate: QPushButton | None = None

    def ask(self, name: str, near: Path, error: LostFile, open_again: Callable[[Located], None]) -> None:
        """Say what is missing of the session ``name``, and ask where it is, first in the folder ``near``.

        ``open_again`` is called with where its files are, once a person has said it.
        """
        box = QMessageBox(self._parent)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(f"“{name}” cannot be opened without “{error.name}”")
        box.setInformativeText(f"{error.told}.\n\n{LOCATED}")
        self.locate = box.addButton(f"&Locate {error.name.replace('&', '&&')}…", QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(self.locate)
        give_letters(box)
        locate = self.locate
        box.buttonClicked.connect(lambda button: self._choose(near, error, open_again) if button is locate else None)
        box.finished.connect(lambda result: self._forget(box))
        self.box = box
        box.open()

    def _choose(self, near: Path, error: LostFile, open_again: Callable[[Located], None]) -> None:
        title, start = f"Where is {error.name}?", str(near)
        if error.is_folder:
            chosen = QFileDialog.getExistingDirectory(self._parent, title, start)
        else:
            chosen, _ = QFileDialog.getOpenFileName(self._parent, title, start, f"{error.name} (*);;All files (*)")
        if chosen:
            open_again({**error.located, error.lost: Path(chosen)})

    def _forget(self, box: QMessageBox) -> None:
        if self.box is box:
            self.box = self.locate = None
