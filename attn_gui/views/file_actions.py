"""Open, save and export, with the dialogs that ask where."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QFileDialog, QMenu

from attn_gui.control.document import Unsaved
from attn_gui.views import half_typed

if TYPE_CHECKING:
    from attn_gui.views.export_dialog import ExportDialog
    from attn_gui.views.main_window import MainWindow
    from attn_gui.views.name_dialog import NameDialog
    from attn_gui.views.weights_dialog import WeightsDialog

SESSIONS = "attn_gui sessions (*.attn)"
OPENABLE = "Sessions and experiments (*.attn *.json);;All files (*)"


class FileActions:
    """The actions of the File menu that deal with sessions and exports."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._context = window.context
        self._storage = window.services.storage
        self.dialog: ExportDialog | None = None
        self.names: NameDialog | None = None
        self.weights: WeightsDialog | None = None
        keys = QKeySequence.StandardKey
        self.new = self._action("&New", keys.New, "Start anew on the first example", window.new_session)
        self.open = self._action("&Open…", keys.Open, "Open a session", self._choose_and_open)
        self.open_weights = self._action(
            "Open &weights…", "", "Open a state_dict (.pt, .pth, .safetensors) as weights", self._choose_weights
        )
        self.recent = QMenu("Open &recent", window)
        self.recent.aboutToShow.connect(self._fill_recent)
        self.save = self._action("&Save", keys.Save, "Save the session", self._save)
        self.save_as = self._action("Save &as…", keys.SaveAs, "Save the session under another name", self._save_as)
        self.describe = self._action(
            "Na&me and note…", "", "Say what this experiment is called and shows", self._show_names
        )
        self.export = self._action("&Export…", "Ctrl+E", "Write stages as CSV or NPZ", self._show_export)

    def save_and_wait(self, left: Unsaved | None = None) -> bool:
        """Save what is shown, or what was ``left`` unsaved before it; False where the person gave up or it failed."""
        document = self._context.document
        work = Unsaved(document.session, document.path) if left is None else left
        path = work.path or self._ask_where(work)
        return path is not None and self._storage.save_and_wait(path, None if left is None else left.session)

    def _action(
        self, text: str, shortcut: QKeySequence.StandardKey | str, tip: str, slot: Callable[[], object]
    ) -> QAction:
        """What is half typed is committed first: it belongs to what is saved, left or written."""
        action = QAction(text, self._window)
        action.setShortcut(QKeySequence(shortcut))
        action.setStatusTip(tip)
        action.triggered.connect(lambda: slot() if half_typed.commit() else None)
        return action

    def _choose_and_open(self) -> None:
        if not self._window.may_discard():
            return
        name, _ = QFileDialog.getOpenFileName(self._window, "Open a session", str(self._folder()), OPENABLE)
        if name:
            self._storage.open(Path(name))

    def _fill_recent(self) -> None:
        self.recent.clear()
        paths = self._context.settings.recent
        for path in paths:
            action = self.recent.addAction(f"{path.name}  –  {path.parent}")
            action.triggered.connect(lambda checked=False, path=path: self._open_recent(path))
        if paths:
            self.recent.addSeparator()
            self.recent.addAction("Clear this list").triggered.connect(self._context.settings.clear_recent)
        else:
            self.recent.addAction("Nothing opened or saved yet").setEnabled(False)

    def _open_recent(self, path: Path) -> None:
        if self._window.may_discard():
            self._storage.open(path)

    def _save(self) -> None:
        path = self._context.document.path
        if path is None or path.suffix != ".attn":
            self._save_as()
        else:
            self._storage.save(path)

    def _save_as(self) -> None:
        document = self._context.document
        path = self._ask_where(Unsaved(document.session, document.path))
        if path is not None:
            self._storage.save(path)

    def _ask_where(self, work: Unsaved) -> Path | None:
        from attn_gui.views.export_dialog import file_name_of

        start = work.path or self._folder() / f"{file_name_of(work.session.named.name)}.attn"
        chosen, _ = QFileDialog.getSaveFileName(self._window, "Save the session", str(start), SESSIONS)
        if not chosen:
            return None
        path = Path(chosen)
        return path if path.suffix == ".attn" else path.with_name(path.name + ".attn")

    def _folder(self) -> Path:
        recent = self._context.settings.recent
        return recent[0].parent if recent else Path.home()

    def show_weights(self, path: Path) -> None:
        """Look into a file of weights."""
        self._weights_dialog().open_file(path)

    def _choose_weights(self) -> None:
        self._weights_dialog().choose()

    def _weights_dialog(self) -> WeightsDialog:
        if self.weights is None:
            from attn_gui.views.weights_dialog import WeightsDialog

            self.weights = WeightsDialog(self._context, self._window)
        return self.weights

    def _show_names(self) -> None:
        if self.names is None:
            from attn_gui.views.name_dialog import NameDialog

            self.names = NameDialog(self._context, self._window)
        self.names.show()
        self.names.raise_()
        self.names.activateWindow()

    def _show_export(self) -> None:
        if self.dialog is None:
            # imported when first needed, like every dialog, so that the first window does not wait for it
            from attn_gui.views.export_dialog import ExportDialog

            self.dialog = ExportDialog(
                self._context, self._window.services.exports, self._window.formula.in_sight, self._window
            )
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()
