"""Open, save and export, with the dialogs that ask where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox

from attn_gui.control.arriving import Arriving
from attn_gui.control.document import Unsaved
from attn_gui.control.recovery import Left
from attn_gui.files.lost import Located, LostFile
from attn_gui.model.embedding import bytes_elsewhere, embedded
from attn_gui.model.errors import readable_bytes
from attn_gui.model.session_title import session_title
from attn_gui.views import half_typed
from attn_gui.views.buttons import give_letters
from attn_gui.views.lost_file import LostFileBox

if TYPE_CHECKING:
    from attn_gui.views.export_dialog import ExportDialog
    from attn_gui.views.main_window import MainWindow
    from attn_gui.views.name_dialog import NameDialog
    from attn_gui.views.tensors.dialog import TensorsDialog
    from attn_gui.views.weights_dialog import WeightsDialog

SESSIONS = "attn_gui sessions (*.attn)"
OPENABLE = "Sessions and experiments (*.attn *.json);;All files (*)"


class FileActions:
    """The actions of the File menu that deal with sessions and exports."""

    def __init__(self, window: MainWindow, begin: Callable[[], None]) -> None:
        """``begin`` is called once another document is shown."""
        self._window = window
        self._begin = begin
        self._context = window.context
        self._storage = window.services.storage
        self.dialog: ExportDialog | None = None
        self.names: NameDialog | None = None
        self.weights: WeightsDialog | None = None
        self.tensors: TensorsDialog | None = None
        self.arriving = Arriving(window.context.worker, window.context.notices, window)
        self.arriving.session.connect(lambda paths: self._open_session(paths[0]))
        self.arriving.weights.connect(lambda paths: self.show_weights(paths[0]))
        self.arriving.tensors.connect(self.show_tensors)
        self.arriving.model.connect(lambda paths: self._show_model(paths[0]))
        self.lost = LostFileBox(window)
        self._storage.lost.connect(self._on_lost)
        window.services.recovery.lost.connect(self._on_recovery_lost)
        keys = QKeySequence.StandardKey
        self.new = self._action("&New", keys.New, "Start anew on the first example", window.new_session)
        self.open = self._action("&Open…", keys.Open, "Open a session", self._choose_and_open)
        self.open_weights = self._action(
            "Open &weights…", "", "Open a state_dict (.pt, .pth, .safetensors) as weights", self._choose_weights
        )
        self.open_tensors = self._action(
            "Open &tensors…",
            "Ctrl+Shift+O",
            "Open attention weights, scores, or Q, K and V of another program (.npy, .npz, .safetensors, .pt, .csv, …)",
            self._choose_tensors,
        )
        self.recent = QMenu("Open &recent", window)
        self.recent.aboutToShow.connect(self._fill_recent)
        self.save = self._action("&Save", keys.Save, "Save the session", self._save)
        self.save_as = self._action("Save &as…", keys.SaveAs, "Save the session under another name", self._save_as)
        self.describe = self._action(
            "Na&me and note…", "", "Say what this experiment is called and shows", self._show_names
        )
        self.embed = self._action(
            "Em&bed the tensors", "", "Save the tensors themselves with the session from now on", self._embed
        )
        self._context.document.changed.connect(lambda before, after: self._offer_embedding())
        self._offer_embedding()
        self.export = self._action("&Export…", "Ctrl+E", "Write stages as CSV or NPZ", self._show_export)

    def save_and_wait(self, left: Unsaved | None = None) -> bool:
        """Save what is shown, or what was ``left`` unsaved before it; False where the person gave up or it failed."""
        document = self._context.document
        work = Unsaved(document.session, document.path) if left is None else left
        path = work.path or self._ask_where(work)
        path = None if path is None else self._agreed(path, work)
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
        name, _ = QFileDialog.getOpenFileName(self._window, "Open a session", str(self._folder()), OPENABLE)
        if name:
            self.arriving.take([Path(name)])

    def _fill_recent(self) -> None:
        self.recent.clear()
        paths = self._context.settings.recent
        for path in paths:
            action = self.recent.addAction(f"{path.name}  –  {path.parent}")
            action.triggered.connect(lambda checked=False, path=path: self.arriving.take([path]))
        if paths:
            self.recent.addSeparator()
            self.recent.addAction("Clear this list").triggered.connect(self._context.settings.clear_recent)
        else:
            self.recent.addAction("Nothing opened or saved yet").setEnabled(False)

    def _show_model(self, path: Path) -> None:
        models = self._window.models
        if models.open.isEnabled():
            models.show_dialog(path)
        else:
            self._context.notices.error(f"{path.name} was not opened. {models.open.statusTip()}", "file")

    def _open_session(self, path: Path) -> None:
        if self._window.may_discard():
            self._storage.open(path)

    def _on_lost(self, name: str, folder: Path, error: LostFile, open_again: Callable[[Located], None]) -> None:
        def again(located: Located) -> None:
            if self._window.may_discard():
                open_again(located)

        self.lost.ask(name, folder, error, again)

    def _on_recovery_lost(self, left: Left, error: LostFile) -> None:
        recovery, folder = self._window.services.recovery, self._context.settings.export_folder
        self.lost.ask(left.name, folder, error, lambda located: recovery.restore(left, located))

    def _save(self) -> None:
        path = self._context.document.path
        if path is None or path.suffix != ".attn":
            self._save_as()
        elif (agreed := self._agreed(path, Unsaved(self._context.document.session, path))) is not None:
            self._storage.save(agreed)

    def _agreed(self, path: Path, work: Unsaved) -> Path | None:
        """Where to write what belongs to ``path``, which somebody else may have written; None where nowhere."""
        if not self._storage.was_changed_elsewhere(path):
            return path
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setText(f"Replace “{path.name}”?")
        box.setInformativeText("It was changed elsewhere since it was opened here. To replace it loses those changes.")
        replace = box.addButton("&Replace", QMessageBox.ButtonRole.DestructiveRole)
        other = box.addButton("Save &as…", QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(other)
        give_letters(box)
        box.exec()
        if box.clickedButton() is replace:
            return path
        return self._ask_where(work) if box.clickedButton() is other else None

    def _save_as(self) -> None:
        document = self._context.document
        path = self._ask_where(Unsaved(document.session, document.path))
        if path is not None:
            self._storage.save(path)

    def _offer_embedding(self) -> None:
        self.embed.setEnabled(any(n.origin is not None for n in self._context.document.session.experiments))

    def _embed(self) -> None:
        document = self._context.document
        size = readable_bytes(bytes_elsewhere(document.session))
        document.apply_session("Embed the tensors", embedded(document.session))
        self._context.notices.info(f"The session will hold the tensors themselves: {size} when it is saved", "embed")

    def _ask_where(self, work: Unsaved) -> Path | None:
        from attn_gui.views.export_dialog import file_name_of

        start = work.path or self._folder() / f"{file_name_of(session_title(work.session))}.attn"
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

    def show_tensors(self, paths: Sequence[Path]) -> None:
        """Look into files of tensors, or a folder of them."""
        self._tensors_dialog().open_paths(paths)

    def _choose_tensors(self) -> None:
        self._tensors_dialog().choose()

    def _tensors_dialog(self) -> TensorsDialog:
        if self.tensors is None:
            from attn_gui.control.opening import TensorOpening
            from attn_gui.views.tensors.dialog import TensorsDialog

            window = self._window
            opening = TensorOpening(self._context.worker, self._context.document, window)
            opening.opened.connect(lambda looked: self._begin())
            self.tensors = TensorsDialog(self._context, opening, window.may_discard, window)
        return self.tensors

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
