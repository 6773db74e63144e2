"""What to export: the choices of stage, head and form."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox

from attn_gui.control.exports import Order
from attn_gui.files.export import Form
from attn_gui.files.export_parts import Part, Pooled, Top, Window
from attn_gui.model.experiment import Experiment
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head

FORMS: dict[Form, str] = {
    "csv": "CSV, as a matrix",
    "csv-long": "CSV, one line per number",
    "npz": "NPZ, for NumPy",
}
PARTS: dict[str, str] = {
    "all": "All of it",
    "sight": "What is in sight",
    "pooled": "Brought down to 1,024 × 1,024, the largest of each block",
    "means": "Brought down to 1,024 × 1,024, the mean of each block",
    "top": "The 8 largest of each query",
}
FIRST_STAGE = "N"
EVERYTHING = "The whole experiment, as a folder"


class ExportChoices(QObject):
    """The controls that an Order is chosen with; ``chosen`` tells that a person chose.

    ``in_sight()`` says which queries and keys the window shows.
    """

    chosen = Signal()

    def __init__(self, in_sight: Callable[[], Window], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._in_sight = in_sight
        self._experiment: Experiment | None = None
        self._stages: tuple[str, ...] = ()
        self._heads: list[Head | None] = []
        self._wanted: Head | None = 0  # kept while a stage is chosen that has no heads
        self.what = _dropdown("What to export")
        self.head = _dropdown("Head")
        self.form = _dropdown("Form")
        self.form.addItems(list(FORMS.values()))
        self.part = _dropdown("Part")
        self.part.addItems(list(PARTS.values()))
        self.what.activated.connect(self._on_what)
        self.part.activated.connect(lambda index: self.chosen.emit())
        self.head.activated.connect(self._on_head)
        self.form.activated.connect(self._on_form)

    @property
    def order(self) -> Order:
        """What the choices say, once an experiment has been offered."""
        form = list(FORMS)[self.form.currentIndex()]
        return Order(form, self.what.currentData(), self._heads[self.head.currentIndex()], self._part())

    @property
    def table(self) -> tuple[str, Head] | None:
        """The stage and the head, where they make up one table."""
        if self._experiment is None:
            return None
        stage, head = self.order.stage, self.order.head
        if stage is None or self._part() is not None or (head is None and STAGES[stage].per_head):
            return None
        return stage, 0 if head is None else head

    def want(self, head: Head) -> None:
        """Choose ``head`` at the next offer, if there is that."""
        self._wanted = head

    def offer(self, experiment: Experiment) -> None:
        """Offer the stages and heads of ``experiment``; what was chosen stays where it has that."""
        self._experiment = experiment
        names = stages_of(experiment)
        if names != self._stages:
            present = self.what.currentData() if self._stages else FIRST_STAGE
            self._stages = names
            with QSignalBlocker(self.what):
                self.what.clear()
                for name in names:
                    self.what.addItem(STAGES[name].entry, name)
                self.what.insertSeparator(self.what.count())
                self.what.addItem(EVERYTHING, None)
                first = FIRST_STAGE if FIRST_STAGE in names else next(reversed(names), None)
                wanted = present if present in (*names, None) else first
                self.what.setCurrentIndex(self.what.count() - 1 if wanted is None else self.what.findData(wanted))
        self._offer_heads(experiment)
        self._offer_parts()

    def _offer_heads(self, experiment: Experiment) -> None:
        choices = _heads(experiment, self.what.currentData())
        texts = [text for _, text in choices]
        self._heads = [head for head, _ in choices]
        if texts != [self.head.itemText(k) for k in range(self.head.count())]:
            with QSignalBlocker(self.head):
                self.head.clear()
                self.head.addItems(texts)
        self.head.setCurrentIndex(self._heads.index(self._wanted) if self._wanted in self._heads else 0)
        self.head.setEnabled(len(choices) > 1)

    def _part(self) -> Part | None:
        if not self.part.isEnabled():
            return None
        parts: dict[str, Callable[[], Part | None]] = {
            "all": lambda: None,
            "sight": self._in_sight,
            "pooled": Pooled,
            "means": lambda: Pooled(how="mean"),
            "top": Top,
        }
        return parts[list(PARTS)[self.part.currentIndex()]]()

    def _offer_parts(self) -> None:
        """Parts are of stages of queries and keys, and tables."""
        stage = self.what.currentData()
        square = stage is not None and STAGES[stage].square
        self.part.setEnabled(square and list(FORMS)[self.form.currentIndex()] == "csv")
        why = "" if square else "Only stages of queries and keys have parts"
        self.part.setToolTip(why if not square or self.part.isEnabled() else "Parts are written as a CSV matrix")

    def _on_form(self, index: int) -> None:
        self._offer_parts()
        self.chosen.emit()

    def _on_what(self) -> None:
        if self._experiment is not None:
            self._offer_heads(self._experiment)
        self._offer_parts()
        self.chosen.emit()

    def _on_head(self, index: int) -> None:
        self._wanted = self._heads[index]
        self.chosen.emit()


def _heads(e: Experiment, stage: str | None) -> list[tuple[Head | None, str]]:
    if stage is None:
        return [(None, "Each head")]
    if not STAGES[stage].per_head:
        return [(None, "All heads together")]
    heads: list[tuple[Head | None, str]] = [(h, f"Head {h + 1}") for h in range(e.heads)]
    if e.heads > 1:
        heads.append((None, "Each head"))
        if STAGES[stage].square:
            heads.append(("mean", "Mean over heads"))
    return heads


def _dropdown(name: str) -> QComboBox:
    made = QComboBox()
    made.setAccessibleName(name)
    made.setMinimumContentsLength(16)
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    return made
