"""WalkBar: one stage of the computation after another, its formula and its real numbers, under the panels."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget
from shiboken6 import isValid

from attn_gui.control.walking import PACES, Walking
from attn_gui.model.answers import NotYet
from attn_gui.model.asks import Ask
from attn_gui.model.derivation import Cell, Derivation, DerivationAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.stages import STAGES
from attn_gui.model.vector import Vector, VectorAsk
from attn_gui.views.context import Context
from attn_gui.views.formula_label import FormulaLabel
from attn_gui.views.nothing_yet import nothing_yet
from attn_gui.views.walk import words
from attn_gui.views.walk.numbers import Numbers, formula_of
from attn_gui.views.walk.scrubber import Scrubber

NUMBERS, VECTOR = "walk", "walk.vector"
# stages whose numbers the panels of the window show, whatever else is chosen in them
IN_PANELS = ("X", "raw", "scaled", "capped", "A", "A_masked", "N", "output")
# numbers of another cell stay for so long
PATIENCE_MS = 150
COMPUTING = "Computing"
PASSING = "This takes a pass over all rows, which is on its way"
PADDING = 16
Key = Qt.Key


class WalkBar(QFrame):
    """In sight while one walks, in the place of ``instead``, which says less of the same.

    Left and Right go from stage to stage, Up and Down from cell to cell, Space plays and rests, Home and End go to the
    ends, the page keys through what is longer than the bar, Escape leaves; Escape also from anywhere else in the
    window, where nothing there takes it.
    """

    def __init__(self, context: Context, walking: Walking, instead: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.walking = walking
        self._instead = instead
        self._before: QWidget | None = None
        self._of: Experiment | None = None
        self._asked: dict[str, Ask | None] = {}
        self._answers: dict[str, object] = {}
        self.setObjectName("panel")
        self.setAccessibleName("Walk through")
        self.back = self._button("‹", "Previous stage (Left)", lambda: walking.step(-1))
        self.play = self._button("Play", "Go through the stages (Space)", walking.toggle)
        self.on = self._button("›", "Next stage (Right)", lambda: walking.step(1))
        self.scrubber = Scrubber(context.look)
        self.pace = QComboBox()
        self.pace.setAccessibleName("Seconds a stage")
        self.pace.setToolTip("How long each stage stays while it plays")
        for seconds in PACES:
            self.pace.addItem(f"{seconds} s each", seconds)
        self.pace.setCurrentIndex(PACES.index(walking.pace))
        self.leave = self._button("✕", "Leave (Escape)", walking.leave)
        self.title = QLabel()
        self.title.setObjectName("title")
        self.formula = FormulaLabel("")
        self.formula.setObjectName("muted")
        self.what = QLabel()
        self.what.setTextFormat(Qt.TextFormat.PlainText)
        self.numbers = Numbers(context)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._patience.timeout.connect(lambda: self.numbers.say(COMPUTING))
        self.play.setCheckable(True)
        self.play.setMinimumWidth(self.play.fontMetrics().horizontalAdvance("Pause") + PADDING)
        self._lay_out()
        self.scrubber.valueChanged.connect(walking.go_to)
        self.pace.currentIndexChanged.connect(lambda index: setattr(walking, "pace", PACES[index]))
        for child in (self.back, self.play, self.on, self.scrubber, self.leave):
            child.installEventFilter(self)
        walking.changed.connect(self._follow)
        walking.playing_changed.connect(self._on_playing)
        context.feed.answered.connect(self._on_answer)
        context.look.changed.connect(self._show_numbers)
        context.settings.changed.connect(lambda name: self._show_numbers() if name == "decimals" else None)
        self.hide()

    def toggle(self) -> None:
        """Start the walk, or leave it."""
        if self.walking.active:
            self.walking.leave()
        else:
            self.walking.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        if watched is self.window():
            # what nothing in the window has taken
            return event.key() == Key.Key_Escape and self._press(Key.Key_Escape)
        # a button that has the focus is pressed by Space
        return (event.key() != Key.Key_Space or watched is self.scrubber) and self._press(Key(event.key()))

    def _press(self, key: Key) -> bool:
        """Do what ``key`` stands for; whether it stands for anything."""
        walking = self.walking
        match key:
            case Key.Key_Left:
                walking.step(-1)
            case Key.Key_Right:
                walking.step(1)
            case Key.Key_Up:
                walking.another_cell(-1)
            case Key.Key_Down:
                walking.another_cell(1)
            case Key.Key_Home:
                walking.go_to(0)
            case Key.Key_End:
                walking.go_to(len(walking.stops) - 1)
            case Key.Key_PageUp:
                self.numbers.turn(-1)
            case Key.Key_PageDown:
                self.numbers.turn(1)
            case Key.Key_Space:
                walking.toggle()
            case Key.Key_Escape:
                walking.leave()
            case _:
                return False
        return True

    def _follow(self) -> None:
        """Show what the walk has come to."""
        walking = self.walking
        self._come_and_go(walking.active)
        if not walking.active:
            return
        self._instead.hide()
        e, stop = walking.experiment, walking.stop
        if e is not self._of:  # an answer about the one before may speak of tokens that are gone
            self._of = e
            self._answers.clear()
        names = [words.short(e, stage) for stage in walking.stops]
        titles = [words.title(e, stage) for stage in walking.stops]
        blocked = self.scrubber.blockSignals(True)
        self.scrubber.show_stops(names, titles)
        self.scrubber.setValue(walking.index)
        self.scrubber.blockSignals(blocked)
        self.scrubber.tell()
        self.back.setEnabled(walking.index > 0)
        self.on.setEnabled(walking.index < len(walking.stops) - 1)
        title = titles[walking.index]
        if title != self.title.text():
            self.title.setText(title)
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.scrubber.accessibleDescription()))
        self.what.setText(words.where(e, stop, walking.head, walking.cell))
        place = stop, walking.head, *walking.cell
        self._ask(NUMBERS, DerivationAsk(*place))
        self._ask(VECTOR, None if walking.result_stage in IN_PANELS else VectorAsk(*place))
        self._show_numbers()

    def _ask(self, slot: str, ask: Ask | None) -> None:
        """Ask, and let go of the answer to what was asked before."""
        if self._asked.get(slot) != ask:
            self._answers.pop(slot, None)
        self._asked[slot] = ask
        self.context.feed.ask(slot, ask)

    def _come_and_go(self, active: bool) -> None:
        if active == (not self.isHidden()):
            return
        window = self.window()
        if active:
            self._before = window.focusWidget()
            window.installEventFilter(self)
        else:
            window.removeEventFilter(self)
            for slot in (NUMBERS, VECTOR):
                self._ask(slot, None)
            self._patience.stop()
        had_focus = self.isAncestorOf(window.focusWidget()) if window.focusWidget() is not None else False
        # an exercise hides it as well
        self._instead.setVisible(not active and "N" not in self.context.document.experiment.hidden)
        self.setVisible(active)
        if active:
            self.scrubber.setFocus(Qt.FocusReason.ShortcutFocusReason)
        elif had_focus and self._before is not None and isValid(self._before):  # an editor may have closed
            self._before.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_playing(self, playing: bool) -> None:
        self.play.setChecked(playing)
        self.play.setText("Pause" if playing else "Play")
        self.play.setToolTip("Rest at this stage (Space)" if playing else "Go through the stages (Space)")

    def _on_answer(self, slot: str, answer: object) -> None:
        if slot in (NUMBERS, VECTOR) and self.walking.active:
            self._answers[slot] = answer
            self._show_numbers()

    def _show_numbers(self) -> None:
        """Show the numbers of the stop, as soon as they are those that were asked for."""
        walking, feed = self.walking, self.context.feed
        if not walking.active:
            return
        e = walking.experiment
        derivation, vector = self._answers.get(NUMBERS), self._answers.get(VECTOR)
        if isinstance(derivation, Derivation) and self._is_here(derivation.cell):
            self._patience.stop()
            self.formula.setText(formula_of(derivation))
            self.numbers.show_derivation(e, derivation)
        elif feed.trace is None or isinstance(derivation, NotYet):
            self._patience.stop()
            self.numbers.say(nothing_yet(feed) if feed.trace is None else PASSING)
        elif not self._patience.isActive():
            self.formula.setText("")
            self._patience.start()
        here = isinstance(vector, Vector) and self._is_here(vector.ask)
        self.numbers.show_vector(e, vector if here and isinstance(vector, Vector) else None)

    def _is_here(self, place: Cell | VectorAsk) -> bool:
        """Whether an answer is about the number that is looked at."""
        walking = self.walking
        there = walking.stop, walking.head if STAGES[walking.stop].per_head else 0, walking.cell
        return (place.stage, place.head, (place.row, place.column)) == there

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(8)
        for widget in (self.back, self.play, self.on):
            top.addWidget(widget)
        top.addWidget(self.scrubber, 1)
        top.addWidget(self.pace)
        top.addWidget(self.leave)
        line = QHBoxLayout()
        line.setSpacing(12)
        line.addWidget(self.title)
        line.addWidget(self.what)
        line.addWidget(self.formula, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(4)
        column.addLayout(top)
        column.addLayout(line)
        column.addWidget(self.numbers)

    def _button(self, text: str, told: str, pressed: object) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setToolTip(told)
        button.setAccessibleName(told.partition(" (")[0])
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda checked=False: pressed())  # type: ignore[operator]
        return button
