"""NumbersBox: whether every student gets numbers of their own, and which."""

from __future__ import annotations

import re

from PySide6.QtCore import Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from attn_gui.model.experiment import Experiment
from attn_gui.model.recipe import EMBEDDINGS, LARGEST, LONGEST_SEED, MOST_DECIMALS, WEIGHTS, Recipe
from attn_gui.model.sources import FromTokens, were_given

# whole numbers; with the most decimals they are as far as a recipe goes
FARTHEST = LARGEST // 10**MOST_DECIMALS
FIRST_LEAST, FIRST_MOST, FIRST_DECIMALS = 0, 20, 1

_TYPED = re.compile(r"-?[0-9]{0,6}(?:[.,][0-9]{0,6})?")


class NumbersBox(QWidget):
    """Without a tick everybody gets the numbers that are there; ``changed`` comes after every choice."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.embeddings = QCheckBox("New &embeddings for each student")
        self.embeddings.setChecked(True)
        self.weights = QCheckBox("New &weights for each student")
        self.least, self.most = DecimalSpin("Smallest number"), DecimalSpin("Largest number")
        self.decimals = QSpinBox()
        self.decimals.setAccessibleName("Decimals of the numbers")
        self.decimals.setRange(0, MOST_DECIMALS)
        self.seed = QLineEdit("1")
        self.seed.setAccessibleName("Seed")
        self.seed.setMaxLength(LONGEST_SEED)
        self.seed.setToolTip("The same seed and student id give the same numbers again")
        self._drawn = QWidget()
        grid = QGridLayout(self._drawn)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        between = QHBoxLayout()
        between.setSpacing(8)
        for part in (QLabel("From"), self.least, QLabel("to"), self.most, QLabel("decimals"), self.decimals):
            between.addWidget(part)
        between.addStretch(1)
        grid.addLayout(between, 0, 0, 1, 2)
        label = QLabel("See&d")
        label.setBuddy(self.seed)
        grid.addWidget(label, 1, 0)
        grid.addWidget(self.seed, 1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for row in (self.embeddings, self.weights, self._drawn):
            column.addWidget(row)
        self.decimals.valueChanged.connect(self._on_decimals)
        self.decimals.setValue(FIRST_DECIMALS)
        self.least.setValue(FIRST_LEAST)
        self.most.setValue(FIRST_MOST)
        for box in (self.embeddings, self.weights):
            box.toggled.connect(self._on_choice)
        for number in (self.least, self.most):
            number.valueChanged.connect(self._on_choice)
        self._on_choice()

    @property
    def drawn(self) -> tuple[str, ...]:
        """What is drawn anew."""
        chosen = {EMBEDDINGS: self.embeddings, WEIGHTS: self.weights}
        return tuple(name for name, box in chosen.items() if box.isChecked() and box.isEnabled())

    @property
    def is_sound(self) -> bool:
        """Whether there are numbers to draw from."""
        return not self.drawn or self.least.value() < self.most.value()

    def recipe(self) -> Recipe | None:
        """How the numbers are drawn, None where they are those that are there; raises ExperimentError."""
        if not self.drawn:
            return None
        return Recipe(self.seed.text(), self.drawn, self.least.value(), self.most.value(), self.decimals.value())

    def offer(self, experiment: Experiment) -> None:
        """Offer what ``experiment`` has."""
        source = experiment.source
        from_tokens = isinstance(source, FromTokens)
        drawn = "Q, K, V" if experiment.has_queries else "given numbers"
        self.embeddings.setText("New &embeddings for each student" if from_tokens else f"N&ew {drawn} for each student")
        # given weights would be no weights any more
        self.embeddings.setEnabled(experiment.has_scores or experiment.has_values)
        self.weights.setEnabled(from_tokens)
        self.weights.setToolTip("" if from_tokens else f"{were_given(source)}: there are no weights to draw")

    def _on_decimals(self, decimals: int) -> None:
        for number in (self.least, self.most):
            number.show_decimals(decimals)
        self._on_choice()

    def _on_choice(self) -> None:
        self._drawn.setEnabled(bool(self.drawn))
        self.changed.emit()


class DecimalSpin(QSpinBox):
    """Numbers of so many decimals; ``value`` counts units of the last of them."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._decimals = 0
        self.setAccessibleName(name)
        self.show_decimals(0)

    def show_decimals(self, decimals: int) -> None:
        """Have so many decimals from now on, the number itself as near as may be to what it was."""
        number = self.value() / 10**self._decimals
        self._decimals = decimals
        most = FARTHEST * 10**decimals
        self.setRange(-most, most)
        self.setValue(round(number * 10**decimals))
        self.lineEdit().setText(self.textFromValue(self.value()))

    def textFromValue(self, value: int) -> str:
        return f"{value / 10**self._decimals:.{self._decimals}f}"

    def valueFromText(self, text: str) -> int:
        try:
            return round(float(text.replace(",", ".")) * 10**self._decimals)
        except (ValueError, OverflowError):
            return self.value()

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        if _TYPED.fullmatch(text) is None:
            return QValidator.State.Invalid, text, position
        whole = text not in ("", "-", ".", ",", "-.", "-,")
        inside = whole and self.minimum() <= self.valueFromText(text) <= self.maximum()
        return QValidator.State.Acceptable if inside else QValidator.State.Intermediate, text, position
