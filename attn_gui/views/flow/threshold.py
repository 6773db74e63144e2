"""Threshold: the slider that says from which weight on lines are drawn."""

from __future__ import annotations

import math

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSlider, QWidget

from attn_gui.views.figures import shown_exponent

LAST = 100
# the weight at the first stop after "all"; from there to 1 evenly in the logarithm
LEAST = 1e-4


class Threshold(QWidget):
    """``chosen(position)`` tells of a stop from 0, where all lines are drawn, to LAST, where the heaviest may be."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, LAST)
        self.slider.setPageStep(10)
        self.slider.setFixedWidth(160)
        self.slider.setAccessibleName("Draw lines from weight")
        self.slider.setToolTip("Lines of a smaller weight are left out; how much of the weight that is stands below")
        label = QLabel("Lines &from")
        label.setObjectName("muted")
        label.setBuddy(self.slider)
        self.told = QLabel()
        self.told.setMinimumWidth(self.told.fontMetrics().horizontalAdvance("0.000018"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for part in (label, self.slider, self.told):
            row.addWidget(part)
        self._heaviest = 1
        self.slider.valueChanged.connect(self._on_value)
        self._tell(0)

    def show_position(self, position: int, heaviest: int = 1) -> None:
        """``heaviest`` is the weight of the last stop."""
        self._heaviest = heaviest
        with QSignalBlocker(self.slider):
            self.slider.setValue(position)
        self._tell(position)

    def _on_value(self, position: int) -> None:
        self._tell(position)
        self.chosen.emit(position)

    def _tell(self, position: int) -> None:
        text = "all" if position == 0 else written(weight_at(position, self._heaviest))
        self.told.setText(text)
        self.slider.setAccessibleDescription(text)


def weight_at(position: int, heaviest: int = 1) -> float:
    """The threshold of a stop, a number of two digits; ``heaviest`` at the last."""
    if position <= 0:
        return 0.0
    if position == LAST:
        return float(heaviest)
    exact = heaviest * LEAST ** (1 - (position - 1) / (LAST - 1))
    return round(exact, 1 - math.floor(math.log10(exact)))


def written(weight: float) -> str:
    """As it is read, never with an exponent where it is not needed."""
    return f"{weight:.6f}".rstrip("0").rstrip(".") if weight >= 1e-6 else shown_exponent(weight)
