"""InterveneDrawer: changes inside the captured model, and what it says before and after, side by side."""

from __future__ import annotations

from PySide6.QtGui import QAction, QHideEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from attn_gui.model.session import Session
from attn_gui.views.context import Context
from attn_gui.views.drawers.drawer import SPACING, Drawer
from attn_gui.views.drawers.segments import Segments
from attn_gui.views.intervene.changes import Changes
from attn_gui.views.intervene.changes_list import ChangesList
from attn_gui.views.intervene.outcome_panel import OutcomePanel
from attn_gui.views.intervene.words import described
from attn_gui.views.number_field import NumberField

SIDE_WIDTH, FIELD_WIDTH, GAP = 320, 72, 24
EMPTY = "No change in force"


class InterveneDrawer(Drawer):
    """While it is in sight the model runs again with every change."""

    title = "Intervene"

    def __init__(self, context: Context, changes: Changes, open_model: QAction, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.changes = changes
        self._intervening = changes.intervening
        self._scopes = changes.scope_words()
        self.scope = Segments(context.look, "Change", list(self._scopes.items()))
        self.temperature = NumberField("Temperature", changes.set_temperature)
        self.temperature.setFixedWidth(FIELD_WIDTH)
        self.none = QLabel(EMPTY)
        self.none.setObjectName("muted")
        self.list = ChangesList()
        self.remove = QPushButton("Remove")
        self.remove.setToolTip("Take the selected change out (Delete); Undo leaves the changes here as they are")
        self.clear = QPushButton("Clear changes")
        self.clear.setToolTip("Have the model as it is")
        self.outcome = OutcomePanel(context, self._intervening)
        self._open_action = open_model
        self.open_model = QPushButton()
        self.empty.add_button(self.open_model)
        self.fill(*self._controls(), body=self._body())
        self.scope.chosen.connect(changes.set_scope)
        changes.scope_changed.connect(self._show_scope)
        self.list.removed.connect(self._intervening.remove)
        self.remove.clicked.connect(self.list.remove_current)
        self.clear.clicked.connect(changes.clear.trigger)
        self.open_model.clicked.connect(open_model.trigger)
        self.outcome.grown.connect(self.updateGeometry)
        self._intervening.changed.connect(self._refresh_if_visible)
        context.selection.head_changed.connect(lambda head: self._show_scope())
        context.document.changed.connect(self._on_document)
        self.refresh()

    def refresh(self) -> None:
        session, reason = self.context.document.session, self._intervening.reason()
        self.show_empty(bool(reason))
        self.empty.say("No model to change" if session.model is None else "The model is not at hand", reason)
        self.open_model.setText(self._open_action.text().replace("&", ""))
        self.open_model.setEnabled(self._open_action.isEnabled())
        self._show_scope()
        actions = self._intervening.actions
        self.list.show_changes([described(action, session, actions) for action in actions])
        self.none.setVisible(not actions)
        for button in (self.remove, self.clear):
            button.setEnabled(bool(actions))
        self._intervening.look(self.isVisible() and not reason)
        self.outcome.refresh()

    def body_height(self, width: int) -> int:
        return self.outcome.needed_height(width - SIDE_WIDTH - GAP)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._intervening.look(False)

    def _controls(self) -> list[QWidget]:
        changes = self.changes
        label = QLabel("&Temperature")
        label.setBuddy(self.temperature)
        label.setMinimumWidth(label.sizeHint().width() + SPACING)
        heat = QWidget()
        row = QHBoxLayout(heat)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACING)
        row.addWidget(label)
        row.addWidget(self.temperature)
        buttons = [_button(changes.off), _menu_button(changes.replace), _button(changes.forbid)]
        return [self.scope, *buttons, _menu_button(changes.masks), heat, self.temperature.reason]

    def _body(self) -> QWidget:
        below = QHBoxLayout()
        below.setSpacing(SPACING)
        below.addWidget(self.remove)
        below.addWidget(self.clear)
        below.addStretch(1)
        left = QWidget()
        left.setFixedWidth(SIDE_WIDTH)
        side = QVBoxLayout(left)
        side.setContentsMargins(0, 0, 0, 0)
        side.setSpacing(SPACING)
        side.addWidget(self.none)
        side.addWidget(self.list, 1)
        side.addLayout(below)
        body = QWidget()
        row = QHBoxLayout(body)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        row.addWidget(left)
        row.addWidget(self.outcome, 1)
        return body

    def _show_scope(self) -> None:
        words = self.changes.scope_words()
        if words != self._scopes:  # buttons that are made anew lose the focus
            self._scopes = words
            self.scope.offer(list(words.items()))
        self.scope.show_value(self.changes.scope)
        self.temperature.show_number(self.changes.temperature)

    def _on_document(self, before: Session, after: Session) -> None:
        if before.current != after.current or before.experiments is not after.experiments:
            self._refresh_if_visible()

    def _refresh_if_visible(self) -> None:
        if self.isVisible():
            self.refresh()


def _button(action: QAction) -> QToolButton:
    button = QToolButton()
    button.setDefaultAction(action)
    return button


def _menu_button(menu: QMenu) -> QToolButton:
    button = QToolButton()
    button.setText(f"{menu.title().replace('&', '')}…")
    button.setMenu(menu)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    button.setEnabled(menu.menuAction().isEnabled())
    menu.menuAction().changed.connect(lambda: button.setEnabled(menu.menuAction().isEnabled()))
    return button
