"""LayerSwitch: which experiment of a session of several is in sight."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QWidget

from attn_gui.model.session import NamedExperiment
from attn_gui.views import half_typed
from attn_gui.views.buttons import arrow_button
from attn_gui.views.context import Context

WIDEST = 144


class LayerSwitch(QWidget):
    """Layer ◂ Layer 3 ▸; not shown where the session has one experiment only. No undo step: it is a choice of view."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._shown: tuple[NamedExperiment, ...] = ()
        self.label = QLabel()
        self.label.setObjectName("muted")
        self.choice = QComboBox()
        self.choice.setAccessibleName("Layer shown")
        self.choice.setToolTip("The layer, or experiment, of the session that is in sight")
        self.choice.setMaxVisibleItems(24)
        self.choice.setMaximumWidth(WIDEST)
        self.choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.previous = self._action("Previous layer", "Ctrl+PgUp", -1)
        self.next = self._action("Next layer", "Ctrl+PgDown", 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.label)
        row.addSpacing(4)
        row.addWidget(arrow_button(self.previous, Qt.ArrowType.LeftArrow))
        row.addWidget(self.choice)
        row.addWidget(arrow_button(self.next, Qt.ArrowType.RightArrow))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.choice.activated.connect(self._show)
        context.document.changed.connect(lambda before, after: self._refresh())
        self._refresh()

    def actions_for_menu(self) -> list[QAction]:
        return [self.previous, self.next]

    def _action(self, text: str, key: str, step: int) -> QAction:
        action = QAction(text, self)
        action.setShortcut(QKeySequence(key))
        action.setToolTip(f"{text} ({action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)})")
        action.triggered.connect(lambda: self._show(self._context.document.session.current + step))
        self.addAction(action)
        return action

    def _show(self, index: int) -> None:
        if half_typed.commit():
            self._context.document.show(index)
        else:
            self._refresh()

    def _refresh(self) -> None:
        session = self._context.document.session
        layers, index = session.experiments, session.current
        with QSignalBlocker(self.choice):
            if [named.name for named in layers] != [named.name for named in self._shown]:
                self.choice.clear()
                self.choice.addItems([named.name for named in layers])
            self._shown = layers
            self.choice.setCurrentIndex(index)
        kind = "Layer" if any(named.place is not None for named in layers) else "Experiment"
        self.label.setText(kind)
        self.previous.setEnabled(index > 0)
        self.next.setEnabled(index < len(layers) - 1)
        several = len(layers) > 1
        # without a parent, a widget made visible would be a window of its own
        if not several or self.parentWidget() is not None:
            self.setVisible(several)
