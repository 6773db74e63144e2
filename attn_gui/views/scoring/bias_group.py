"""Biases: what is added to the scores, one below another."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from attn_gui.model.biases import Bias
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.starting import choosable_parts, started
from attn_gui.views.context import Context
from attn_gui.views.part_fields import PartFields
from attn_gui.views.scoring.group import Group
from attn_gui.views.top_bar import Dropdown

ADD = "add"


class BiasGroup(Group):
    """Each bias with its parameters and a button that takes it away; a dropdown adds one."""

    title = "Bias on scores"
    field = "biases"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._kinds: list[type[Bias]] = []
        self.rows: list[BiasRow] = []
        self._list = QVBoxLayout()
        self._list.setSpacing(4)
        self.add = Dropdown("Add a bias")
        self.column.addLayout(self._list)
        self.column.addWidget(self.add)
        self.finish()
        self.add.chosen.connect(self._add)

    def show_experiment(self, experiment: Experiment) -> None:
        biases = experiment.scoring.biases
        kinds = [type(bias) for bias in biases]
        if kinds != self._kinds:
            gone = self.rows
            self._kinds = kinds
            self.rows = [BiasRow(bias, partial(self._take, place)) for place, bias in enumerate(biases)]
            for row in gone:
                row.fields.drop()
                self._list.removeWidget(row)
                row.hide()
                row.deleteLater()
            for place, row in enumerate(self.rows):
                row.remove.clicked.connect(partial(self._remove, place))
                self._list.addWidget(row)
        for row, bias in zip(self.rows, biases, strict=True):
            row.fields.show_part(bias)
        choices = [(ADD, "Add…" if biases else "None", None)]
        choices += [(kind.kind, kind.title, None) for kind in choosable_parts(Bias)]
        self.add.show_choices(choices, ADD)

    def _add(self, kind: str) -> None:
        e = self.context.document.experiment
        if kind == ADD:
            return
        try:
            bias = started(Bias.of_kind(kind), e)
            self._set((*e.scoring.biases, bias), f"Bias: {bias.title}")
        except ExperimentError as error:
            self.refused(error)

    def _remove(self, place: int) -> None:
        biases = list(self.scoring.biases)
        if self._is_shown(place):
            title = biases.pop(place).title
            self._set(tuple(biases), f"Remove bias {title}")

    def _take(self, place: int, bias: Any, label: str, merge: str | None) -> None:
        biases = list(self.scoring.biases)
        if self._is_shown(place):
            biases[place] = bias
            self._set(tuple(biases), label, merge)

    def _is_shown(self, place: int) -> bool:
        """Whether the bias at ``place`` is the one that the row there was last brought to."""
        biases = self.scoring.biases
        return place < min(len(biases), len(self.rows)) and self.rows[place].fields.part is biases[place]

    def _set(self, biases: tuple[Bias, ...], label: str, merge: str | None = None) -> None:
        e = self.context.document.experiment
        self.apply(label, replace(e, scoring=replace(e.scoring, biases=biases)), merge)


class BiasRow(QWidget):
    """One bias."""

    def __init__(self, bias: Bias, take: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name = QLabel(bias.title)
        name.setToolTip(f"{bias.formula}\n{bias.about}")
        self.remove = QToolButton()
        self.remove.setText("×")
        self.remove.setAccessibleName(f"Remove bias {bias.title}")
        self.remove.setToolTip("Take this bias away")
        self.fields = PartFields(bias, take)
        self.remove.setAutoRaise(True)
        top = QHBoxLayout()
        top.setContentsMargins(0, 0, 0, 0)
        top.addWidget(name, 1)
        top.addWidget(self.remove)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(top)
        column.addWidget(self.fields)
