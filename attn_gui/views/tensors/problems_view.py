"""ProblemsView: what keeps a file from being opened as it is read, or may be read otherwise, with the way out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from attn_gui.model.tensors.checks import Problem

SHOWN = 3


class ProblemsView(QWidget):
    """``remedied(reading)`` asks for the reading in which a problem is gone."""

    remedied = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._problems: tuple[Problem, ...] = ()
        self.texts = [QLabel() for _ in range(SHOWN)]
        self.remedies = [QPushButton("Read it &so" if place == 0 else "Read it so") for place in range(SHOWN)]
        self.more = QLabel()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for place, (text, remedy) in enumerate(zip(self.texts, self.remedies, strict=True)):
            text.setObjectName("error")
            text.setTextFormat(Qt.TextFormat.PlainText)
            text.setWordWrap(True)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            remedy.setAccessibleName("Read it so")
            remedy.setAutoDefault(False)
            remedy.clicked.connect(lambda checked=False, place=place: self._remedy(place))
            row = QHBoxLayout()
            row.setSpacing(8)
            row.addWidget(text, 1)
            row.addWidget(remedy)
            column.addLayout(row)
        self.more.setObjectName("muted")
        column.addWidget(self.more)
        self.show_problems(())

    def show_problems(self, problems: Sequence[Problem], doubts: Sequence[Problem] = ()) -> None:
        """Show the first of ``problems`` and of ``doubts``, which keep nothing from being opened, and how many more."""
        self._problems = (*problems, *doubts)
        for place, (text, remedy) in enumerate(zip(self.texts, self.remedies, strict=True)):
            problem = self._problems[place] if place < len(self._problems) else None
            text.setVisible(problem is not None)
            style = "error" if place < len(problems) else "muted"
            if text.objectName() != style:
                text.setObjectName(style)
                text.style().unpolish(text)
                text.style().polish(text)
            mark = "⚠ " if place < len(problems) else ""
            text.setText("" if problem is None else f"{mark}{problem.text}")
            there = problem is not None and problem.remedy is not None
            remedy.setVisible(there)
            remedy.setAccessibleDescription(problem.text if problem is not None else "")
        left = len(self._problems) - SHOWN
        self.more.setVisible(left > 0)
        self.more.setText(f"and {left:,} more" if left > 0 else "")
        self.setVisible(bool(self._problems))

    def _remedy(self, place: int) -> None:
        problem = self._problems[place]
        if problem.remedy is not None:
            self.remedied.emit(problem.remedy)
