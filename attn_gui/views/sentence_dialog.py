"""SentenceDialog: a sentence becomes the token table."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from attn_gui.model import reshape
from attn_gui.model.edits import Side
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment
from attn_gui.model.sources import were_given
from attn_gui.model.text import EMBEDDINGS, embed, split, title_of
from attn_gui.views.buttons import give_letters
from attn_gui.views.context import Context

MOST_TOKENS = 2000
WIDEST = 4096
PREVIEWED_CHARACTERS = 200
FIELD_HEIGHT = 24
MATRICES = ("W_Q", "W_K", "W_V", "W_O")


class SentenceDialog(QDialog):
    """Splits what is typed, shows the tokens as they will be, and puts them in place of a token table, undoably.

    It stands beside the window, not in front of it; what it last held is there again when it is reopened.
    """

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._side: Side = "tokens"
        self._tokens: list[str] = []
        self.setWindowTitle("Text → tokens")
        self.setMinimumWidth(440)
        self.text = QPlainTextEdit()
        self.text.setPlaceholderText("Type or paste a sentence")
        self.text.setAccessibleName("Text")
        self.text.setTabChangesFocus(True)
        self.text.setFixedHeight(4 * self.fontMetrics().lineSpacing() + 12)
        self.preview = QLabel()
        self.preview.setAccessibleName("Tokens")
        self.preview.setTextFormat(Qt.TextFormat.PlainText)
        self.preview.setWordWrap(True)
        self.preview.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.preview.setMinimumHeight(4 * self.fontMetrics().lineSpacing())
        self.note = QLabel()
        self.note.setObjectName("muted")
        self.note.setWordWrap(True)
        self.kind = QComboBox()
        self.kind.setAccessibleName("Embedding")
        for how, title in EMBEDDINGS.items():
            self.kind.addItem(title, how)
        self.width_choice = _spin("Dimensions", 1, WIDEST, context.document.experiment.d_model)
        self.seed = _spin("Seed", 0, 2**31 - 1, 0)
        self.seed.setToolTip("The same seed gives the same numbers again")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setText("&Replace tokens")
        give_letters(self.buttons)
        self._lay_out()
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.text.textChanged.connect(self._split)
        for changed in (self.kind.currentIndexChanged, self.width_choice.valueChanged, self.seed.valueChanged):
            changed.connect(lambda value: self._refresh())
        context.document.changed.connect(lambda before, after: self._refresh())
        self._split()

    def open_for(self, side: Side) -> None:
        """Show it for the token table called ``side``."""
        self._side = side
        of = "the context's tokens" if side == "context" else "the tokens"
        self.setWindowTitle(f"Text → tokens: replaces {of}")
        experiment = self._context.document.experiment
        sequence = experiment.tokens if side == "tokens" or experiment.context is None else experiment.context
        if experiment.weights is not None:
            self.width_choice.setValue(sequence.width)
        self._refresh()
        self.show()
        self.raise_()
        self.activateWindow()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.text.setFocus()
        self.text.selectAll()

    def accept(self) -> None:
        """Replace the table; a reason not to is shown here and nothing is lost."""
        document = self._context.document
        try:
            sequence = embed(self._tokens, self.width_choice.value(), self.kind.currentData(), self.seed.value())
            changed = reshape.with_sequence(document.experiment, self._side, sequence)
        except ExperimentError as error:
            self._say(str(error), fault=True)
            return
        renewed = _renewed(document.experiment, changed)
        # a note on what was there before would be untrue
        named = NamedExperiment(title_of(self.text.toPlainText()), changed)
        document.apply_session("Text to tokens", document.session.with_current(named))
        if renewed:
            self._context.notices.info(
                f"{renewed} did not fit the new dimensions and start as the identity; undo brings them back.", "tokens"
            )
        super().accept()

    def _lay_out(self) -> None:
        numbers = QHBoxLayout()
        numbers.setSpacing(16)
        for label, field in (("&Embedding", self.kind), ("&Dimensions", self.width_choice), ("&Seed", self.seed)):
            form = QFormLayout()
            form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
            form.setContentsMargins(0, 0, 0, 0)
            form.setVerticalSpacing(4)
            field.setFixedHeight(FIELD_HEIGHT)
            form.addRow(label, field)
            numbers.addLayout(form, 2 if field is self.kind else 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        layout.addWidget(self.text)
        layout.addLayout(numbers)
        layout.addWidget(self.preview, 1)
        layout.addWidget(self.note)
        layout.addWidget(self.buttons)

    def _split(self) -> None:
        self._tokens = split(self.text.toPlainText())
        shown, length = 0, 0
        while shown < len(self._tokens) and (length := length + len(self._tokens[shown]) + 3) <= PREVIEWED_CHARACTERS:
            shown += 1
        text, more = " · ".join(self._tokens[:shown]), len(self._tokens) - shown
        self.preview.setText(f"{text} … and {more:,} more" if more else text)
        self._refresh()

    def _refresh(self) -> None:
        count, distinct = len(self._tokens), len(set(self._tokens))
        one_hot = self.kind.currentData() == "one_hot"
        self.width_choice.setEnabled(not one_hot)
        self.seed.setEnabled(not one_hot)
        reason = self._reason()
        self.ok.setEnabled(reason is None)
        if reason is not None:
            self._say(reason, fault=count > 0)
            return
        width = distinct if one_hot else self.width_choice.value()
        tokens = "1 token" if count == 1 else f"{count:,} tokens"
        self._say(f"{tokens}, {distinct:,} distinct, {width:,} dimension{'s' if width != 1 else ''}", fault=False)

    def _reason(self) -> str | None:
        """Why the text cannot be taken as it stands."""
        count = len(self._tokens)
        given = were_given(self._context.document.experiment.source)
        if given:
            return f"{given}: there are no embeddings to replace"
        if not self.text.toPlainText().strip():
            return "Type a sentence: it needs at least 1 word"
        if not count:
            return "There is no word in this text"
        if count > MOST_TOKENS:
            return f"{count:,} tokens: the table holds {MOST_TOKENS:,} at most"
        return None

    def _say(self, text: str, *, fault: bool) -> None:
        self.note.setObjectName("error" if fault else "muted")
        self.note.setText(text)
        self.note.style().unpolish(self.note)
        self.note.style().polish(self.note)


def _spin(name: str, low: int, high: int, value: int) -> QSpinBox:
    spin = QSpinBox()
    spin.setAccessibleName(name)
    spin.setRange(low, high)
    spin.setValue(value)
    return spin


def _renewed(before: Experiment, after: Experiment) -> str:
    """The matrices whose shape is another one now, as a list in words."""
    old, new = before.weights, after.weights
    if old is None or new is None:
        return ""
    names = []
    for name in MATRICES:
        was, now = old.get(name), new.get(name)
        if was is not None and now is not None and was.shape != now.shape:
            names.append(name)
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
