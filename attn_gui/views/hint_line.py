"""One quiet line under the note: the first tour at the very first start, later something to try with the example."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QWidget

from attn_gui.control.document import AS_SHIPPED
from attn_gui.files import examples
from attn_gui.files.errors import FileError
from attn_gui.model.session import NamedExperiment
from attn_gui.views import half_typed
from attn_gui.views.buttons import link_style
from attn_gui.views.context import Context
from attn_gui.views.elided_label import ElidedLabel

if TYPE_CHECKING:
    from attn_gui.model.tour import Try

OFFER = "New here? A short tour shows how one token looks at the others."
TOPIC = "try"
# between the lines of the window
LINE_GAP = 8


class HintLine(QWidget):
    """``tour_wanted`` says that the offered tour was accepted. Out of sight where there is nothing to offer.

    An experiment is done with the example as it was shipped, whatever was changed in it, as one undo step.
    """

    tour_wanted = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._name = ""
        self._tries: tuple[Try, ...] = ()
        self._at = 0
        self._wanted = self._folded = False
        self.label = ElidedLabel()
        self.label.setObjectName("muted")
        # the links stand behind the text, which gives way where the line is short; as tall as they, it is level
        self.label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.start = _link("Start the tour", "Nothing that you have open is changed by it")
        self.do_it = _link("Do it", "With the example as it was shipped, as one step that can be undone")
        self.undo = _link("Undo", "Back to what was there before")
        self.other = _link("Another", "Something else to try with this example")
        self.dismiss = _link("Not now", "The tours stand in the menu Learn")
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 0, 4, 0)
        row.setSpacing(12)
        row.addWidget(self.label)
        for button in (self.start, self.do_it, self.undo, self.other, self.dismiss):
            row.addWidget(button)
        row.addStretch(1)
        self.start.clicked.connect(self.tour_wanted)
        self.dismiss.clicked.connect(lambda: setattr(context.settings, "first_tour", False))
        self.do_it.clicked.connect(self._do)
        self.undo.clicked.connect(lambda: context.document.undo_stack.undo() if half_typed.commit() else None)
        self.other.clicked.connect(self._show_other)
        context.document.changed.connect(lambda before, after: self._refresh())
        context.document.path_changed.connect(self._refresh)
        context.settings.changed.connect(lambda name: self._refresh() if name == "first_tour" else None)
        context.look.changed.connect(self._restyle)
        self._restyle()
        self._refresh()

    @property
    def spare(self) -> int:
        return self.sizeHint().height() + LINE_GAP if self._wanted else 0

    def fold(self, pixels: int) -> int:
        self._folded = pixels > 0
        self._refresh()
        return self.spare if self._folded else 0

    def _refresh(self) -> None:
        document = self._context.document
        offered = self._context.settings.first_tour
        self._read(document.session.named)
        self._wanted = (offered or bool(self._tries)) and not document.visiting
        self.setVisible(self._wanted and not self._folded)
        for button in (self.start, self.dismiss):
            button.setVisible(offered)
        done = not offered and bool(self._tries) and document.experiment is self._tries[self._at].scene.named.experiment
        self.do_it.setVisible(not offered and bool(self._tries) and not done)
        self.undo.setVisible(done)
        self.other.setVisible(not offered and len(self._tries) > 1)
        if offered:
            self.label.setText(OFFER)
        elif self._tries:
            here = self._tries[self._at]
            self.label.setText(f"Try this: {here.action}. {here.outcome.text}")
        self.setAccessibleName(self.label.text())

    def _read(self, named: NamedExperiment) -> None:
        """Have what there is to try with the shipped example that ``named`` is, or comes of."""
        shipped = None if named.exercise is not None else examples.of_note(named.note.removeprefix(AS_SHIPPED))
        name = "" if shipped is None or self._context.settings.first_tour else shipped
        if name != self._name:
            self._name, self._tries, self._at = name, (), 0
            if name:
                self._tries = self._tries_with(name)

    def _tries_with(self, name: str) -> tuple[Try, ...]:
        # imported when there is something to try: the first window, which offers a tour, does not wait for it
        from attn_gui.files import tours

        try:
            return tours.tries(name)
        except FileError as error:
            self._context.notices.error(str(error), TOPIC)
            return ()

    def _do(self) -> None:
        if half_typed.commit():
            document, selection, here = self._context.document, self._context.selection, self._tries[self._at]
            document.apply(f"Try: {here.action}", here.scene.named.experiment)
            selection.set_head(here.scene.head)
            selection.set_cell(*here.scene.cell)

    def _show_other(self) -> None:
        self._at = (self._at + 1) % len(self._tries)
        self._refresh()

    def _restyle(self) -> None:
        self.setStyleSheet(link_style(self._context.look.theme))


def _link(text: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setAutoRaise(True)
    return button
