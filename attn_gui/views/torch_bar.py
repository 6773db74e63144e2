"""The bar that says why nothing can be computed at all: torch is not there."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget

from attn_gui.model.errors import NoTorch
from attn_gui.views.bar import Bar
from attn_gui.views.context import Context

GOES_ON = "Nothing can be computed, but everything can be edited and saved"


class TorchBar(Bar):
    """Comes with the first computation that finds no torch; put away, it stays away."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, "Nothing can be computed", parent)
        self._told = False
        self.text.setWordWrap(True)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.copy = QPushButton("Co&py")
        self.copy.setToolTip("Copy these words")
        self.add(self.copy)
        self.later.setToolTip("Put this away")
        self.later.setAccessibleName("Put this away")
        self.later.clicked.connect(self.hide)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text.text()))
        context.feed.failed.connect(self._on_failure)

    def _on_failure(self, error: BaseException) -> None:
        if isinstance(error, NoTorch) and not self._told:
            self._told = True
            self.say(f"⚠ {GOES_ON}: {error}")
