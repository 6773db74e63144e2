"""PartGroup: a choice of one family of parts, with the parameters of the one chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.parts import Part
from attn_gui.model.starting import choosable_parts, started
from attn_gui.views.context import Context
from attn_gui.views.part_fields import PartFields
from attn_gui.views.scoring.group import GAP, WIDTH, Group
from attn_gui.views.top_bar import Dropdown

NOTHING = "none"
# more parameters stand in two columns
MOST_ROWS = 4


class PartGroup(Group):
    """``field`` is the field of Scoring that holds the part, or None where there is none.

    opening: choices that are no parts and open something, by their value; :meth:`open` is called with it.
    """

    field = ""
    family: type[Part] = Part
    optional = True
    opening: ClassVar[Mapping[str, str]] = {}

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.kind = Dropdown(self.title, opening=self.opening)
        self.formula = QLabel()
        self.formula.setObjectName("muted")
        self.formula.setWordWrap(True)
        self.fields: PartFields | None = None
        self.kind.setFixedWidth(WIDTH)
        self.column.addWidget(self.kind, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self.formula)
        self.finish()
        self.kind.chosen.connect(self._choose)

    @property
    def part(self) -> Part | None:
        part: Part | None = getattr(self.scoring, self.field)
        return part

    def hidden(self, part: Part) -> set[str]:
        """The parameters of ``part`` that do not matter as the others stand."""
        return set()

    def show_experiment(self, experiment: Experiment) -> None:
        part: Part | None = getattr(experiment.scoring, self.field)
        kinds = choosable_parts(self.family)
        choices = [(NOTHING, "None", None)] if self.optional else []
        choices += [(kind.kind, kind.title, None) for kind in kinds]
        if part is not None and type(part) not in kinds:
            choices.append((part.kind, part.title, None))
        choices += [(value, text, None) for value, text in self.opening.items()]
        self.kind.show_choices(choices, NOTHING if part is None else part.kind)
        self.kind.setToolTip("" if part is None else part.about)
        self.formula.setText("" if part is None else self.told(part))
        self.formula.setVisible(bool(self.formula.text()))
        self._show_fields(part)

    def _show_fields(self, part: Part | None) -> None:
        if part is None:
            if self.fields is not None:
                self.fields.drop()
                self.fields.hide()
            self.widen(1)
            return
        if self.fields is None:
            self.fields = PartFields(part, self._take, most=MOST_ROWS, gap=GAP, after=self.kind)
            self.column.insertWidget(self.column.count() - 1, self.fields)
        self.fields.show_part(part, self.hidden(part))
        self.widen(self.fields.columns)

    def _choose(self, kind: str) -> None:
        if kind in self.opening:
            self.show_experiment(self.context.document.experiment)
            self.open(kind)
            return
        present = self.part
        if kind == (NOTHING if present is None else present.kind):
            return
        e = self.context.document.experiment
        try:
            part = None if kind == NOTHING and self.optional else self.begun(self.family.of_kind(kind), e)
            title = "none" if part is None else part.title
            self.apply(f"{self.title}: {title}", self.changed(e, part))
        except ExperimentError as error:
            self.refused(error)

    def told(self, part: Part) -> str:
        """A line on ``part``, or ""."""
        return part.formula

    def open(self, choice: str) -> None:
        """A choice that opens something was made."""
        raise NotImplementedError

    def begun(self, kind: type[Part], experiment: Experiment) -> Part:
        """The part as it begins when it is chosen."""
        return started(kind, experiment)

    def changed(self, experiment: Experiment, part: Part | None) -> Experiment:
        """``experiment`` with ``part`` in the field."""
        changes: dict[str, Any] = {self.field: part}
        return replace(experiment, scoring=replace(experiment.scoring, **changes))

    def _take(self, part: Any, label: str, merge: str | None) -> None:
        if self.fields is not None and self.fields.part is self.part:
            self.apply(label, self.changed(self.context.document.experiment, part), merge)
