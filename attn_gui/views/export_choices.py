"""What to export: the choices of stage, head and form."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QRadioButton

from attn_gui.control.exports import Order
from attn_gui.files.export import Form
from attn_gui.files.layout import stages_of
from attn_gui.model.experiment import Experiment
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head

FORMS: dict[Form, str] = {
    "csv": "CSV, as a matrix",
    "csv-long": "CSV, one line per number",
    "npz": "NPZ, for NumPy",
}
FIRST_STAGE = "N"


class ExportChoices(QObject):
    """The controls that an Order is chosen with; ``chosen`` tells that a person chose."""

    chosen = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._experiment: Experiment | None = None
        self._heads: list[Head | None] = []
        self._wanted: Head | None = 0  # kept while a stage is chosen that has no heads
        self.one = QRadioButton("&One stage")
        self.one.setChecked(True)
        self.everything = QRadioButton("The &whole experiment, as a folder")
        self.stage = _dropdown("Stage")
        self.head = _dropdown("Head")
        self.form = _dropdown("Form")
        self.form.addItems(list(FORMS.values()))
        self.one.toggled.connect(self._on_kind)
        self.stage.activated.connect(self._on_stage)
        self.head.activated.connect(self._on_head)
        self.form.activated.connect(lambda index: self.chosen.emit())

    @property
    def order(self) -> Order:
        """What the choices say, once an experiment has been offered."""
        form = list(FORMS)[self.form.currentIndex()]
        if self.everything.isChecked():
            return Order(form)
        return Order(form, self.stage.currentData(), self._heads[self.head.currentIndex()])

    @property
    def table(self) -> tuple[str, Head] | None:
        """The stage and the head, where they make up one table."""
        if self._experiment is None or self.everything.isChecked():
            return None
        stage, head = self.order.stage, self.order.head
        if stage is None or (head is None and STAGES[stage].per_head):
            return None
        return stage, 0 if head is None else head

    def want(self, head: Head) -> None:
        """Choose ``head`` at the next offer, if there is that."""
        self._wanted = head

    def offer(self, experiment: Experiment) -> None:
        """Offer the stages and heads of ``experiment``; what was chosen stays where it has that."""
        self._experiment = experiment
        names = stages_of(experiment)
        if names != tuple(self.stage.itemData(k) for k in range(self.stage.count())):
            present = self.stage.currentData() or FIRST_STAGE
            with QSignalBlocker(self.stage):
                self.stage.clear()
                for name in names:
                    self.stage.addItem(f"{name}  –  {STAGES[name].what}", name)
                self.stage.setCurrentIndex(max(0, self.stage.findData(present)))
        self._offer_heads(experiment)

    def _offer_heads(self, experiment: Experiment) -> None:
        choices = _heads(experiment, self.stage.currentData())
        texts = [text for _, text in choices]
        self._heads = [head for head, _ in choices]
        if texts != [self.head.itemText(k) for k in range(self.head.count())]:
            with QSignalBlocker(self.head):
                self.head.clear()
                self.head.addItems(texts)
        self.head.setCurrentIndex(self._heads.index(self._wanted) if self._wanted in self._heads else 0)
        self._enable()

    def _enable(self) -> None:
        one = self.one.isChecked()
        self.stage.setEnabled(one)
        self.head.setEnabled(one and len(self._heads) > 1)

    def _on_kind(self) -> None:
        self._enable()
        self.chosen.emit()

    def _on_stage(self) -> None:
        if self._experiment is not None:
            self._offer_heads(self._experiment)
        self.chosen.emit()

    def _on_head(self, index: int) -> None:
        self._wanted = self._heads[index]
        self.chosen.emit()


def _heads(e: Experiment, stage: str) -> list[tuple[Head | None, str]]:
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
