"""The instrument of “attention and an RNN”: how much of each token reaches each position, by either."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from attn_gui.control.instruments import Instruments
from attn_gui.model.experiment import Experiment
from attn_gui.model.instruments import Influence
from attn_gui.views.context import Context
from attn_gui.views.tour.bars import Bars
from attn_gui.views.tour.squares import Squares


class InfluenceView(QWidget):
    """Two small heatmaps, rows of positions, and the row of the selected query as bars."""

    def __init__(self, context: Context, instruments: Instruments, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._instruments = instruments
        self._shown: tuple[Experiment, Influence] | None = None
        self.attention, self.recurrent = Squares(context, "Attention"), Squares(context, "RNN")
        self.title = QLabel()
        self.title.setObjectName("title")
        self.bars = Bars(context, ["Attention", "RNN"])
        self.refusal = QLabel()
        self.refusal.setObjectName("muted")
        self.refusal.setWordWrap(True)
        pictures = QHBoxLayout()
        pictures.setSpacing(16)
        for squares in (self.attention, self.recurrent):
            pictures.addWidget(squares)
            squares.pressed.connect(context.selection.set_cell)
        pictures.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(pictures)
        for part in (self.title, self.bars, self.refusal):
            column.addWidget(part)
        instruments.influence.connect(self._on_measured)
        context.selection.cell_changed.connect(lambda query, key: self._show_row())
        context.document.changed.connect(lambda before, after: self._measure())

    def begin(self) -> None:
        self._measure()

    def _measure(self) -> None:
        if self.isVisible():
            self._instruments.measure_influence(self._context.document.experiment)

    def _on_measured(self, experiment: Experiment, result: Influence | str) -> None:
        if experiment is not self._context.document.experiment:
            return
        measured = isinstance(result, Influence)
        self.refusal.setText("" if isinstance(result, Influence) else result)
        self.refusal.setVisible(not measured)
        for part in (self.attention, self.recurrent, self.title, self.bars):
            part.setVisible(measured)
        if isinstance(result, Influence):
            self._shown = experiment, result
            names = experiment.tokens.tokens
            self.attention.show_shares(names, result.attention)
            self.recurrent.show_shares(names, result.recurrent)
            self._show_row()

    def _show_row(self) -> None:
        if self._shown is None:
            return
        experiment, influence = self._shown
        names = experiment.tokens.tokens
        row = min(self._context.selection.query, len(names) - 1)
        self.attention.mark_row(row)
        self.recurrent.mark_row(row)
        self.title.setText(f"What reaches “{names[row]}”")
        self.bars.setAccessibleName(self.title.text())
        self.bars.show_parts(names, [influence.attention[row].tolist(), influence.recurrent[row].tolist()])
