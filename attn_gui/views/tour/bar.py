"""The bar of a tour: what a step says, or a question and its answer, and the way on."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from attn_gui.control.touring import Touring
from attn_gui.model.tour import Passage, Scene, Step, Tour
from attn_gui.views import half_typed
from attn_gui.views.buttons import link_style
from attn_gui.views.context import Context
from attn_gui.views.tour.passage_label import PassageLabel

SIDE, ABOVE, SPACING = 12, 8, 8
LINE_SPACING = 4
# longer lines are hard to read
LONGEST_LINE = 880
PAGES = {Qt.Key.Key_PageDown: 1, Qt.Key.Key_PageUp: -1}


class TourBar(QFrame):
    """Stands above everything else, as tall as the longest text of the tour needs: the formula does not jump."""

    def __init__(self, context: Context, touring: Touring, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.touring = touring
        self._stop: object = None
        self.setObjectName("panel")
        self.setAccessibleName("Tour")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.title, self.place = QLabel(), QLabel()
        self.title.setObjectName("title")
        self.place.setObjectName("muted")
        for label in (self.title, self.place):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.again = QToolButton()
        self.again.setText("Set up again")
        self.again.setToolTip("Show what this step speaks of; Undo brings back what is shown now")
        self.again.setAutoRaise(True)
        self.text, self.answer, self._measure = PassageLabel(), PassageLabel(), PassageLabel(self)
        self.reveal, self.try_it = QPushButton("Show the &answer"), QPushButton("&Try it")
        self.try_it.setToolTip("Set the window up so that it shows the answer")
        self.leave, self.back, self.next = QPushButton("&Leave"), QPushButton("&Back"), QPushButton("&Next")
        self.leave.setToolTip("Back to what was open before the tour (Esc)")
        self.back.setToolTip("Shift+F8")
        self.next.setToolTip("F8")
        self._lay_out()
        self.reveal.clicked.connect(self._reveal)
        self.try_it.clicked.connect(self._try_it)
        self.again.clicked.connect(lambda: self.touring.set_up_again() if half_typed.commit() else None)
        self.leave.clicked.connect(self.go_away)
        self.back.clicked.connect(lambda: self.step(-1))
        self.next.clicked.connect(lambda: self.step(1))
        self.text.followed.connect(self._follow)
        self.answer.followed.connect(self._follow_answer)
        touring.shown.connect(self._show)
        touring.left.connect(self.hide)
        context.document.changed.connect(lambda before, after: self._mark())
        context.look.changed.connect(self._restyle)
        self._restyle()

    def step(self, by: int) -> None:
        """Go ``by`` places on; from the last the way on is the way out."""
        tour = self.touring.tour
        if tour is None or not half_typed.commit():
            return
        place = self.touring.place + by
        if place < len(tour):
            self.touring.go_to(place)
        else:
            self.go_away()

    def go_away(self) -> None:
        """Leave the tour; what is half typed in it goes with it."""
        if self.touring.tour is not None:
            half_typed.drop(refused=True)
            self.touring.leave()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in PAGES:
            self.step(PAGES[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(self.title)
        head.addWidget(self.place)
        head.addWidget(self.again)
        head.addStretch(1)
        column = QVBoxLayout()
        column.setSpacing(LINE_SPACING)
        column.addLayout(head)
        for label in (self.text, self.answer):
            label.setMaximumWidth(LONGEST_LINE)
            column.addWidget(label)
        column.addStretch(1)
        self._buttons = QGridLayout()
        self._buttons.setSpacing(SPACING)
        for place, button in enumerate((self.leave, self.back, self.next)):
            self._buttons.addWidget(button, 0, place)
        self._buttons.addWidget(self.try_it, 1, 0)
        self._buttons.addWidget(self.reveal, 1, 1, 1, 2)
        self._buttons.setRowStretch(2, 1)
        for button in (self.try_it, self.reveal):
            policy = button.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            button.setSizePolicy(policy)
        row = QHBoxLayout(self)
        row.setContentsMargins(SIDE, ABOVE, SIDE, ABOVE)
        row.setSpacing(16)
        row.addLayout(column, 1)
        row.addLayout(self._buttons)
        self._measure.hide()

    def _fit(self) -> None:
        """Be as tall as the longest text of the tour is at this width."""
        tour = self.touring.tour
        if tour is None:
            return
        beside = self._buttons.sizeHint()
        width = min(LONGEST_LINE, self.width() - 2 * SIDE - 16 - beside.width())
        texts = max(self._text_height(tour, width), self.title.sizeHint().height())
        needed = self.title.sizeHint().height() + LINE_SPACING + texts
        self.setFixedHeight(2 * ABOVE + 2 * self.frameWidth() + max(needed, beside.height()))

    def _text_height(self, tour: Tour, width: int) -> int:
        heights = []
        for step in tour.steps:
            heights.append(self._measured(step.text, width))
        for question in tour.questions:
            both = self._measured(question.text, width), self._measured(question.answer, width)
            heights.append(sum(both) + LINE_SPACING)
        return max(heights, default=0)

    def _measured(self, passage: Passage, width: int) -> int:
        self._measure.setFont(self.text.font())
        self._measure.show_passage(passage)
        return self._measure.heightForWidth(width)

    def _show(self, scene: Scene) -> None:
        if self.touring.stop is not self._stop:
            self._stop = self.touring.stop
            self._show_stop()
        self._mark()

    def _show_stop(self) -> None:
        tour, place, stop = self.touring.tour, self.touring.place, self.touring.stop
        assert tour is not None
        self.title.setText(stop.title if isinstance(stop, Step) else f"Question {place - len(tour.steps) + 1}")
        self.place.setText(f"{tour.title}: {place + 1} of {len(tour)}")
        self.text.show_passage(stop.text)
        self.answer.hide()
        self.try_it.hide()
        self.reveal.setVisible(not isinstance(stop, Step))
        self.reveal.setEnabled(True)
        self.back.setEnabled(place > 0)
        self.next.setText("&Next" if place + 1 < len(tour) else "&Finish")
        self._fit()
        self.show()
        self.next.setFocus()
        self._say(f"{self.place.text()}. {self.title.text()}. {stop.text.text}")

    def _reveal(self) -> None:
        stop = self.touring.stop
        if not isinstance(stop, Step):
            self.answer.show_passage(stop.answer)
            self.answer.show()
            self.try_it.show()
            self._mark()
            self.try_it.setFocus()
            self.reveal.setEnabled(False)
            self._say(stop.answer.text)

    def _try_it(self) -> None:
        if half_typed.commit():
            self.touring.try_answer()
            self.next.setFocus()

    def _mark(self) -> None:
        """Offer nothing that the window shows already."""
        if self.touring.tour is not None:
            self.try_it.setEnabled(not self.touring.answered)
            self.again.setVisible(self.touring.changed)

    def _restyle(self) -> None:
        self.again.setStyleSheet(link_style(self._context.look.theme))

    def _follow(self, head: object, query: int, key: int) -> None:
        selection = self._context.selection
        if head == "mean" or isinstance(head, int):
            selection.set_head(head)
        selection.set_cell(query, key)

    def _follow_answer(self, head: object, query: int, key: int) -> None:
        # its numbers are those of what is tried: in any other window the cell would hold another
        if not self.touring.answered:
            self._try_it()
        self._follow(head, query, key)

    def _say(self, text: str) -> None:
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))
