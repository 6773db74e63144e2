"""OutputPanel: step 4 of the formula, what the weights make of the values."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from attn_gui.model.answers import Answer, NotYet, StageValues
from attn_gui.model.asks import StageAsk
from attn_gui.model.stage_shape import missing, stage_shape
from attn_gui.views import formulas
from attn_gui.views.context import Context
from attn_gui.views.foot_scroll import FootScroll
from attn_gui.views.output_table import OutputTable
from attn_gui.views.panel import Panel

SLOT = "output"
# pixels: a panel is never narrower, and is widened for its table's first columns up to the second
LEAST_WIDTHS = (152, 240)
# shorter computations are not shown as going on
PATIENCE_MS = 300


class OutputPanel(Panel):
    """The output of the last trace; pale while the next one takes its time."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, "4", "Output", formulas.output(context.document.experiment), parent)
        self.table = OutputTable(context)
        self.set_body(self.table)
        self.shape_label = QLabel()
        self.shape_label.setObjectName("muted")
        footer = QWidget()
        column = QVBoxLayout(footer)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(FootScroll(self.table, context.look))
        column.addWidget(self.shape_label)
        self.set_footer(footer)
        self.table.array.figures_changed.connect(self._keep_room)
        self._keep_room()
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._patience.timeout.connect(lambda: self._fade(True))
        context.feed.answered.connect(self._on_answer)
        context.feed.busy_changed.connect(self._on_busy)
        context.document.changed.connect(lambda before, after: self.show_absent(missing(after.experiment, "output")))
        self.show_absent(missing(context.document.experiment, "output"))
        context.feed.ask(SLOT, StageAsk("output"))

    def drive_bands(self, on: bool) -> None:
        """Whether this panel's height is what the shared rows have to fill."""
        self.table.follower.drive(on)

    def _on_answer(self, slot: str, answer: Answer) -> None:
        trace = self.context.feed.trace
        if slot != SLOT or trace is None or not isinstance(answer, StageValues | NotYet):
            return
        experiment = trace.experiment
        self.show_absent(missing(experiment, "output"))
        if self.absent:
            return
        n, d = stage_shape(experiment, "output")
        names, tokens = [f"o{index + 1}" for index in range(d)], experiment.tokens.tokens
        if isinstance(answer, NotYet):
            self.table.wait_for_output(tokens, names)
        else:
            self.table.show_output(answer.values, tokens, names, experiment.precision)
        self.show_formula(formulas.output(experiment))
        self.shape_label.setText(f"{n:,} × {d:,}, {experiment.precision.value}")

    def _keep_room(self) -> None:
        self.table.keep_room(self, LEAST_WIDTHS)

    def _on_busy(self, busy: bool) -> None:
        if busy:
            self._patience.start()
        else:
            self._patience.stop()
            self._fade(False)

    def _fade(self, faded: bool) -> None:
        if self.table.faded != faded:
            self.table.faded = faded
            self.table.viewport().update()
