"""Panel: the frame that the four parts of the formula share."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from attn_gui.views.bands import HEADER
from attn_gui.views.context import Context
from attn_gui.views.formula_label import FormulaLabel
from attn_gui.views.panel_focus import takes_focus

TITLE_HEIGHT = 28
FOOTER_HEIGHT = 32
SIDE = 12
BETWEEN = 8


class Panel(QFrame):
    """A title row (step, title, formula), a body that holds header and rows, and a footer.

    All panels measure alike above and below their body, so that a row is at one height in every one of them.
    """

    title_double_clicked = Signal()

    def __init__(self, context: Context, step: str, title: str, formula: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.setObjectName("panel")
        self._title = title
        self._filled: list[QWidget] = []
        self._sentence: QLabel | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SIDE, 8, SIDE, 8)
        layout.setSpacing(4)
        top = QWidget()
        top.setFixedHeight(TITLE_HEIGHT)
        top.installEventFilter(self)
        row = QHBoxLayout(top)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(BETWEEN)
        self.title_layout = QHBoxLayout()
        self.title_layout.setSpacing(BETWEEN)
        row.addLayout(self.title_layout, 1)
        self._title_row = row
        self._at_end: QWidget | None = None
        self._title_labels = _label(step, "step"), _label(title, "title")
        for label in self._title_labels:
            self.title_layout.addWidget(label)
        self.formula = FormulaLabel(formula)
        self.formula.setObjectName("muted")
        self.title_layout.addWidget(self.formula, 1)
        layout.addWidget(top)
        self._top = top
        self.show_formula(formula)
        self._body = QVBoxLayout()
        self._body.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(self._body, 1)
        self._footer = QHBoxLayout()
        self._footer.setContentsMargins(0, 0, 0, 0)
        self._footer.setSpacing(8)
        foot = QWidget()
        foot.setFixedHeight(FOOTER_HEIGHT)
        foot.setLayout(self._footer)
        layout.addWidget(foot)

    @property
    def title_room(self) -> int:
        """Pixels beside the step and the title."""
        said = [part for part in (*self._title_labels, self._at_end) if part is not None and not part.isHidden()]
        taken = sum(part.sizeHint().width() + BETWEEN for part in said)
        return self.contentsRect().width() - 2 * SIDE - taken

    def put_at_end(self, widget: QWidget) -> None:
        """Have ``widget`` at the right end of the title row, after whatever else stands in it."""
        self._at_end = widget
        self._title_row.addWidget(widget)

    def take_focus(self) -> None:
        """Have the first that takes it in the body hold the focus."""
        inside = [part for body in self._filled[:1] for part in (body, *body.findChildren(QWidget))]
        taker = next((part for part in inside if takes_focus(part, self)), None)
        if taker is not None:
            taker.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.MouseButtonDblClick and isinstance(event, QMouseEvent):
            # what is beside a control there, and not a control itself
            plain = (None, *self._title_labels, self.formula)
            if event.button() == Qt.MouseButton.LeftButton and self._top.childAt(event.position().toPoint()) in plain:
                self.title_double_clicked.emit()
                return True
        return False

    def show_formula(self, text: str, explained: str = "") -> None:
        """Write ``text`` after the title; it is told in full, and as it is ``explained``, where one points at it."""
        told = explained or text
        if (text, told) == (self.formula.text(), self.explained):
            return
        self.formula.setText(text)
        self._top.setToolTip(told)
        self.setAccessibleName(f"{self._title}, {text}")

    def show_title(self, shown: bool) -> None:
        """Have the title said, or left to what else stands in its row."""
        self._title_labels[1].setVisible(shown)

    def title_width(self, *, titled: bool) -> int:
        """Pixels that the panel takes for its title row, with the title said or not, and none for the formula."""
        step, title = self._title_labels
        own = (step, title, self.formula)
        items = (self.title_layout.itemAt(k) for k in range(self.title_layout.count()))
        others = (item.widget() for item in items if item is not None)
        beside = (self._at_end, *(part for part in others if part not in own))
        parts = [step, *([title] if titled else []), *(part for part in beside if part and not part.isHidden())]
        said = sum(part.sizeHint().width() + BETWEEN for part in parts)
        return self.width() - self.contentsRect().width() + 2 * SIDE + said

    @property
    def explained(self) -> str:
        """What is told where one points at the title."""
        return self._top.toolTip()

    def set_body(self, body: QWidget) -> None:
        self._body.addWidget(body)
        self._filled.append(body)

    def set_footer(self, footer: QWidget) -> None:
        self._footer.addWidget(footer)
        self._filled.append(footer)

    @property
    def absent(self) -> str:
        """The sentence that stands in the place of the body, empty where the body itself does."""
        return "" if self._sentence is None else self._sentence.text()

    def show_absent(self, sentence: str) -> None:
        """Say why there is nothing to show here, in the place of body and footer; they are back without a sentence."""
        if sentence == self.absent:
            return
        if self._sentence is None:
            self._sentence = QLabel()
            self._sentence.setObjectName("muted")
            self._sentence.setWordWrap(True)
            self._sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
            self._sentence.setContentsMargins(0, HEADER, 0, 0)
            self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._sentence.setMinimumWidth(1)
            self._body.addWidget(self._sentence)
        self._sentence.setText(sentence)
        self._sentence.setVisible(bool(sentence))
        for part in self._filled:
            part.setVisible(not sentence)


def _label(text: str, name: str) -> QLabel:
    label = QLabel(text)
    label.setObjectName(name)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
    return label
