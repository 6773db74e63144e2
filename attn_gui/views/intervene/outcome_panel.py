"""OutcomePanel: what a model says before and after, the place that is asked about, and the run on its way."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from attn_gui.control.intervening import Intervening
from attn_gui.model.captured import CapturedModel
from attn_gui.model.intervention import Guesses, Outcome, TokenOdds
from attn_gui.views.context import Context
from attn_gui.views.drawers.drawer import SPACING, table_height
from attn_gui.views.elided_label import ElidedLabel
from attn_gui.views.intervene.outcome_model import OutcomeModel, lines_of_embeddings, lines_of_odds
from attn_gui.views.intervene.outcome_table import OutcomeTable
from attn_gui.views.intervene.words import place_words, summary, text_of
from attn_gui.views.top_bar import Dropdown

STEPS = 1000
# a run that is over sooner shows no progress
SOON_MS = 300
RUNNING = "Running the model…"
CANCELLED = "Cancelled. Any change runs the model again."
MASKS = ("[MASK]", "<mask>")


class OutcomePanel(QWidget):
    """While the answer to the changes in force is on its way, only what the model says by itself stays.

    ``grown``: there are more or fewer lines.
    """

    grown = Signal()

    def __init__(self, context: Context, intervening: Intervening, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._intervening = intervening
        self._outcome: Outcome | None = None
        self._captured: CapturedModel | None = None  # the model that it is of
        self._given_up = False
        self._place: int | None = None  # None: the one that a person most likely asks of
        self.place = Dropdown("Where the model guesses")
        self.told = ElidedLabel()
        self.told.setObjectName("muted")
        self.error = QLabel()
        self.error.setObjectName("error")
        self.error.setWordWrap(True)
        self.error.setTextFormat(Qt.TextFormat.PlainText)
        self.progress = QProgressBar()
        self.progress.setRange(0, STEPS)
        self.progress.setAccessibleName("Progress of the model")
        self.progress.setTextVisible(False)
        self.cancel = QPushButton("Cancel")
        self.lines = OutcomeModel(self)
        self.table = OutcomeTable(context.look, self.lines)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(SOON_MS)
        self._lay_out()
        self._soon.timeout.connect(lambda: self._show_progress(True))
        self.place.chosen.connect(self._choose_place)
        self.cancel.clicked.connect(self._give_up)
        intervening.answered.connect(self._on_outcome)
        intervening.failed.connect(self._on_failure)
        intervening.running_changed.connect(self._on_running)
        intervening.progressed.connect(lambda part: self.progress.setValue(int(part * STEPS)))
        context.settings.changed.connect(lambda name: self.refresh() if name == "decimals" else None)
        self._say("")
        self._on_running(intervening.running)

    def needed_height(self, width: int) -> int:
        """Pixels for every line where it is ``width`` wide."""
        return self._top.height() + SPACING + table_height(self.table, width)

    @property
    def odds(self) -> TokenOdds | None:
        """What is held likely at the place that is shown."""
        result = None if self._outcome is None else self._outcome.result
        if not isinstance(result, Guesses):
            return None
        session = self._context.document.session
        places = result.texts[min(text_of(session, session.current), len(result.texts) - 1)]
        likely = next((each for each in places if each.at in MASKS), places[-1])
        return next((each for each in places if each.place == self._place), likely)

    def refresh(self) -> None:
        """Show what came out last, of the model that is captured now."""
        captured = self._context.document.session.model
        if captured is not self._captured:
            self._captured, self._outcome, self._place = captured, None, None
            self._say("")
        outcome, odds, decimals = self._outcome, self.odds, self._context.settings.decimals
        self.place.setVisible(odds is not None)
        if outcome is None:
            self.lines.show([], decimals)
        elif odds is not None and isinstance(outcome.result, Guesses):
            self._offer_places(outcome.result, odds)
            self.lines.show(lines_of_odds(odds), decimals)
        elif not isinstance(outcome.result, Guesses):
            texts = () if captured is None else captured.texts
            self.lines.show(lines_of_embeddings(outcome.result, texts), decimals)
        answered = outcome is not None and outcome is self._intervening.outcome
        self.table.setEnabled(answered)
        if outcome is not None and answered:
            self.told.setText(summary(outcome, odds, decimals))
        else:
            self.lines.await_answer()
            self.told.setText(RUNNING if self._intervening.running else CANCELLED if self._given_up else "")
        self.grown.emit()

    def _lay_out(self) -> None:
        self._top = QWidget()
        self._top.setFixedHeight(self.place.sizeHint().height())
        line = QHBoxLayout(self._top)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(12)
        line.addWidget(self.place)
        line.addWidget(self.told, 1)
        line.addWidget(self.progress)
        line.addWidget(self.cancel)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACING)
        column.addWidget(self._top)
        column.addWidget(self.error)
        column.addWidget(self.table, 1)

    def _offer_places(self, guesses: Guesses, shown: TokenOdds) -> None:
        places = next(text for text in guesses.texts if any(each is shown for each in text))
        choices = [(each.place, place_words(each, guesses.masked), None) for each in places]
        self.place.show_choices(choices, shown.place)

    def _choose_place(self, place: int) -> None:
        self._place = place
        self.refresh()

    def _on_outcome(self, outcome: Outcome) -> None:
        self._outcome, self._captured = outcome, self._context.document.session.model
        self._say("")
        self.refresh()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.told.text()))

    def _on_failure(self, sentence: str) -> None:
        self._outcome = None
        self._say(sentence)
        self.refresh()

    def _on_running(self, running: bool) -> None:
        self.progress.setValue(0)
        if running:
            self._given_up = False
            self._say("")
            self._soon.start()
        else:
            self._soon.stop()
            self._show_progress(False)
        self.refresh()

    def _show_progress(self, shown: bool) -> None:
        self.progress.setVisible(shown)
        self.cancel.setVisible(shown)

    def _give_up(self) -> None:
        self._given_up = True
        self._intervening.cancel()

    def _say(self, fault: str) -> None:
        self.error.setText(f"⚠ {fault}" if fault else "")
        self.error.setVisible(bool(fault))
