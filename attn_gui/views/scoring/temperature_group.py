"""Temperature: a slider that sharpens or levels all weights."""

from __future__ import annotations

import math
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QSlider, QToolButton, QWidget

from attn_gui.model.experiment import Experiment
from attn_gui.views.context import Context
from attn_gui.views.number_field import NumberField
from attn_gui.views.scoring.group import Group

# the slider runs from a tenth to ten times, a step is a hundredth of a decade
STEPS = 100


class TemperatureGroup(Group):
    """Scores are divided by it: below 1 weights become sharper, above 1 more even."""

    title = "Temperature"
    field = "temperature"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(-STEPS, STEPS)
        self.slider.setPageStep(10)
        self.slider.setTickInterval(STEPS)
        self.slider.setTickPosition(QSlider.TickPosition.TicksBelow)
        self.slider.setAccessibleName("Temperature")
        self.slider.setToolTip("From 0.1, sharp, to 10, even")
        self.number = NumberField("Temperature", self._take)
        self.reset = QToolButton()
        self.reset.setText("Back to 1")
        self.column.addWidget(self.slider)
        self.column.addWidget(self.number)
        self.column.addWidget(self.number.reason)
        self.column.addWidget(self.reset)
        self.finish()
        self.slider.valueChanged.connect(lambda value: self._slide(round(10 ** (value / STEPS), 3)))
        self.slider.sliderReleased.connect(lambda: self._end_drag())
        self.reset.clicked.connect(lambda: self._take(1.0))
        self._drag = 0

    def show_experiment(self, experiment: Experiment) -> None:
        temperature = experiment.scoring.temperature
        with QSignalBlocker(self.slider):
            self.slider.setValue(round(STEPS * math.log10(temperature)))
        self.number.show_number(temperature)
        self.reset.setVisible(temperature != 1)

    def _slide(self, temperature: float) -> None:
        # all of one drag is one undo step
        self._set(temperature, f"temperature {self._drag}")

    def _end_drag(self) -> None:
        self._drag += 1

    def _take(self, temperature: float) -> None:
        self._set(temperature, None)

    def _set(self, temperature: float, merge: str | None) -> None:
        e = self.context.document.experiment
        if temperature != e.scoring.temperature:
            scoring = replace(e.scoring, temperature=temperature)
            self.apply(f"Temperature: {temperature:g}", replace(e, scoring=scoring), merge)
