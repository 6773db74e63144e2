"""PinActions: pinning the present experiment and letting go of it, for the menu and the drawer."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence

from attn_gui.control.pinned import Pinned
from attn_gui.views.context import Context

TOPIC = "pin"


class PinActions(QObject):
    """The actions are there from the start; what they pin is compared in a drawer."""

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self.pinned = Pinned(context.feed, context.document, self)
        self._notices = context.notices
        self.pin = QAction("P&in this experiment", self)
        self.pin.setShortcut(QKeySequence("Ctrl+Shift+P"))
        self.pin.setStatusTip("Keep its numbers, to compare them with what comes")
        self.unpin = QAction("&Unpin", self)
        self.unpin.setStatusTip("Let go of the pinned experiment")
        self.pin.triggered.connect(self.pinned.pin)
        self.unpin.triggered.connect(self.pinned.unpin)
        self.pinned.changed.connect(self._on_changed)
        self._on_changed(quiet=True)

    def _on_changed(self, quiet: bool = False) -> None:
        held = self.pinned.trace is not None
        self.unpin.setEnabled(held)
        if not quiet:
            self._notices.info(f"Pinned {self.pinned.name}" if held else "Unpinned", TOPIC)
