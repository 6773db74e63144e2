"""ModelDialog: a model of this computer, a text for it to read, and its attentions as layers of a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QFocusEvent, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from attn_gui.control.modelling import Modelling, described
from attn_gui.model.session import Session
from attn_gui.views.context import Context
from attn_gui.views.typed_path import typed_path

if TYPE_CHECKING:
    from attn_gui.compute.capture.opening import OpenedModel

WIDTH = 560
STEPS = 1000
# so long after a key the text is looked at
PAUSE_MS = 150
PREVIEWED_CHARACTERS = 400
MODELS = "Models (*.safetensors *.bin *.gguf config.json);;All files (*)"
UNREAD = "Press Enter or Tab to read the model there. Nothing is fetched from the network."
OFFLINE = "A folder with config.json, weights and a tokenizer, or a GGUF file. Nothing is fetched from the network."
CLOSE, USE = "Cl&ose", "Use f&or this session"
AT_HAND = (
    "✓ What is in the window was captured from such a model: Intervene can run it now. A text typed below is captured "
    "in its place."
)
READS_ITSELF = "Text for the decoder, which reads it one place to the right. Left empty: the text above."


class PathField(QLineEdit):
    """``tabbed`` tells that it was left by Tab. Who goes to the buttons beside it with the mouse wants another path."""

    tabbed = Signal()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self.tabbed.emit()


class ModelDialog(QDialog):
    """Stands beside the window, not in front of it. What is in the window stays until a capture has succeeded."""

    def __init__(
        self, context: Context, modelling: Modelling, may_discard: Callable[[], bool], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._context = context
        self._modelling = modelling
        self._may_discard = may_discard
        self._sound = False  # whether the model has tokens for the text
        self._tried = ""  # the path that was last to be read
        self._refused = ""  # the path that could not be read when it was last tried
        self.setWindowTitle("Open model")
        self.setMinimumWidth(WIDTH)
        self.path = PathField()
        self.path.setAccessibleName("Model")
        self.path.setPlaceholderText("A folder or a file of this computer")
        self.folder = QPushButton("&Folder…")
        self.file = QPushButton("F&ile…")
        self.about = _muted(OFFLINE)
        self.at_hand = QLabel(AT_HAND)
        self.at_hand.setWordWrap(True)
        self.text = _editor("Text", "Type or paste what the model is to read", 4)
        self.lines = QCheckBox("Each &line is a text of its own")
        self.target = _editor("Text for the decoder", READS_ITSELF, 2)
        self.tokens = _muted("")
        self.error = QLabel()
        self.error.setObjectName("error")
        self.error.setWordWrap(True)
        self.error.setTextFormat(Qt.TextFormat.PlainText)
        self.error.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.progress = QProgressBar()
        self.progress.setRange(0, STEPS)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Progress of the model")
        self.cancel = QPushButton("&Cancel")
        self.capture = QPushButton("Ca&pture")
        self.shut = QPushButton(CLOSE)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._lay_out()
        self._connect()
        self._on_working(modelling.working)
        self._refresh()

    @property
    def texts(self) -> list[str]:
        """What the model is to read."""
        return self._split(self.text)

    @property
    def targets(self) -> list[str]:
        """What its decoder is to read, where it has one; none where it reads the text itself."""
        return self._split(self.target) if self.target.isVisibleTo(self) else []

    @property
    def model(self) -> OpenedModel | None:
        """The model that was read, None where the path stands for another."""
        model = self._modelling.model
        stands = model is not None and self._typed() == str(model.path) != self._refused
        return model if stands else None

    def open_path(self, path: Path) -> None:
        """Open the model in the folder or file ``path``."""
        self._tried = str(path)
        self.path.setText(self._tried)
        self._say("")
        self._modelling.open(path)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        (self.path if self.model is None else self.text).setFocus()

    def _typed(self) -> str:
        return self.path.text().strip()

    def _split(self, editor: QPlainTextEdit) -> list[str]:
        whole = editor.toPlainText()
        parts = whole.splitlines() if self.lines.isChecked() else [whole]
        return [part for part in parts if part.strip()]

    def _lay_out(self) -> None:
        for button in (self.folder, self.file, self.cancel, self.shut):
            button.setAutoDefault(False)
        self.capture.setDefault(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 12)
        column.setSpacing(8)
        column.addLayout(_row(self.path, self.folder, self.file))
        column.addWidget(self.about)
        column.addWidget(self.at_hand)
        column.addSpacing(4)
        column.addWidget(self.text, 2)
        column.addWidget(self.target, 1)
        column.addWidget(self.lines)
        column.addWidget(self.tokens)
        column.addWidget(self.error)
        column.addStretch(0)
        column.addLayout(_row(self.progress, self.cancel, None, self.capture, self.shut))

    def _connect(self) -> None:
        modelling = self._modelling
        self.path.textChanged.connect(self._on_path)
        self.path.returnPressed.connect(self._open_typed)
        self.path.tabbed.connect(self._open_unread)
        self.text.installEventFilter(self)
        self.folder.clicked.connect(self._choose_folder)
        self.file.clicked.connect(self._choose_file)
        self.text.textChanged.connect(self._wait)
        self.target.textChanged.connect(self._refresh)
        self.lines.toggled.connect(lambda on: self._wait())
        self._pause.timeout.connect(self._tell_tokens)
        self.capture.clicked.connect(self._capture)
        self.cancel.clicked.connect(self._give_up)
        self.shut.clicked.connect(self.close)
        modelling.working_changed.connect(self._on_working)
        modelling.progressed.connect(lambda part: self.progress.setValue(int(part * STEPS)))
        modelling.opened.connect(self._on_opened)
        modelling.not_opened.connect(self._on_not_opened)
        modelling.tokens_told.connect(self._on_tokens)
        modelling.not_told.connect(self._on_no_tokens)
        modelling.captured.connect(self._on_captured)
        modelling.not_captured.connect(self._say)
        self._context.document.changed.connect(self._on_document)

    def _open_typed(self) -> None:
        if self._typed():
            self.open_path(typed_path(self._typed()))

    def _open_unread(self) -> None:
        """Read the model at the path that was typed, unless it was read or tried before."""
        if self.model is None and not self._modelling.working and self._typed() != self._tried:
            self._open_typed()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.text and event.type() == QEvent.Type.FocusIn:
            self._open_unread()
        return super().eventFilter(watched, event)

    def _choose_folder(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, "The folder of a model", self._start())
        if chosen:
            self.open_path(Path(chosen))

    def _choose_file(self) -> None:
        chosen, _ = QFileDialog.getOpenFileName(self, "A model", self._start(), MODELS)
        if chosen:
            self.open_path(Path(chosen))

    def _start(self) -> str:
        return str(Path(self._typed()).parent if self._typed() else Path.home())

    def _on_opened(self, model: OpenedModel) -> None:
        self._refused = ""
        self.path.setText(str(model.path))
        self._wait()
        self._tell_tokens()
        self.text.setFocus()

    def _on_not_opened(self, sentence: str) -> None:
        self._refused = self._typed()
        self.tokens.setText("")
        self._say(sentence)

    def _on_document(self, before: Session, after: Session) -> None:
        if after.model is not before.model:
            self._refresh()

    def _on_path(self) -> None:
        """What was said of the model at another path is no longer so."""
        self._say("")
        self.tokens.setText("")
        self._wait()

    def _wait(self) -> None:
        """What was found out of another text is no longer so."""
        self._sound = False
        self._pause.start()
        self._refresh()

    def _tell_tokens(self) -> None:
        self._pause.stop()
        if self.model is None:
            return
        if self.texts:
            self._modelling.tell_tokens(self.texts)
        else:
            self.tokens.setText("")
            self._say("")

    def _on_tokens(self, told: tuple[tuple[str, ...], ...]) -> None:
        if self._pause.isActive() or self.model is None or len(told) != len(self.texts):
            return  # of a text or a model that is another by now
        count = sum(map(len, told))
        names = "  ‖  ".join(" · ".join(names) for names in told)
        cut = names if len(names) <= PREVIEWED_CHARACTERS else f"{names[:PREVIEWED_CHARACTERS]}…"
        of = f" of {len(told)} texts" if len(told) > 1 else ""
        self.tokens.setText(f"{count:,} token{'s' if count > 1 else ''}{of}: {cut}")
        self._sound = True
        self._say("")
        self._refresh()

    def _on_no_tokens(self, sentence: str) -> None:
        if self._pause.isActive() or self.model is None:
            return
        self.tokens.setText("")
        self._sound = False
        self._say(sentence)
        self._refresh()

    def _capture(self) -> None:
        if self._may_discard():
            self._say("")
            self._modelling.capture(self.texts, self.targets)

    def _on_captured(self, session: Session) -> None:
        texts = 1 if session.model is None else max(1, len(session.model.texts))
        count = len(session.experiments) // texts
        of = f" of {texts} texts" if texts > 1 else ""
        told = f"{count} layer{'s' if count > 1 else ''}{of} captured: every head can be edited and compared"
        self._context.notices.info(told, "capture")
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, told))
        self.accept()

    def _give_up(self) -> None:
        self._modelling.cancel()
        self._say("")

    def _on_working(self, working: bool) -> None:
        self.progress.setValue(0)
        self.progress.setVisible(working)
        self.cancel.setVisible(working)
        self._refresh()

    def _refresh(self) -> None:
        model, working = self.model, self._modelling.working
        if model is not None:
            self.about.setText(f"{described(model)}. Nothing is fetched from the network.")
        else:
            self.about.setText(OFFLINE if not self._typed() or working or self.error.text() else UNREAD)
        captured = self._context.document.session.model
        fits = model is not None and captured is not None and self._modelling.model_for(captured) is model
        self.at_hand.setVisible(fits and not working)
        self.shut.setText(USE if fits and not working else CLOSE)
        self.target.setVisible(model is not None and model.is_encoder_decoder)
        reason = self._reason()
        self.capture.setEnabled(not reason and not working)
        self.capture.setToolTip(reason or "Run the model on the text and look into every attention")
        for field in (self.path, self.folder, self.file):
            field.setEnabled(not working)

    def _reason(self) -> str:
        """Why nothing can be captured as it stands, or ""."""
        if self.model is None:
            return "The model at this path was not read" if self._typed() else "Choose a model first"
        if not self.texts:
            return "Type a text for the model to read"
        targets = self.targets
        if targets and len(targets) != len(self.texts):
            return f"{len(self.texts)} texts need as many for the decoder, not {len(targets)}"
        return "" if self._sound else "The text is not made of tokens yet"

    def _say(self, fault: str) -> None:
        self.error.setText(f"⚠ {fault}" if fault else "")
        self.error.setVisible(bool(fault))
        self._refresh()
        if fault and not self.isVisible():
            self._context.notices.error(fault, "capture")


def _editor(name: str, placeholder: str, lines: int) -> QPlainTextEdit:
    editor = QPlainTextEdit()
    editor.setAccessibleName(name)
    editor.setPlaceholderText(placeholder)
    editor.setTabChangesFocus(True)
    editor.setMinimumHeight(lines * editor.fontMetrics().lineSpacing() + 12)
    return editor


def _muted(text: str) -> QLabel:
    label = QLabel(text)
    label.setObjectName("muted")
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def _row(*parts: QWidget | None) -> QHBoxLayout:
    """Widgets side by side; None is the room between."""
    row = QHBoxLayout()
    row.setSpacing(8)
    for part in parts:
        if part is None:
            row.addStretch(1)
        else:
            row.addWidget(part, 1 if isinstance(part, QProgressBar | QLineEdit) else 0)
    return row
