"""WorkPanel: stands where the hidden panels would, with the blank stages to type in."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from attn_gui.control.exercising import Exercising
from attn_gui.files.layout import layout
from attn_gui.model.check import GivenTable
from attn_gui.model.exercise import MOST_CELLS, Exercise, asked_cells, cells_of
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import Session
from attn_gui.model.stages import STAGES
from attn_gui.views import formulas
from attn_gui.views.context import Context
from attn_gui.views.drawers.segments import Segments
from attn_gui.views.exercise.answer_model import AnswerModel
from attn_gui.views.exercise.answer_table import AnswerTable
from attn_gui.views.foot_scroll import FootScroll
from attn_gui.views.head_switch import HeadSwitch
from attn_gui.views.panel import Panel

LEAST_WIDTH = 280


class WorkPanel(Panel):
    """One stage of one head at a time; ``stage`` chooses among those that are asked."""

    def __init__(self, context: Context, exercising: Exercising, parent: QWidget | None = None) -> None:
        super().__init__(context, "?", "Your answers", "", parent)
        self._exercising = exercising
        self.setMinimumWidth(LEAST_WIDTH)
        self.model = AnswerModel(exercising, self)
        self.tables = {
            "queries": AnswerTable(context, self.model, "tokens"),
            "keys": AnswerTable(context, self.model, "past"),
        }
        self._pages = QStackedWidget()
        for table in self.tables.values():
            self._pages.addWidget(table)
        self.set_body(self._pages)
        self.stage = Segments(context.look, "Stage to fill in", [])
        self.heads = HeadSwitch(context)
        self.title_layout.addWidget(self.stage)
        self.title_layout.addWidget(self.heads)
        self.told = QLabel()
        self.told.setObjectName("muted")
        self.set_footer(self._foot())
        self.stage.chosen.connect(lambda stage: self.refresh())
        exercising.changed.connect(self.refresh)
        context.selection.head_changed.connect(lambda head: self.refresh())
        context.document.changed.connect(self._on_document)

    @property
    def table(self) -> AnswerTable:
        """The table that is in sight."""
        rows = "keys" if self.model.stage in ("K", "V") else "queries"
        return self.tables[rows]

    def drive(self, on: bool) -> None:
        """Whether this panel, in place of the scores, gives the shared rows their height."""
        self.tables["queries"].follower.drive(on)

    def refresh(self) -> None:
        """Show the stage that is chosen, of the head that is selected."""
        exercise, e = self._exercising.exercise, self.context.document.experiment
        if exercise is None:
            return
        self._offer(exercise)
        stage, head = self.stage.value, self.context.selection.head
        of_heads = e.heads > 1 and STAGES[stage].per_head
        why_none = _why_none(e, stage, of_mean=of_heads and head == "mean")
        of_head = ""
        if why_none:
            self.model.show(GivenTable(stage, 0, ()), np.zeros((0, 0), bool), ((), ()), locked=True)
        else:
            answer = self._exercising.answer(stage, 0 if head == "mean" else min(head, e.heads - 1))
            assert answer.head != "mean", "nobody is asked for a mean"
            names = layout(e, stage)
            labels = names.rows, names.columns
            self.model.show(answer, asked_cells(e, stage, answer.head), labels, locked=self._locked)
            of_head = f" of head {answer.head + 1}" if of_heads else ""
        self._pages.setCurrentWidget(self.table)
        self.heads.setVisible(of_heads)
        self.show_formula(_formula(e, stage))
        filled_in = f"{self.model.typed} of {self.model.asked} filled in"
        self.told.setText(f"{stage}{of_head}: {why_none or filled_in}")
        for table in self.tables.values():
            table.setAccessibleName(f"Your answers, {stage}{of_head}")

    @property
    def _locked(self) -> bool:
        return self._exercising.tally.shown

    def _offer(self, exercise: Exercise) -> None:
        """Have the stages that are asked to choose from, the first that is blank chosen at first."""
        if self.stage.values != list(exercise.asked):
            self.stage.offer([(stage, stage) for stage in exercise.asked])
            self.stage.setVisible(len(exercise.asked) > 1)
        present = self.stage.value
        if exercise.blank and present not in exercise.blank:
            self.stage.show_value(exercise.blank[0])

    def _on_document(self, before: Session, after: Session) -> None:
        if before.experiment is not after.experiment and before.named.exercise is after.named.exercise:
            self.refresh()  # another number of tokens has other cells

    def _foot(self) -> QWidget:
        foot, bars = QWidget(), QStackedWidget()
        column = QVBoxLayout(foot)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for table in self.tables.values():
            bars.addWidget(FootScroll(table, self.context.look))
        self._pages.currentChanged.connect(bars.setCurrentIndex)
        bars.setFixedHeight(bars.sizeHint().height())
        row = QHBoxLayout()
        row.addWidget(self.told)
        column.addWidget(bars)
        column.addLayout(row)
        return foot


def _why_none(e: Experiment, stage: str, *, of_mean: bool) -> str:
    """Why there is nothing to fill in, or ""."""
    cells = cells_of(e, stage)
    if cells > MOST_CELLS:
        return f"{cells:,} numbers are too many to fill in; at most {MOST_CELLS:,}"
    return "choose a head; the mean is not asked" if of_mean else ""


def _formula(e: Experiment, stage: str) -> str:
    special = {"A": formulas.scores, "N": formulas.weights, "output": formulas.output}
    return special[stage](e) if stage in special else STAGES[stage].formula
