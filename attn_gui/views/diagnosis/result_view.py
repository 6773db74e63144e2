"""ResultView: the conventions that were found, or the nearest miss, and what each means."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QListWidget, QPlainTextEdit, QVBoxLayout, QWidget

from attn_gui.model.diagnosis import Convention, Departure, Diagnosis

LIST_LINES = 3
TEXT_LINES = 6
EMPTY = "Give the numbers of the other program, one stage or several, and press Find."


class ResultView(QWidget):
    """``selected`` tells that another of the conventions is looked at."""

    selected = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._diagnosis: Diagnosis | None = None
        self.headline = QLabel()
        self.headline.setWordWrap(True)
        self.headline.setTextFormat(Qt.TextFormat.PlainText)
        self.list = QListWidget()
        self.list.setAccessibleName("Conventions")
        self.list.setUniformItemSizes(True)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName("What it means")
        self.text.setTabChangesFocus(True)
        self.text.setPlaceholderText("What it means, how it is written in well-known code, and where numbers depart")
        line = self.fontMetrics().lineSpacing()
        self.list.setFixedHeight(LIST_LINES * (line + 4) + 4)
        self.text.setMinimumHeight(TEXT_LINES * line + 12)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.headline)
        column.addWidget(self.list)
        column.addWidget(self.text, 1)
        self.list.currentRowChanged.connect(self._on_row)
        self.show_nothing()

    @property
    def convention(self) -> Convention | None:
        """The one that is looked at."""
        row = self.list.currentRow()
        shown = self._shown()
        return shown[row] if 0 <= row < len(shown) else None

    @property
    def departure(self) -> Departure | None:
        """Where the numbers first depart: from the nearest miss, or from the standard where something matches."""
        d = self._diagnosis
        if d is None:
            return None
        return d.nearest.departure if d.nearest is not None else d.departure

    def show_diagnosis(self, diagnosis: Diagnosis) -> None:
        """List what was found, the first of it selected."""
        self._diagnosis = diagnosis
        self._say(diagnosis.headline, "title")
        self.list.clear()
        nearest = "" if diagnosis.nearest is None else f"{diagnosis.nearest.label}: "
        self.list.addItems([f"{nearest}{convention.title}" for convention in self._shown()])
        self.list.setCurrentRow(0)

    def show_nothing(self, why: str = EMPTY) -> None:
        """There is no result to look at."""
        self._diagnosis = None
        self._say(why, "muted")
        self.list.clear()
        self.text.clear()
        self.selected.emit()

    def _say(self, headline: str, style: str) -> None:
        self.headline.setObjectName(style)
        self.headline.setText(headline)
        self.headline.style().unpolish(self.headline)
        self.headline.style().polish(self.headline)

    def _shown(self) -> tuple[Convention, ...]:
        d = self._diagnosis
        if d is None:
            return ()
        return d.matches if d.nearest is None else (d.nearest.convention,)

    def _on_row(self, row: int) -> None:
        self.text.setPlainText("\n\n".join(self._paragraphs()))
        self.selected.emit()

    def _paragraphs(self) -> list[str]:
        d, convention = self._diagnosis, self.convention
        if d is None or convention is None:
            return []
        parts = [f"{c.meaning}\nAs in: {c.written}" if c.written else c.meaning for c in convention.choices]
        if d.nearest is not None:
            parts.append(d.nearest.sentence)
        elif d.departure is not None:
            parts.append(f"The standard first departs at {d.departure.sentence}.")
        return [*parts, "\n".join(d.notes)]
