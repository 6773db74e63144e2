"""ModelActions: a model of this computer in the window, and the changes that are tried in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget

from attn_gui.control.intervening import Intervening
from attn_gui.control.modelling import Modelling, lacking
from attn_gui.views import half_typed
from attn_gui.views.intervene.changes import Changes
from attn_gui.views.shortcuts import LISTED_AS

if TYPE_CHECKING:
    from attn_gui.views.capture.model_dialog import ModelDialog
    from attn_gui.views.main_window import MainWindow

TITLE = "Open mo&del…"
TIP = "Open a model of this computer (a folder or a GGUF file) and look into its attentions on a text"


class ModelActions:
    """``open`` is for the File menu: without transformers it says what is missing. ``changes.menu`` is for others."""

    def __init__(self, window: MainWindow, begin: Callable[[], None]) -> None:
        """``begin`` is called once another document is shown."""
        self._window = window
        context = window.context
        self.modelling = Modelling(context.worker, context.document, window)
        self.intervening = Intervening(context.worker, context.document, self.modelling, window)
        self.changes = Changes(context, self.intervening, window)
        self.dialog: ModelDialog | None = None
        missing = lacking()
        self.open = QAction(f"{TITLE}  ({missing})" if missing else TITLE, window)
        self.open.setProperty(LISTED_AS, "Open model")
        self.open.setEnabled(not missing)
        self.open.setStatusTip(f"Opening a model {missing}" if missing else TIP)
        self.open.triggered.connect(lambda: self.show_dialog() if half_typed.commit() else None)
        self._begin = begin
        self.modelling.captured.connect(lambda session: self._on_captured())
        self.changes.wanted.connect(self._show_drawer)
        for panel in (window.formula.scores, window.formula.weights):
            panel.heatmap.menu.further.append(self.changes.menu.menuAction())

    def show_dialog(self, path: Path | None = None) -> None:
        """Ask for a model and a text; ``path``: this model."""
        if self.dialog is None:
            # imported when first needed, like every dialog, so that the first window does not wait for it
            from attn_gui.views.capture.model_dialog import ModelDialog

            self.dialog = ModelDialog(self._window.context, self.modelling, self._window.may_discard, self._window)
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()
        if path is not None:
            self.dialog.open_path(path)

    def _on_captured(self) -> None:
        self._begin()
        self._bring("layers")

    def _show_drawer(self) -> None:
        drawer = self._dock("intervene").widget()
        if drawer is None or not drawer.isVisible():
            self._bring("intervene")

    def _bring(self, name: str) -> None:
        dock = self._dock(name)
        if dock.isHidden():
            dock.toggleViewAction().trigger()
        dock.raise_()

    def _dock(self, name: str) -> QDockWidget:
        return next(dock for dock in self._window.docks if dock.objectName() == name)
