"""TermRow: one rule of several: how it is joined, whether it is negated, its parameters and its heads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import MaskRule, Term
from attn_gui.model.masks.combined import JOINS
from attn_gui.views.context import Context
from attn_gui.views.masks.cells import idle_parameters
from attn_gui.views.masks.rule_box import RuleBox
from attn_gui.views.masks.words import heads_text, read_heads
from attn_gui.views.part_fields import PartFields
from attn_gui.views.text_field import TextField

HEADS_WIDTH = 72

Changed = Callable[[int, Term, Term, str, str | None], None]


class TermRow(QWidget):
    """The term at ``place``. ``changed(place, before, term, label, merge)`` may raise ExperimentError."""

    def __init__(self, context: Context, place: int, changed: Changed, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._place = place
        self._changed = changed
        self._count = 1
        self._term = Term(MaskRule())
        number = place + 1
        self.join = QComboBox()
        self.join.addItems(list(JOINS))
        self.join.setAccessibleName(f"How rule {number} is joined to those before it")
        self.negated = QToolButton()
        self.negated.setText("not")
        self.negated.setCheckable(True)
        self.negated.setAccessibleName(f"Not rule {number}")
        self.negated.setToolTip("Allow what the rule forbids, and forbid what it allows")
        self.kind = RuleBox(context.look, f"Rule {number}", none=False)
        self.fields = PartFields(self._term.rule, self._take_rule, across=True, after=self.kind)
        self.heads_label = QLabel("Heads")
        self.heads_label.setObjectName("muted")
        self.heads = TextField(f"Heads of rule {number}", self._take_heads)
        self.heads.setFixedWidth(HEADS_WIDTH)
        self.heads_label.setBuddy(self.heads)
        self.up = _arrow(Qt.ArrowType.UpArrow, f"Move rule {number} up")
        self.down = _arrow(Qt.ArrowType.DownArrow, f"Move rule {number} down")
        self.remove = QToolButton()
        self.remove.setText("✕")
        self.remove.setAccessibleName(f"Remove rule {number}")
        self.remove.setToolTip("Remove this rule")
        for button in (self.negated, self.up, self.down, self.remove):
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._lay_out()
        self.join.activated.connect(lambda index: self._change("join", join=JOINS[index]))
        self.negated.toggled.connect(lambda on: self._change("not", negated=on))
        self.kind.chosen.connect(self._choose)

    def show_term(self, term: Term, experiment: Experiment, last: bool) -> None:
        """Show ``term`` of the mask of ``experiment``; ``last``: none comes after it."""
        heads = experiment.heads
        same = type(term.rule) is type(self._term.rule)
        self._term, self._count = term, heads
        self.join.setCurrentIndex(JOINS.index(term.join))
        with QSignalBlocker(self.negated):
            self.negated.setChecked(term.negated)
        self.kind.show_rule(term.rule)
        self.fields.show_part(term.rule, idle_parameters(experiment))
        text = heads_text(term.heads)
        if not (same and self.heads.refused) or text != self.heads.shown:
            self.heads.show_text(text)
        several = heads > 1 or term.heads is not None
        self.heads_label.setVisible(several)
        self.heads.setVisible(several)
        example = "all, or as in 1, 3 or 1–4" if heads > 3 else "all, or as in 1, 2"
        self.heads.setToolTip(f"The heads that the rule is for: {example}")
        self.up.setEnabled(self._place > 0)
        self.down.setEnabled(not last)
        self.show()

    def withdraw(self) -> None:
        """There is no term at this place any more: what was being typed or chosen for it is dropped."""
        self.fields.drop()
        self.heads.drop()
        self.hide()

    def _lay_out(self) -> None:
        policy = self.join.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.join.setSizePolicy(policy)
        if not self._place:
            self.join.hide()
        line = QHBoxLayout()
        line.setSpacing(8)
        begins: tuple[QWidget, ...] = (self.join, self.negated, self.kind, self.fields)
        for widget in begins:
            line.addWidget(widget)
        line.addStretch(1)
        line.addWidget(self.heads_label)
        line.addWidget(self.heads)
        line.addSpacing(8)
        ends = QHBoxLayout()
        ends.setSpacing(4)
        for button in (self.up, self.down, self.remove):
            ends.addWidget(button)
        line.addLayout(ends)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(line)
        column.addWidget(self.heads.reason, 0, Qt.AlignmentFlag.AlignRight)

    def _choose(self, kind: str) -> None:
        if kind != self._term.rule.kind:
            rule = MaskRule.of_kind(kind)
            self._change(rule.title.lower(), rule=rule())

    def _take_rule(self, rule: MaskRule, label: str, merge: str | None) -> None:
        key = None if merge is None else f"{merge} of rule {self._place}"
        self._changed(self._place, self._term, replace(self._term, rule=rule), label, key)

    def _take_heads(self, text: str) -> None:
        heads = read_heads(text, self._count)
        if heads == self._term.heads:
            self.heads.show_text(heads_text(heads))
        else:
            self._change("heads", heads=heads)

    def _change(self, what: str, **fields: object) -> None:
        term = replace(self._term, **fields)  # type: ignore[arg-type]
        self._changed(self._place, self._term, term, f"Mask: {what}", None)


def _arrow(arrow: Qt.ArrowType, name: str) -> QToolButton:
    button = QToolButton()
    button.setArrowType(arrow)
    button.setAccessibleName(name)
    button.setToolTip(name)
    return button
