"""Numbers: the arithmetic of one cell, and beside it the small table of what a sum adds up."""

from __future__ import annotations

import math
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QSizePolicy, QWidget

from attn_gui.files.derivation_text.line import number
from attn_gui.model.derivation import Derivation, Step
from attn_gui.model.derivation.writing import written
from attn_gui.model.experiment import Experiment
from attn_gui.model.stages import STAGES
from attn_gui.model.vector import Vector
from attn_gui.views.context import Context
from attn_gui.views.look import number_font
from attn_gui.views.walk.arithmetic import lines
from attn_gui.views.walk.operand_table import table_of
from attn_gui.views.walk.vector_table import html

# of text; and where the window is low
LINES, FEW_LINES = 4, 2
# pixels between the parts, and the least for the text
GAP, TEXT = 24, 200
# what the steps are called that a mask takes, and what is said where it takes none
FORBIDDEN = ("Mask", "Mean over heads")
ALLOWED = "The mask allows this key, so the score stays"


class Numbers(QWidget):
    """Always of one height: the panels above must not jump from stage to stage."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.operands, self.vector, self.steps = _label(), _label(), _label()
        self.steps.setWordWrap(True)
        scroll = QScrollArea()
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(self.steps)
        # the colour of the panel shows through
        scroll.viewport().setAutoFillBackground(False)
        self.steps.setAutoFillBackground(False)
        self._scroll = scroll
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        row.addWidget(self.operands, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.vector, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(scroll, 1, Qt.AlignmentFlag.AlignTop)
        self._texts: tuple[str, ...] = ("", "")  # in full, and beside the table of operands
        self._has_operands = self._has_vector = False
        self.fold(0)

    @property
    def spare(self) -> int:
        bar = self.parentWidget()
        return 0 if bar is None or bar.isHidden() else (LINES - FEW_LINES) * self._line

    def fold(self, pixels: int) -> int:
        few = math.ceil(min(pixels, self.spare) / self._line)
        self.setFixedHeight((LINES - few) * self._line)
        spacing = self.steps.fontMetrics().lineSpacing()
        self._scroll.setFixedHeight(self.height() // spacing * spacing)  # no line is cut
        return few * self._line

    @property
    def _line(self) -> int:
        return self.steps.fontMetrics().lineSpacing() + 4

    def say(self, words: str) -> None:
        """Say why there are no numbers."""
        muted = self._context.look.theme.muted
        self._texts = (f"<span style='color:{muted}'>{escape(words, quote=False)}</span>",) * 2
        self._has_operands = self._has_vector = False
        self._fit()

    def show_derivation(self, experiment: Experiment, derivation: Derivation) -> None:
        """Show what happens in the last stage of ``derivation``."""
        theme, decimals = self._context.look.theme, self._context.settings.decimals
        steps, stays = last_stage(derivation), f"{ALLOWED} <b>{number(written(derivation.value, decimals))}</b>"
        if is_kept(derivation):
            self._texts, steps = (stays, stays), []
        tables = ((step, table_of(experiment, step, decimals)) for step in reversed(steps))
        tabled, table = next(((step, table) for step, table in tables if table is not None), (None, None))
        if steps:
            self._texts = tuple(lines(steps, decimals, theme, beside) for beside in (None, tabled))
        self._has_operands = table is not None
        if table is not None:
            self.operands.setText(table.html(theme))
        self._scroll.verticalScrollBar().setValue(0)
        self._fit()

    def show_vector(self, experiment: Experiment, vector: Vector | None) -> None:
        """Show where in its row the number stands, or nothing of it."""
        self._has_vector = vector is not None
        if vector is not None:
            context = self._context
            self.vector.setText(html(experiment, vector, context.settings.decimals, context.look.theme))
        self._fit()

    def turn(self, pages: int) -> None:
        """Go ``pages`` on in a text that is longer than there is room for."""
        bar = self._scroll.verticalScrollBar()
        bar.setValue(bar.value() + pages * bar.pageStep())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show those tables that there is room for beside the text, which then says less."""
        room = self.width() - TEXT
        taken = 0
        for label, has in ((self.operands, self._has_operands), (self.vector, self._has_vector)):
            width = label.sizeHint().width() + GAP
            fits = has and taken + width <= room
            label.setVisible(fits)
            taken += width if fits else 0
        self.steps.setText(self._texts[1 if self._has_operands and not self.operands.isHidden() else 0])


def is_kept(derivation: Derivation) -> bool:
    """Whether it is a score that the mask leaves as it is."""
    return derivation.cell.stage == "A_masked" and derivation.steps[-1].name not in FORBIDDEN


def formula_of(derivation: Derivation) -> str:
    """The formula of its last stage."""
    return STAGES["A_masked"].formula if is_kept(derivation) else derivation.steps[-1].formula.text


def last_stage(derivation: Derivation) -> list[Step]:
    """The steps of the last stage: those after the last cell of a stage before it."""
    steps, of = list(derivation.steps), derivation.cell.stage
    before = [at for at, step in enumerate(steps) if step.cell is not None and step.cell.stage != of]
    return steps[before[-1] + 1 :] if before else steps


def _label() -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.RichText)
    label.setFont(number_font())
    label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
    return label
