"""The bar on top: example, variant, heads and mask, each a dropdown, and what else the mask needs beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPaintEvent, QResizeEvent, QStandardItem, QStandardItemModel, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QVBoxLayout,
    QWidget,
)

from attn_gui.control.document import AS_SHIPPED
from attn_gui.files import examples
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.reshape import head_choices, with_heads, with_variant
from attn_gui.model.session import Session
from attn_gui.model.session_title import session_title
from attn_gui.model.variant import Variant
from attn_gui.views.context import Context
from attn_gui.views.cut_text import beginning
from attn_gui.views.mask_choice import MaskChoice
from attn_gui.views.painting import guarded

# pixels
EXAMPLE_WIDTHS = (144, 264)
SPACING = 8
# what the box on the left shows: one of the examples that it offers, or something else
EXAMPLE, OWN = "E&xample", "E&xperiment"

Choice = tuple[Any, str, str | None]  # value, text, reason why it cannot be had


class Dropdown(QComboBox):
    """A combo box of choices, those that cannot be had shown disabled with the reason.

    opening: values that open something when they are chosen. While the list is closed, keys and the wheel, which go
    from choice to choice, pass them by.
    """

    chosen = Signal(object)

    def __init__(self, name: str, parent: QWidget | None = None, *, opening: Collection[Any] = ()) -> None:
        super().__init__(parent)
        self._opening = opening
        self.setAccessibleName(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._choices: list[Choice] = []
        self._rows: list[Choice | None] = []
        self._items = QStandardItemModel(self)
        self.setModel(self._items)
        self.activated.connect(self._on_activated)

    def show_choices(self, choices: Sequence[Choice], current: Any) -> None:
        """Offer ``choices`` with the one of value ``current`` shown. A reason that several share is said once."""
        if list(choices) != self._choices:
            self._choices, self._rows = list(choices), []
            self._items.clear()
            shared = {reason for reason, times in Counter(reason for *_, reason in choices).items() if times > 1}
            said = set()
            for choice in choices:
                _, text, reason = choice
                if reason is not None and reason in shared and reason not in said:
                    said.add(reason)
                    self._append(reason, None)
                self._append(text if reason is None or reason in shared else f"{text}  ({reason})", choice)
        self.setCurrentIndex(next((k for k, row in enumerate(self._rows) if row and row[0] == current), -1))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        with self._passing_by():
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        with self._passing_by():
            super().wheelEvent(event)

    @contextmanager
    def _passing_by(self) -> Iterator[None]:
        self._offer_opening(False)
        try:
            yield
        finally:
            self._offer_opening(True)

    def _offer_opening(self, on: bool) -> None:
        for row, choice in enumerate(self._rows):
            if choice is not None and choice[0] in self._opening:
                self._items.item(row).setEnabled(on)

    def _append(self, text: str, choice: Choice | None) -> None:
        item = QStandardItem(text)
        item.setEnabled(choice is not None and choice[2] is None)
        self._items.appendRow(item)
        self._rows.append(choice)

    def _on_activated(self, index: int) -> None:
        choice = self._rows[index]
        if choice is not None:
            self.chosen.emit(choice[0])

    @guarded
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


class ExampleDropdown(Dropdown):
    """Of a width that the names in it have no say in."""

    def sizeHint(self) -> QSize:
        return QSize(EXAMPLE_WIDTHS[1], super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(EXAMPLE_WIDTHS[0], super().minimumSizeHint().height())


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
    """Example, Variant, Heads, Mask; what the window adds to ``row`` stands at the right end.

    Where there is no room for all of it, first Example is made narrower, then Mask gets a line of its own.
    """

    example_chosen = Signal(object)

    def __init__(self, context: Context, names: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._examples = list(names)
        self.example = ExampleDropdown("Example")
        self.variant = Dropdown("Variant")
        self.heads = HeadDropdown()
        self.masking = MaskChoice(context)
        lines = QVBoxLayout(self)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(SPACING)
        self.row, self._below = QHBoxLayout(), QHBoxLayout()
        for line in (self.row, self._below):
            line.setSpacing(SPACING)
            lines.addLayout(line)
        for fixed in (self.variant, self.heads, self.masking.kind):
            fixed.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._kind = _label(EXAMPLE)
        for label, field in (
            (self._kind, self.example),
            (_label("Va&riant"), self.variant),
            (_label("Hea&ds"), self.heads),
        ):
            self.row.addWidget(_labelled(label, field, field))
            self.row.addSpacing(SPACING)
        self._mask = _labelled(_label("&Mask"), self.masking, self.masking.kind)
        self.row.addWidget(self._mask)
        self.row.addStretch(1)
        self._below.addStretch(1)
        self._mask_place = self.row.indexOf(self._mask)
        # as narrow as the window: what does not fit is arranged anew
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.example.chosen.connect(self.example_chosen)
        self.variant.chosen.connect(self._choose_variant)
        self.heads.chosen.connect(self._choose_heads)
        context.document.changed.connect(lambda before, after: self._refresh())
        self._refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._arrange()
        return super().event(event)

    def _arrange(self) -> None:
        """Give Mask a line of its own where Example, however narrow, leaves it no room."""
        items = [item for k in range(self.row.count()) if (item := self.row.itemAt(k)) is not None]
        parts = [item for item in items if item.widget() is not self._mask]
        shown = [item for item in parts if not item.isEmpty()]
        least = sum(item.minimumSize().width() for item in parts) + SPACING * len(shown)
        below = least + self._mask.minimumSizeHint().width() > self.width()
        if below != (self._below.indexOf(self._mask) >= 0):
            if below:
                self.row.removeWidget(self._mask)
                self._below.insertWidget(0, self._mask)
            else:
                self._below.removeWidget(self._mask)
                self.row.insertWidget(self._mask_place, self._mask)

    def _refresh(self) -> None:
        session = self._context.document.session
        e, title = session.experiment, example_of(session) or self._own_title(session)
        self.example.show_choices([(name, name, None) for name in self._examples], title)
        self.example.setPlaceholderText(title)
        self.example.setToolTip("\n".join([title, *origin_words(session)]) if title not in self._examples else title)
        self._kind.setText(EXAMPLE if title in self._examples else OWN)
        self.variant.show_choices([(v, v.label, variant_reason(e, v)) for v in Variant], e.variant)
        self.heads.show_choices([(count, str(count), reason) for count, reason in head_choices(e)], e.heads)

    def _own_title(self, session: Session) -> str:
        title, path = session_title(session), self._context.document.path
        # the name of a layer says nothing of which model it is one
        return path.stem if title == session.named.name and len(session.experiments) > 1 and path else title

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


def _label(text: str) -> QLabel:
    label = QLabel(text)
    label.setObjectName("muted")
    label.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
    label.setAlignment(Qt.AlignmentFlag.AlignVCenter)
    return label


def _labelled(label: QLabel, field: QWidget, buddy: QWidget) -> QWidget:
    """``field`` with its label before it; the label's letter goes to ``buddy``."""
    together = QWidget()
    row = QHBoxLayout(together)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(SPACING)
    label.setBuddy(buddy)
    row.addWidget(label)
    row.addWidget(field)
    return together


def origin_words(session: Session) -> list[str]:
    """Where the experiment in sight comes from, where it was captured or read from a file of tensors, line by line."""
    named, model = session.named, session.model
    if model is not None:
        batch = 0 if named.place is None else named.place.batch or 0
        text = [f"“{beginning(model.texts[batch])}”"] if batch < len(model.texts) else []
        return [*([model.path] if model.path else []), model.architecture, *text]
    return [] if named.origin is None else [named.origin.path]


def example_of(session: Session) -> str | None:
    """The example that ``session`` is, where its experiments have names of their own: the layers of a model."""
    if len(session.experiments) == 1:
        return None
    found = (examples.of_note(named.note.removeprefix(AS_SHIPPED)) for named in session.experiments)
    return next((name for name in found if name is not None), None)


def variant_reason(experiment: Experiment, variant: Variant) -> str | None:
    """Why ``experiment`` cannot be of ``variant``, None where it can."""
    if experiment.weights is None:
        try:
            with_variant(experiment, variant)
        except ExperimentError:
            several = experiment.heads > 1 and not variant.is_multi_head
            return f"{experiment.heads} heads were given" if several else "not as many queries as keys were given"
    return None
