"""Sinks: for each head a score that takes part in every row and gathers nothing."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import QCheckBox, QWidget

from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.views.clipboard import read_numbers
from attn_gui.views.context import Context
from attn_gui.views.scoring.group import Group
from attn_gui.views.text_field import TextField


class SinkGroup(Group):
    """A number for each head, by commas."""

    title = "Learned sinks"
    field = "sinks"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.used = QCheckBox("A sink in each head")
        self.used.setToolTip("One more score in every row: what it takes goes nowhere (gpt-oss)")
        self.scores = TextField("Scores of the sinks, one a head", self._take)
        self.column.addWidget(self.used)
        self.column.addWidget(self.scores)
        self.column.addWidget(self.scores.reason)
        self.finish()
        self.used.clicked.connect(self._use)

    def show_experiment(self, experiment: Experiment) -> None:
        sinks, possible = experiment.scoring.sinks, experiment.scoring.normaliser.sinks
        self.used.setChecked(sinks is not None)
        self.used.setEnabled(possible)
        self.scores.setVisible(sinks is not None)
        self.scores.show_text("" if sinks is None else ", ".join(f"{sink!r}".removesuffix(".0") for sink in sinks))
        self.say("" if possible else f"{experiment.scoring.normaliser.title} weighs each key by itself")

    def _use(self, used: bool) -> None:
        e = self.context.document.experiment
        self._set((0.0,) * e.heads if used else None, f"Sinks: {'on' if used else 'off'}")

    def _take(self, text: str) -> None:
        heads = self.context.document.experiment.heads
        words = text.replace(";", " ").replace(",", " ").split()
        found = [read_numbers([[word]])[0][0] for word in words]
        sinks = tuple(number for number in found if number is not None)
        if len(sinks) != heads:
            raise ExperimentError("sinks", f"{heads} number{'s' if heads > 1 else ''}, one a head", str(len(sinks)))
        if sinks != self.scoring.sinks:
            self._set(sinks, "Sinks")

    def _set(self, sinks: tuple[float, ...] | None, label: str) -> None:
        e = self.context.document.experiment
        self.apply(label, replace(e, scoring=replace(e.scoring, sinks=sinks)))
