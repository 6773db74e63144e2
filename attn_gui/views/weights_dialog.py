"""WeightsDialog: what is in a file of weights, which of it is wanted, and with how many heads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import QSignalBlocker, QSize, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QSpinBox,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from attn_gui.control.storage import reason
from attn_gui.control.worker import Priority, at_once
from attn_gui.files.checkpoint import ENDINGS, opening
from attn_gui.files.checkpoint.modules import AttentionModule
from attn_gui.files.errors import FileError
from attn_gui.files.summary import printable
from attn_gui.model.edits import Side
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.opened_weights import OpenedWeights, tables_to_draw, with_opened_weights
from attn_gui.model.session import NamedExperiment
from attn_gui.views.buttons import give_letters
from attn_gui.views.context import Context
from attn_gui.views.elided_label import ElidedLabel
from attn_gui.views.tensor_model import TensorModel

SIZE = QSize(620, 560)
JOB = "open weights"
TOPIC = "weights"
PATTERNS = " ".join(f"*{ending}" for ending in ENDINGS)
FILTER = f"State dicts ({PATTERNS});;All files (*)"
SIDES: dict[Side, str] = {"tokens": "tokens", "context": "context", "values": "values", "past": "cache"}


class WeightsDialog(QDialog):
    """Stands beside the window, not in front of it. Nothing changes until "Use weights", and then in one undo step."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._checkpoint: opening.Checkpoint | None = None
        self._path: Path | None = None
        self._busy = False
        self.setWindowTitle("Open weights")
        self.setModal(False)
        self.file = ElidedLabel()
        self.file.setAccessibleName("File")
        self.browse = QPushButton("&Browse…")
        self.module = QComboBox()
        self.module.setAccessibleName("Module")
        self.heads = QComboBox()
        self.heads.setAccessibleName("Heads")
        self.zero_key = QCheckBox("and a key of &zeros (add_zero_attn)")
        self.zero_key.setToolTip("nn.MultiheadAttention was made with add_zero_attn=True; its state_dict does not say")
        self.tensors = TensorModel(self)
        self.table = QTableView()
        self.widths = QLabel()
        self.widths.setWordWrap(True)
        self.draw = QCheckBox("&Draw new embeddings for the same tokens, seed")
        self.seed = QSpinBox()
        self.seed.setAccessibleName("Seed")
        self.seed.setRange(0, 2**31 - 1)
        self.seed.setToolTip("The same seed gives the same numbers again")
        self.note = QLabel()
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setWordWrap(True)
        self.note.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setText("&Use weights")
        give_letters(self.buttons)
        self._lay_out()
        self.browse.clicked.connect(self.choose)
        self.module.currentIndexChanged.connect(lambda index: self._on_module())
        self.draw.toggled.connect(lambda on: self._refresh())
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        context.document.changed.connect(lambda before, after: self._refresh())
        self._show_contents()

    def sizeHint(self) -> QSize:
        return SIZE

    def choose(self) -> None:
        """Ask for a file and look at it."""
        folder = self._path.parent if self._path is not None else self._context.settings.export_folder
        name, _ = QFileDialog.getOpenFileName(self.parentWidget() or self, "Open weights", str(folder), FILTER)
        if name:
            self.open_file(Path(name))

    def open_file(self, path: Path) -> None:
        """Show what there is in ``path``; what is wrong with it is said here, and nothing changes."""
        path = path.absolute()
        self._path, self._checkpoint = path, None
        self.zero_key.setChecked(False)  # what was said of another file
        self.file.setText(printable(path.name))
        self.file.explain(printable(str(path)))
        self._busy = True
        self._show_contents()
        self._context.worker.submit(
            JOB, at_once(lambda: opening.look(path)), Priority.TRACE, self._on_looked, self._on_failure
        )
        self.show()
        self.raise_()
        self.activateWindow()

    def accept(self) -> None:
        """Read the numbers of the chosen module and take them up."""
        checkpoint, module = self._checkpoint, self.module.currentData()
        if checkpoint is None or self._busy or not self.ok.isEnabled():
            return
        heads, zero = int(self.heads.currentData()), self.zero_key.isChecked() and module.is_multihead
        self._busy = True
        self._refresh()

        def load() -> OpenedWeights:
            opened = opening.load(checkpoint, module, heads)
            return opened.with_zero_key() if zero else opened

        self._context.worker.submit(JOB, at_once(load), Priority.TRACE, self._take_up, self._on_failure)

    def reject(self) -> None:
        self._context.worker.cancel(JOB)
        self._busy = False
        self._refresh()
        super().reject()

    def _lay_out(self) -> None:
        self.table.setModel(self.tensors)
        self.table.setObjectName("list")
        self.table.setAccessibleName("Tensors in the file")
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setTabKeyNavigation(False)
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.setTextElideMode(Qt.TextElideMode.ElideLeft)  # the end of a name tells
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(self.fontMetrics().lineSpacing() + 8)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setHighlightSections(False)
        for box in (self.module, self.heads):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.module.setMinimumContentsLength(32)
        self.heads.setMinimumContentsLength(14)
        self.browse.setAutoDefault(False)
        form = QFormLayout()
        form.setHorizontalSpacing(12)
        form.setVerticalSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow("File", _row(self.file, self.browse, stretch=0))
        form.addRow("&Module", self.module)
        heads = QLabel("&Heads")
        heads.setBuddy(self.heads)
        form.addRow(heads, _row(self.heads, self.zero_key, stretch=2))
        self.note.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self.note.setAlignment(Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 12)
        column.setSpacing(8)
        column.addLayout(form)
        column.addWidget(self.table, 1)
        column.addWidget(self.widths)
        column.addLayout(_row(self.draw, self.seed, stretch=2))
        column.addWidget(self.note)
        column.addWidget(self.buttons)

    def _on_looked(self, checkpoint: opening.Checkpoint) -> None:
        self._busy = False
        self._checkpoint = checkpoint
        self._show_contents()

    def _on_failure(self, error: BaseException) -> None:
        self._busy = False
        self._refresh()
        name = "" if self._path is None else f"{printable(self._path.name)}: "
        self._say(f"{name}{reason(error)}", fault=True)
        if not isinstance(error, FileError | MemoryError):
            raise error

    def _show_contents(self) -> None:
        """The modules of the file; none while it is being read, or was refused."""
        with QSignalBlocker(self.module):
            self.module.clear()
            for module in () if self._checkpoint is None else self._checkpoint.modules:
                self.module.addItem(_module_text(module), module)
        self.module.setEnabled(self.module.count() > 1)
        self._on_module()

    def _on_module(self) -> None:
        checkpoint, module = self._checkpoint, self.module.currentData()
        self.heads.clear()
        self.tensors.show({} if checkpoint is None else checkpoint.contents.tensors, module)
        if checkpoint is not None:
            for count in module.heads:
                self.heads.addItem(f"{count}  (d_k {module.shapes['W_Q'][1] // count})", count)
            self.heads.setCurrentIndex(module.heads.index(self._likely_heads(checkpoint, module)))
            said = (
                "The file says how many" if checkpoint.said_heads in module.heads else "The file does not say how many"
            )
            self.heads.setToolTip(said)
        self.heads.setEnabled(self.heads.count() > 1)
        self.zero_key.setVisible(module is not None and module.is_multihead)
        for column, width in ((1, 110), (2, 90), (3, 130)):
            self.table.setColumnWidth(column, width)
        first = self.tensors.first_used
        if first is not None:
            self.table.scrollTo(self.tensors.index(first, 0), QAbstractItemView.ScrollHint.PositionAtTop)
        self._refresh()

    def _likely_heads(self, checkpoint: opening.Checkpoint, module: AttentionModule) -> int:
        """As many as the file says, else as many as there are now, if they fit."""
        present = self._context.document.experiment.heads
        says = checkpoint.said_heads in module.heads
        return present if not says and present in module.heads else checkpoint.heads_of(module)

    def _refresh(self) -> None:
        """Say what would happen to the tokens, and whether there is anything to use."""
        module: AttentionModule | None = self.module.currentData()
        drawn = {} if module is None else tables_to_draw(self._context.document.experiment, module.widths)
        self.widths.setText(_widths_text(self._context.document.experiment, drawn))
        for field in (self.widths, self.draw, self.seed):
            field.setVisible(bool(drawn))
        self.seed.setEnabled(self.draw.isChecked())
        self.ok.setEnabled(module is not None and not self._busy and (self.draw.isChecked() or not drawn))
        if self._busy:
            self._say("Reading…")
        elif module is None:
            self._say("Choose a state_dict: .pt or .pth of torch.save, or .safetensors.")
        elif drawn and not self.draw.isChecked():
            self._say("Let new embeddings be drawn, or choose weights of the tokens' width.")
        else:
            self._say("")

    def _take_up(self, opened: OpenedWeights) -> None:
        """Fit the weights to the tokens in the worker, and again should those have changed meanwhile."""
        document, seed = self._context.document, self.seed.value() if self.draw.isChecked() else None
        before = document.experiment

        def on_fitted(fitted: Experiment) -> None:
            if document.experiment is not before:
                self._take_up(opened)
                return
            self._busy = False
            named = document.session.named
            # a note on the weights that were there before would be untrue
            changed = NamedExperiment(named.name, fitted)
            document.apply_session("Open weights", document.session.with_current(changed))
            name = "" if self._path is None else f" of {printable(self._path.name)}"
            odd = [table for table, values in opened.weights.items() if not np.isfinite(values.array()).all()]
            if odd:
                self._context.notices.warn(f"Of the weights{name} {', '.join(odd)}: not every number is finite", TOPIC)
            else:
                self._context.notices.info(f"These are the weights{name}; undo brings back what was there", TOPIC)
            QDialog.accept(self)

        self._context.worker.submit(
            JOB,
            at_once(lambda: with_opened_weights(before, opened, seed)),
            Priority.TRACE,
            on_fitted,
            self._on_refused,
        )

    def _on_refused(self, error: BaseException) -> None:
        self._busy = False
        self._refresh()
        if not isinstance(error, ExperimentError | MemoryError):
            raise error
        self._say(str(error) or "It takes more memory than there is", fault=True)

    def _say(self, text: str, *, fault: bool = False) -> None:
        style = "error" if fault else "muted"
        if self.note.objectName() != style:
            self.note.setObjectName(style)
            self.note.style().unpolish(self.note)
            self.note.style().polish(self.note)
        self.note.setText(text)
        if fault and self.isVisible():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))


