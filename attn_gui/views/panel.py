"""Panel: the frame that the four parts of the formula share."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from attn_gui.views.context import Context
from attn_gui.views.elided_label import ElidedLabel

TITLE_HEIGHT = 28
FOOTER_HEIGHT = 32


class Panel(QFrame):
    """A title row (step, title, formula), a body that holds header and rows, and a footer.

    All panels measure alike above and below their body, so that a row is at one height in every one of them.
    """

    def __init__(self, context: Context, step: str, title: str, formula: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.setObjectName("panel")
        self.setAccessibleName(f"{title}, {formula}")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.setSpacing(4)
        top = QWidget()
        top.setFixedHeight(TITLE_HEIGHT)
        self.title_layout = QHBoxLayout(top)
        self.title_layout.setContentsMargins(0, 0, 0, 0)
        self.title_layout.setSpacing(8)
        self.title_layout.addWidget(_label(step, "step"))
        self.heading = _label(title, "title")
        self.title_layout.addWidget(self.heading)
        self.formula = ElidedLabel(formula)
        self.formula.setObjectName("muted")
        self.title_layout.addWidget(self.formula, 1)
        layout.addWidget(top)
        self._body = QVBoxLayout()
        self._body.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(self._body, 1)
        self._footer = QHBoxLayout()
        self._footer.setContentsMargins(0, 0, 0, 0)
        self._footer.setSpacing(8)
        foot = QWidget()
        foot.setFixedHeight(FOOTER_HEIGHT)
        foot.setLayout(self._footer)
        layout.addWidget(foot)

    def set_body(self, body: QWidget) -> None:
        self._body.addWidget(body)

    def set_footer(self, footer: QWidget) -> None:
        self._footer.addWidget(footer)


def _label(text: str, name: str) -> QLabel:
    label = QLabel(text)
    label.setObjectName(name)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
    return label
