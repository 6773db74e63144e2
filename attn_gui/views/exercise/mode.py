"""ExerciseMode: while an exercise hides anything, nothing in the window stands that would show it.

The numbers themselves are refused where they are computed; what is done here is that no panel stands empty or keeps
what it showed before, and that what would have nothing to say is disabled, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QVBoxLayout, QWidget

from attn_gui.control.exercising import Exercising
from attn_gui.model.session import Session
from attn_gui.views.exercise.exercise_bar import ExerciseBar
from attn_gui.views.exercise.work_panel import WorkPanel

if TYPE_CHECKING:
    from attn_gui.views.main_window import MainWindow

REASON = "Hidden until the exercise is solved"
NONE_ALONE = "Not beside an exercise that is being worked on"
# drawers that speak of nothing but what may be hidden; of its stages "stages" leaves out those that are
HIDING = ("heads", "why", "compare", "flow", "check", "layers")


class ExerciseMode(QObject):
    """The bar, the panel to type in, and what is out of sight meanwhile."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        context = window.context
        self.exercising = Exercising(context.worker, context.document, context.notices, self)
        self.bar = ExerciseBar(context, self.exercising)
        self.work = WorkPanel(context, self.exercising)
        self._closed: list[QWidget] = []  # drawers that were open
        self._barred: dict[QAction, tuple[bool, str, str]] = {}
        centre = window.centralWidget()
        column = None if centre is None else centre.layout()
        assert isinstance(column, QVBoxLayout)
        column.insertWidget(column.indexOf(window.formula), self.bar)
        window.formula.stand_in(self.work)
        window.menus.panels.add(self.work)
        # others open drawers as well: a tour that ends has the window as it was before
        self._shut_soon = QTimer(self)
        self._shut_soon.setSingleShot(True)
        self._shut_soon.setInterval(0)
        self._shut_soon.timeout.connect(self._shut)
        for dock in window.docks:
            dock.toggleViewAction().toggled.connect(lambda shown: self._shut_soon.start() if shown else None)
        self.bar.mine.toggled.connect(lambda on: self._arrange())
        context.document.changed.connect(lambda before, after: self.follow(after))
        self.follow(context.document.session)

    def follow(self, session: Session) -> None:
        """Bring the window into line with what ``session`` hides."""
        exercise = session.named.exercise
        if exercise is None or exercise.blank:
            self.bar.mine.setChecked(False)
        self.bar.setVisible(exercise is not None)
        self.bar.refresh()
        self.work.refresh()
        self._arrange()
        if session.experiment.hidden:
            self._bar()
        else:
            self._unbar()

    def _arrange(self) -> None:
        """Have the panels in sight that may be."""
        formula, hidden = self._window.formula, self._window.context.document.experiment.hidden
        exercise = self.exercising.exercise
        working = exercise is not None and (bool(exercise.blank) or self.bar.mine.isChecked())
        mine = working and not hidden
        had_focus = self._window.focusWidget()
        of_stages = ((formula.scores, "A_masked"), (formula.weights, "N"), (formula.output, "output"))
        withheld = [panel for panel, stage in of_stages if stage in hidden or mine]
        formula.withhold(withheld, NONE_ALONE if working else "")
        self.work.setVisible(working)
        self.work.drive(working and formula.scores.isHidden())
        formula.rebalance()
        walk = self._window.walk
        walking = walk is not None and not walk.isHidden()  # it stands in the place of the line of why
        self._window.sentence.sentence.setVisible("N" not in hidden)
        self._window.why.setVisible("N" not in hidden and not walking)
        if working and had_focus is not None and not had_focus.isVisible():
            self.work.table.setFocus()

    def _bar(self) -> None:
        selection = self._window.context.selection
        if not self._barred and selection.head == "mean":
            selection.set_head(0)  # nobody is asked for a mean
        walk = self._window.walk
        if walk is not None and walk.isVisible():
            walk.toggle()
        self._shut()
        wanted = set(self._actions())
        for action in [action for action in self._barred if action not in wanted]:
            self._give_back(action)
        for action in wanted:
            if action not in self._barred:
                self._barred[action] = action.isEnabled(), action.toolTip(), action.statusTip()
            action.setEnabled(False)
            action.setToolTip(REASON)
            action.setStatusTip(REASON)

    def _shut(self) -> None:
        """Close the drawers that would have nothing to say, until they have."""
        if not self._window.context.document.experiment.hidden:
            return
        for dock in self._window.docks:
            if dock.objectName() in HIDING and not dock.isHidden():
                if dock not in self._closed:
                    self._closed.append(dock)
                dock.hide()

    def _unbar(self) -> None:
        for action in list(self._barred):
            self._give_back(action)
        closed, self._closed = self._closed, []
        for dock in closed:
            dock.show()

    def _give_back(self, action: QAction) -> None:
        enabled, tip, status = self._barred.pop(action)
        action.setEnabled(enabled)
        action.setToolTip(tip)
        action.setStatusTip(status)

    def _actions(self) -> Iterator[QAction]:
        """What would show something hidden, or has nothing to work on."""
        window, hidden = self._window, self._window.context.document.experiment.hidden
        for dock in window.docks:
            if dock.objectName() in HIDING:
                yield dock.toggleViewAction()
        yield from (window.code.menu.menuAction(), window.code.save)
        yield from (*window.menus.barred_by_exercises, window.pins.pin)
        for panel, stage in ((window.formula.scores, "A_masked"), (window.formula.weights, "N")):
            if stage in hidden:
                yield from (action for action in panel.actions_for_menu() if action is not None)
                yield from panel.picture_actions()
