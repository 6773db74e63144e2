"""FileRow: the file that is looked into, and asking for another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QWidget

from attn_gui.control.opening import Looked
from attn_gui.control.settings import Settings
from attn_gui.files.summary import printable
from attn_gui.files.tensors import ENDINGS
from attn_gui.views.elided_label import ElidedLabel
from attn_gui.views.tensors.words import counted, size_text

TITLE = "Open tensors"
FILTER = f"Tensors ({' '.join(f'*{ending}' for ending in ENDINGS)});;All files (*)"
# paths in the tool tip
LISTED = 20


class FileRow(QWidget):
    """``chosen(paths)`` comes with a file, several of one folder, or a folder."""

    chosen = Signal(object)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._paths: tuple[Path, ...] = ()
        self.file = ElidedLabel("No file yet")
        self.file.setAccessibleName("File")
        self.browse = QPushButton("&Browse…")
        self.browse.setToolTip("A file, or several of one folder")
        self.folder = QPushButton("&Folder…")
        self.folder.setToolTip("A folder with a file a layer")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.file, 1)
        for button in (self.browse, self.folder):
            button.setAutoDefault(False)
            row.addWidget(button)
        self.browse.clicked.connect(self.choose)
        self.folder.clicked.connect(self.choose_folder)

    @property
    def start(self) -> Path:
        """The folder to look in first."""
        recent = self._settings.recent
        return self._paths[0].parent if self._paths else recent[0].parent if recent else Path.home()

    def choose(self) -> None:
        """Ask for a file, or several of one folder."""
        names, _ = QFileDialog.getOpenFileNames(self._over(), TITLE, str(self.start), FILTER)
        if names:
            self.chosen.emit(tuple(map(Path, names)))

    def choose_folder(self) -> None:
        """Ask for a folder with a file a layer."""
        name = QFileDialog.getExistingDirectory(self._over(), "Open a folder of tensors", str(self.start))
        if name:
            self.chosen.emit((Path(name),))

    def show_file(self, paths: Sequence[Path], looked: Looked | None) -> None:
        """Show ``paths``, and how much is in them once they were looked into."""
        self._paths = tuple(paths)
        if not self._paths:
            return
        first, several = self._paths[0], len(self._paths)
        name = printable(first.name) if several == 1 else f"{printable(first.name)} and {several - 1:,} more"
        facts = [] if looked is None else [counted(len(looked.contents.tensors), "tensor"), size_text(looked.contents)]
        if looked is not None and len(looked.contents.files) > 1:
            facts.insert(0, counted(len(looked.contents.files), "file"))
        self.file.setText("  –  ".join([name, ", ".join(facts)] if facts else [name]))
        self.file.explain("\n".join(printable(str(path)) for path in self._paths[:LISTED]))

    def _over(self) -> QWidget:
        """What a question stands in front of: the window, while the dialog is out of sight."""
        window = self.window()
        return window if window.isVisible() else window.parentWidget() or window
