"""The bar on top: example, variant, heads and mask, each a dropdown, and what else the mask needs beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPaintEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.reshape import head_choices, with_heads, with_variant
from attn_gui.model.variant import Variant
from attn_gui.views.context import Context
from attn_gui.views.mask_choice import MaskChoice

EXAMPLE_WIDTH = 264

Choice = tuple[Any, str, str | None]  # value, text, reason why it cannot be had


class Dropdown(QComboBox):
    """A combo box of choices, those that cannot be had shown disabled with the reason."""

    chosen = Signal(object)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._choices: list[Choice] = []
        self._items = QStandardItemModel(self)
        self.setModel(self._items)
        self.activated.connect(lambda index: self.chosen.emit(self._choices[index][0]))

    def show_choices(self, choices: Sequence[Choice], current: Any) -> None:
        """Offer ``choices`` with the one of value ``current`` shown."""
        if list(choices) != self._choices:
            self._choices = list(choices)
            self._items.clear()
            for _, text, reason in choices:
                item = QStandardItem(text if reason is None else f"{text}  ({reason})")
                item.setEnabled(reason is None)
                self._items.appendRow(item)
        self.setCurrentIndex(next((k for k, choice in enumerate(self._choices) if choice[0] == current), -1))

    def paintEvent(self, event: QPaintEvent) -> None:
        # Qt cuts a text that is too long through the middle of a letter
        painter = QStylePainter(self)
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        style = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, style, self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        text = self.currentText() or self.placeholderText()
        option.currentText = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width() - 4)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)


class HeadDropdown(Dropdown):
    """Shows the bare count when closed, with room for a count and not for the reasons."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Heads", parent)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(4)

    def showPopup(self) -> None:
        view = self.view()
        view.setMinimumWidth(view.sizeHintForColumn(0) + 32)
        super().showPopup()


class TopBar(QWidget):
    """Example, Variant, Heads, Mask; ``more`` is put at the right end by the window."""

    example_chosen = Signal(object)

    def __init__(self, context: Context, examples: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._examples = list(examples)
        self.example = Dropdown("Example")
        self.example.setFixedWidth(EXAMPLE_WIDTH)
        self.variant = Dropdown("Variant")
        self.heads = HeadDropdown()
        self.masking = MaskChoice(context)
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(8)
        for text, field in (("E&xample", self.example), ("Va&riant", self.variant), ("Hea&ds", self.heads)):
            self._add(text, field)
        self._add("&Mask", self.masking, self.masking.kind)
        self.row.addStretch(1)
        self.example.chosen.connect(self.example_chosen)
        self.variant.chosen.connect(self._choose_variant)
        self.heads.chosen.connect(self._choose_heads)
        context.document.changed.connect(lambda before, after: self._refresh())
        self._refresh()

    def _add(self, text: str, field: QWidget, buddy: QWidget | None = None) -> None:
        label = QLabel(text)
        label.setBuddy(buddy or field)
        label.setObjectName("muted")
        label.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        label.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        if self.row.count():
            self.row.addSpacing(8)
        self.row.addWidget(label)
        self.row.addWidget(field)

    def _refresh(self) -> None:
        e = self._context.document.experiment
        title = self._context.document.session.named.name
        self.example.show_choices([(name, name, None) for name in self._examples], title)
        self.example.setPlaceholderText(title)
        self.example.setToolTip(title)
        self.variant.show_choices([(v, v.label, _variant_reason(e, v)) for v in Variant], e.variant)
        self.heads.show_choices([(count, str(count), reason) for count, reason in head_choices(e)], e.heads)

    def _choose_variant(self, variant: Variant) -> None:
        e = self._context.document.experiment
        if variant != e.variant:
            self._apply(f"Variant: {variant.label}", lambda: with_variant(e, variant), "variant")

    def _choose_heads(self, heads: int) -> None:
        e = self._context.document.experiment
        if heads != e.heads:
            self._apply(f"{heads} heads", lambda: with_heads(e, heads), "heads")

    def _apply(self, label: str, make: Any, topic: str) -> None:
        try:
            experiment: Experiment = make()
        except ExperimentError as error:
            self._context.notices.error(str(error), topic)
            self._refresh()
            return
        self._context.notices.withdraw(topic)
        self._context.document.apply(label, experiment)


def _variant_reason(experiment: Experiment, variant: Variant) -> str | None:
    if experiment.weights is None:
        try:
            replace(experiment, variant=variant)
        except ExperimentError as error:
            return str(error)
    return None
