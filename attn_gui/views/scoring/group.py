"""Group: one step of the scoring, its name above its controls."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from attn_gui.model.acting import idle
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.scoring import Scoring
from attn_gui.views.context import Context
from attn_gui.views.text_field import why

# pixels of a group with one column of controls, and between groups
WIDTH, GAP = 228, 24


class Group(QFrame):
    """A column of controls under a title; what could not be done is said below them."""

    title = ""
    # what of the scoring it is about
    field = ""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self._idle = False
        self.widen(1)
        self.setAccessibleName(self.title)
        heading = QLabel(self.title)
        heading.setObjectName("title")
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 8)
        self.column.setSpacing(4)
        self.column.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.column.addWidget(heading)
        self.reason = QLabel()
        self.reason.setObjectName("error")
        self.reason.setWordWrap(True)
        self.reason.hide()

    def widen(self, columns: int) -> None:
        """Be as wide as ``columns`` groups side by side."""
        self.setFixedWidth(columns * (WIDTH + GAP) - GAP)

    def finish(self) -> None:
        """Call once every control is in the column."""
        self.column.addWidget(self.reason)

    def show_experiment(self, experiment: Experiment) -> None:
        """Bring the controls to what ``experiment`` says."""
        raise NotImplementedError

    def show_whether_idle(self, experiment: Experiment) -> None:
        """Let nothing be chosen that would not act on ``experiment``, and say why."""
        why_idle = idle(experiment, self.field)
        if why_idle or self._idle:
            self.setEnabled(not why_idle)
            self._idle = bool(why_idle)
            self.reason.setObjectName("muted" if why_idle else "error")
            self.reason.style().polish(self.reason)
            self.say(why_idle)

    @property
    def scoring(self) -> Scoring:
        return self.context.document.experiment.scoring

    def apply(self, label: str, experiment: Experiment, merge: str | None = None) -> None:
        """Make ``experiment`` the present one."""
        self.say("")
        self.context.document.apply(label, experiment, merge)

    def say(self, reason: str) -> None:
        """Say below the controls why something could not be done."""
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))
        self.setAccessibleDescription(reason)

    def refused(self, error: ExperimentError) -> None:
        """Say why, and show again what is in force."""
        self.show_experiment(self.context.document.experiment)
        self.say(why(error))
