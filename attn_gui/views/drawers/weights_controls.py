"""WeightsControls: biases, gains, head size, and new weights from an initialiser and a seed."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QPushButton, QSpinBox, QWidget

from attn_gui.model import view_choices
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.gains import has_gains, with_gains
from attn_gui.model.head_size import LARGEST, with_head_size
from attn_gui.model.initialise import INITIALISERS, initial_weights
from attn_gui.model.reshape import with_biases
from attn_gui.model.sources import FromTokens
from attn_gui.views.context import Context
from attn_gui.views.drawers.flow import Flow
from attn_gui.views.whole_field import WholeField

LARGEST_SEED = 2**31 - 1


class WeightsControls(QWidget):
    """Fields side by side. Each change is one undo step; turning a size up and down is one in all."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        # while a size is turned, what it was turned from, so that turning back brings every number back
        self._origin: Experiment | None = None
        self._sized: Experiment | None = None
        self.biases = QCheckBox("&Biases")
        self.biases.setToolTip("Add b_Q, b_K, b_V and b_O to the products")
        self.gains = QCheckBox("&Gains")
        self.gains.setToolTip("Learned factors after the QK-norm, one for each number of a query and of a key")
        self.d_k = self._size("d_k", "Numbers that a head compares queries and keys by")
        self.d_v = self._size("d_v", "Numbers that a head passes on for each token")
        self.initialiser = QComboBox()
        self.initialiser.setAccessibleName("Initialiser")
        for kind, title in INITIALISERS.items():
            self.initialiser.addItem(title, kind)
        self.seed = QSpinBox()
        self.seed.setRange(0, LARGEST_SEED)
        self.seed.setAccessibleName("Seed")
        self.seed.setToolTip("The same seed makes the same weights, to the last bit")
        self.renew = QPushButton("&New weights")
        self.renew.setToolTip("Draw every matrix anew")
        flow = Flow(16, self)
        self._of_weights = [
            self.biases,
            *(_labelled(text, field) for text, field in (("d_k", self.d_k), ("d_v", self.d_v))),
            _labelled("Initialiser", self.initialiser),
            _labelled("Seed", self.seed, self.renew),
        ]
        for part in (*self._of_weights, self.gains):
            flow.addWidget(part)
        self.biases.clicked.connect(self._choose_biases)
        self.gains.clicked.connect(self._choose_gains)
        self.d_k.valueChanged.connect(lambda value: self._choose_size("d_k", value))
        self.d_v.valueChanged.connect(lambda value: self._choose_size("d_v", value))
        self.initialiser.activated.connect(self._keep)
        self.seed.valueChanged.connect(self._keep)
        self.renew.clicked.connect(self.make_new_weights)

    def refresh(self) -> None:
        """Show what the session says."""
        session = self._context.document.session
        e = session.experiment
        # before they are hidden, and lose the focus with what was typed for other weights
        self.d_k.show_whole(e.d_k)
        self.d_v.show_whole(e.d_v)
        for part in self._of_weights:
            part.setVisible(e.weights is not None)
        self.gains.setVisible(e.scoring.qk_norm is not None)
        self.gains.setChecked(has_gains(e))
        if e.weights is None:
            return
        self.biases.setChecked(e.weights.has_biases)
        kind = view_choices.word(session, "weights_initialiser", INITIALISERS, "linear")
        self.initialiser.setCurrentIndex(self.initialiser.findData(kind))
        with QSignalBlocker(self.seed):
            self.seed.setValue(view_choices.whole(session, "weights_seed", 0, LARGEST_SEED, 0))
        self._show_use_of_seed()

    def make_new_weights(self) -> None:
        """Every matrix from the initialiser and the seed, in the present sizes."""
        e = self._context.document.experiment
        if e.weights is None:
            return
        kind = self.initialiser.currentData()
        fresh = initial_weights(
            kind,
            e.d_model,
            e.present_keys.width,
            e.heads,
            seed=self.seed.value(),
            multi_head=e.variant.is_multi_head,
            kv_heads=e.kv_heads,
            d_k=e.d_k,
            d_v=e.d_v,
            d_values=e.value_rows.width,
            biases=e.weights.has_biases,
        )
        self._apply(f"New weights: {INITIALISERS[kind]}", replace(e, source=FromTokens(fresh)))

    def _size(self, name: str, tip: str) -> WholeField:
        field = WholeField()
        field.setRange(1, LARGEST)
        field.setAccessibleName(name)
        field.setToolTip(f"{tip}. Numbers that still have a place stay, new ones are 0")
        return field

    def _keep(self) -> None:
        self._context.document.keep_view(
            weights_initialiser=self.initialiser.currentData(), weights_seed=self.seed.value()
        )
        self._show_use_of_seed()

    def _show_use_of_seed(self) -> None:
        self.seed.setEnabled(self.initialiser.currentData() != "identity")

    def _choose_biases(self, present: bool) -> None:
        e = self._context.document.experiment
        self._apply("Biases on" if present else "Biases off", with_biases(e, present))

    def _choose_gains(self, present: bool) -> None:
        e = self._context.document.experiment
        self._apply("Gains on" if present else "Gains off", with_gains(e, present))

    def _choose_size(self, name: str, value: int) -> None:
        e = self._context.document.experiment
        if self._origin is None or self._sized is not e:
            self._origin = e
        sizes = {"d_k": e.d_k, "d_v": e.d_v} | {name: value}
        try:
            self._sized = with_head_size(self._origin, **sizes)
        except ExperimentError as error:
            self._context.notices.error(str(error), "head size")
            self.refresh()
            return
        self._apply("Head size", self._sized, merge="head size")

    def _apply(self, label: str, experiment: Experiment, merge: str | None = None) -> None:
        self._context.document.apply(label, experiment, merge)


def _labelled(text: str, field: QWidget, *more: QWidget) -> QWidget:
    """``field`` with its label before it and what belongs to it after it, kept on one line."""
    together = QWidget()
    row = QHBoxLayout(together)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    label = QLabel(text)
    label.setObjectName("muted")
    label.setBuddy(field)
    for part in (label, field, *more):
        row.addWidget(part)
    return together