def _module_text(module: AttentionModule) -> str:
    place = f"{printable(module.name)}  –  " if module.name else ""
    d_model, d_context, d_values = module.widths
    widths = str(d_model) if d_model == d_context == d_values else f"{d_model}, {d_context}, {d_values}"
    out = module.shapes["W_O"][1] if "W_O" in module.shapes else "no output layer"
    return f"{place}{module.title},  {widths} → {out}"


def _widths_text(experiment: Experiment, drawn: dict[Side, int]) -> str:
    """How wide the embeddings are and how wide the weights read them."""
    parts = []
    for side, width in drawn.items():
        present = getattr(experiment, side)
        numbers = 0 if present is None else present.width
        one = side == "context"
        verb, own = ("has", "its") if one else ("have", "their")
        has = f"{numbers} dimension{'s' if numbers != 1 else ''}" if numbers else f"no embeddings of {own} own"
        parts.append(f"The {SIDES[side]} {verb} {has}; these weights read {width}.")
    return " ".join(parts)


def _row(*parts: QWidget, stretch: int) -> QHBoxLayout:
    """Side by side; the part at ``stretch`` takes what room there is, a place beyond them leaves it empty."""
    row = QHBoxLayout()
    row.setSpacing(8)
    for index, part in enumerate(parts):
        row.addWidget(part, 1 if index == stretch else 0)
    if stretch >= len(parts):
        row.addStretch(1)
    return row
