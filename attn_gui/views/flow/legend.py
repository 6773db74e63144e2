"""Legend: a button for each head that says whether its lines are drawn, in their colour where they have their own."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import QToolButton, QWidget

from attn_gui.views.drawers.flow import Flow as FlowLayout
from attn_gui.views.flow.palette import head_colours
from attn_gui.views.look import Look

SWATCH = 12
# of more heads all lines are drawn: nobody picks among so many buttons
MOST_BUTTONS = 64


class Legend(QWidget):
    """``changed`` tells that other heads are drawn; there is always one at least."""

    changed = Signal()

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._buttons: list[QToolButton] = []
        self._coloured = True
        self._count = 0
        self._row = FlowLayout(4)
        self._row.setContentsMargins(0, 0, 0, 0)
        self.setLayout(self._row)
        self.setAccessibleName("Heads whose lines are drawn")
        look.changed.connect(self._colour)

    @property
    def heads(self) -> tuple[int, ...]:
        """The heads whose lines are drawn."""
        if self._count > MOST_BUTTONS:
            return tuple(range(self._count))
        return tuple(head for head, button in enumerate(self._buttons) if button.isChecked())

    @property
    def buttons(self) -> list[QToolButton]:
        return list(self._buttons)

    def offer(self, count: int, *, coloured: bool) -> None:
        """Have ``count`` heads; where there were others before, all of them are drawn."""
        if count == self._count and coloured == self._coloured:
            return
        self._coloured = coloured
        if count != self._count:
            self._count = count
            for button in self._buttons:
                self._row.removeWidget(button)
                button.hide()
                button.deleteLater()
            self._buttons = [self._button(head) for head in range(count if count <= MOST_BUTTONS else 0)]
            for button in self._buttons:
                self._row.addWidget(button)
        self._colour()

    def _button(self, head: int) -> QToolButton:
        button = QToolButton()
        button.setText(str(head + 1))
        button.setToolTip(f"Draw the lines of head {head + 1}")
        button.setAccessibleName(f"Head {head + 1}")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setCheckable(True)
        button.setChecked(True)
        button.clicked.connect(lambda: self._on_clicked(button))
        return button

    def _on_clicked(self, button: QToolButton) -> None:
        if not self.heads:
            button.setChecked(True)
            return
        self.changed.emit()

    def _colour(self) -> None:
        ratio = self.devicePixelRatioF()
        for button, colour in zip(self._buttons, head_colours(self._look.theme, len(self._buttons)), strict=True):
            swatch = QPixmap(round(SWATCH * ratio), round(SWATCH * ratio))
            swatch.setDevicePixelRatio(ratio)
            swatch.fill(colour)
            button.setIcon(QIcon(swatch) if self._coloured else QIcon())
