"""HeadSwitch: which head the heatmaps show, or the mean over all of them."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QWidget

from attn_gui.model.trace import Head
from attn_gui.views.buttons import arrow_button
from attn_gui.views.context import Context

BETWEEN = 4
MEAN, MEAN_TIP = "Mean", "Mean over heads"


class HeadSwitch(QWidget):
    """Head ◂ 1 of 8 ▸, with the mean over heads after the last; not shown where there is one head only."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.choice = QComboBox()
        self.choice.setAccessibleName("Head shown")
        self.choice.setToolTip("The head that scores, weights and output are shown of")
        self.choice.setMaxVisibleItems(20)
        self.choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.previous = self._action("Previous head", ("[", "Alt+PgUp"), -1)
        self.next = self._action("Next head", ("]", "Alt+PgDown"), 1)
        self.mean = QAction("Mean over heads", self, checkable=True)
        self.mean.setStatusTip("Show the mean of the scores and weights of all heads")
        self.mean.triggered.connect(lambda on: context.selection.set_head("mean" if on else 0))
        self._label = QLabel("Head")
        self._label.setObjectName("muted")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(BETWEEN)
        row.addWidget(self._label)
        row.addWidget(arrow_button(self.previous, Qt.ArrowType.LeftArrow))
        row.addWidget(self.choice)
        row.addWidget(arrow_button(self.next, Qt.ArrowType.RightArrow))
        self.choice.activated.connect(lambda index: context.selection.set_head(self._heads()[index]))
        context.selection.head_changed.connect(lambda head: self._refresh())
        context.document.changed.connect(lambda before, after: self._refresh())
        self._refresh()

    def be_brief(self, brief: bool) -> None:
        """Leave out the word before the choice where there is little room, or have it back."""
        self._label.setVisible(not brief)

    @property
    def spare(self) -> int:
        """Pixels that being brief saves, or has saved already."""
        return self._label.sizeHint().width() + BETWEEN

    @property
    def brief(self) -> bool:
        return self._label.isHidden()

    def actions_for_menu(self) -> list[QAction]:
        return [self.previous, self.next, self.mean]

    def _action(self, text: str, keys: tuple[str, ...], step: int) -> QAction:
        action = QAction(text, self)
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.setToolTip(f"{text} ({action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)})")
        action.triggered.connect(lambda: self._go(step))
        self.addAction(action)
        return action

    def _heads(self) -> list[Head]:
        return [*range(self._context.document.experiment.heads), "mean"]

    def _index(self) -> int:
        head, last = self._context.selection.head, self._context.document.experiment.heads
        return last if head == "mean" else min(int(head), last - 1)

    def _go(self, step: int) -> None:
        heads = self._heads()
        self._context.selection.set_head(heads[max(0, min(self._index() + step, len(heads) - 1))])

    def _refresh(self) -> None:
        heads = self._context.document.experiment.heads
        several, index = heads > 1, self._index()
        with QSignalBlocker(self.choice):
            if self.choice.count() != heads + 1:
                self.choice.clear()
                self.choice.addItems([*(f"{h + 1} of {heads}" for h in range(heads)), MEAN])
                for role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
                    self.choice.setItemData(heads, MEAN_TIP, role)
            self.choice.setCurrentIndex(index)
        self.previous.setEnabled(several and index > 0)
        self.next.setEnabled(several and index < heads)
        self.mean.setEnabled(several)
        self.mean.setChecked(several and index == heads)
        # without a parent, a widget made visible would be a window of its own
        if not several or self.parentWidget() is not None:
            self.setVisible(several)
