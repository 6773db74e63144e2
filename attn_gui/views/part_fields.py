"""PartFields: a control for each parameter of a part, built from what the part declares."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLabel, QWidget

from attn_gui.model.parts import Parameter, Part
from attn_gui.views.clipboard import quoted_short, read_numbers
from attn_gui.views.number_field import NumberField
from attn_gui.views.text_field import TextField, why
from attn_gui.views.whole_field import WholeField

# room for seven digits: a file may bring more, for which the field then grows
USUAL_WHOLE = 1_000_000
LEAST_INT = -(2**31)
NUMBER_WIDTH = 96
LIST_WIDTH = 120

Changed = Callable[[Any, str, str | None], None]


class PartFields(QWidget):
    """Labels and controls for the parameters of ``part``; arrays, which are no matter of a line, have none.

    ``on_changed(part, label, merge)`` is called with the part as it has become, what an undo step may call the change,
    and the key by which steps of one spin box become one. It may raise ExperimentError: the reason is then shown at the
    control, as for a value that the part itself refuses. across: everything in one line, and not one below another.
    most: so many stand one below another; more stand in two columns, ``gap`` pixels from each other.
    after: the control that Tab comes from.
    """

    def __init__(
        self,
        part: Part,
        on_changed: Changed,
        *,
        across: bool = False,
        most: int = 100,
        gap: int = 24,
        after: QWidget | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._after = after
        self._on_changed = on_changed
        self._across = across
        self._most, self._gap = most, gap
        self._placed: list[str] = []
        self._part = part
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._reasons: dict[str, QLabel] = {}
        self._labels: dict[str, QLabel] = {}
        self.fields: dict[str, QWidget] = {}
        self._build()

    @property
    def columns(self) -> int:
        """How many parameters stand side by side."""
        if self._across:
            return max(1, len(self._placed))
        return 1 if len(self._placed) <= self._most else 2

    @property
    def part(self) -> Part:
        """What is shown."""
        return self._part

    def show_part(self, part: Part, hidden: Collection[str] = ()) -> None:
        """Show ``part``, without the parameters that are ``hidden``.

        What was refused stays until its value changes; what is half typed, for the part before, is dropped.
        """
        if type(part) is not type(self._part):
            self._clear()
            self._part = part
            self._build()
        else:
            before, self._part = self._part, part
            self.drop()
            for name in self.fields:
                if getattr(part, name) != getattr(before, name):
                    self._show(name)
        shown = [name for name in self.fields if name not in hidden]
        for name, field in self.fields.items():
            if name in hidden:
                self._show(name)  # a reason would stay in sight without what it is about
            field.setVisible(name not in hidden)
            if name in self._labels:
                self._labels[name].setVisible(name not in hidden)
        if shown != self._placed:
            self._place(shown)
        # without a parent, a widget made visible would be a window of its own
        if not shown or self.parentWidget() is not None:
            self.setVisible(bool(shown))

    def drop(self) -> None:
        """Forget what is half typed."""
        for field in self.fields.values():
            if isinstance(field, WholeField | TextField) and field.typed:
                field.drop()

    def _build(self) -> None:
        for name, parameter in self._part.parameters():
            field = self._field(name, parameter)
            if field is not None:
                field.setToolTip(parameter.hint)
                self.fields[name] = field
                self._add(name, parameter, field)
                self._show(name)
        self._place(list(self.fields))
        last = self._after
        for field in self.fields.values():
            # what is built later would be reached after everything else
            if last is not None and last.window() is self.window():
                QWidget.setTabOrder(last, field)
                last = field

    def _clear(self) -> None:
        for field in self.fields.values():
            # one that is hidden loses the focus, and would speak for a part that it was not made for
            if isinstance(field, WholeField | TextField):
                field.drop()
            field.blockSignals(True)
        for widget in (*self.fields.values(), *self._labels.values(), *self._reasons.values()):
            self._grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        for kept in (self.fields, self._labels, self._reasons):
            kept.clear()
        self._placed = []

    def _add(self, name: str, parameter: Parameter, field: QWidget) -> None:
        """Give ``field`` its label, and room for why a value is refused."""
        if not isinstance(field, QCheckBox):
            label = self._labels[name] = QLabel(parameter.label)
            label.setObjectName("muted")
            label.setToolTip(parameter.hint)
            label.setBuddy(field)
        reason = getattr(field, "reason", None)
        if not isinstance(reason, QLabel):
            reason = QLabel()
            reason.setObjectName("error")
            reason.hide()
        reason.setWordWrap(not self._across)
        self._reasons[name] = reason

    def _place(self, names: list[str]) -> None:
        """Lay out the parameters called ``names``, the ones in sight."""
        self._placed = names
        at = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        for place, name in enumerate(names):
            below, beside = divmod(place, self.columns)
            row, column = 2 * below, (2 if self._across else 3) * beside
            if name in self._labels:
                self._grid.addWidget(self._labels[name], row, column)
            self._grid.addWidget(self.fields[name], row, column + 1, at)
            # a control that stands across has its reason below, from where it begins to the end of the line
            across = (row + 1 + place, 1, -1) if self._across else (row + 1, 1, 2)
            self._grid.addWidget(self._reasons[name], across[0], column, *across[1:])
        if not self._across:
            apart = self._gap - 2 * self._grid.horizontalSpacing() if self.columns > 1 else 0
            self._grid.setColumnMinimumWidth(2, apart)

    def _field(self, name: str, parameter: Parameter) -> QWidget | None:
        called = f"{self._part.title}: {parameter.label}"
        made: QWidget
        match parameter.kind:
            case "whole":
                made = self._spin_box(name, parameter)
            case "number":
                made = NumberField(called, lambda value: self._take(name, value))
                made.setFixedWidth(NUMBER_WIDTH)
            case "flag":
                made = QCheckBox(parameter.label)
                made.toggled.connect(lambda on: self._try(name, on))
            case "choice":
                made = self._combo_box(name, parameter)
            case "wholes" | "numbers":
                made = TextField(called, lambda text: self._take(name, _listed(text, parameter.kind == "wholes")))
                made.setMinimumWidth(LIST_WIDTH)
                made.setPlaceholderText("none")
            case _:
                return None
        made.setAccessibleName(called)
        return made

    def _spin_box(self, name: str, parameter: Parameter) -> WholeField:
        made = WholeField()
        made.setRange(int(max(parameter.least, LEAST_INT)), int(min(parameter.most, USUAL_WHOLE)))
        made.valueChanged.connect(lambda value: self._try(name, value))
        return made

    def _combo_box(self, name: str, parameter: Parameter) -> QComboBox:
        made = QComboBox()
        made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        for value, text in parameter.choices.items():
            made.addItem(text, value)
        made.activated.connect(lambda index: self._try(name, made.itemData(index)))
        return made

    def _show(self, name: str) -> None:
        """Bring the control of ``name`` to the part's value."""
        field, value = self.fields[name], getattr(self._part, name)
        with QSignalBlocker(field):
            if isinstance(field, QCheckBox):
                field.setChecked(value)
            elif isinstance(field, QComboBox):
                field.setCurrentIndex(field.findData(value))
        if isinstance(field, NumberField):
            field.show_number(value)
        elif isinstance(field, TextField):
            field.show_text(", ".join(_written(each) for each in value))
        else:
            if isinstance(field, WholeField):
                field.show_whole(value)
            self._say(name, "")

    def _take(self, name: str, value: Any) -> None:
        """The part has become another one; raises ValueError where it cannot."""
        if value == getattr(self._part, name):
            self._show(name)
            return
        parameter = self._part.described(name)
        key = f"{self._part.family} {self._part.kind} {name}" if parameter.kind == "whole" else None
        self._on_changed(replace(self._part, **{name: value}), f"{self._part.title}: {parameter.label.lower()}", key)

    def _try(self, name: str, value: Any) -> None:
        """As :meth:`_take`, for controls that do not show their reasons themselves."""
        self._say(name, "")
        try:
            self._take(name, value)
        except ValueError as error:
            self._say(name, why(error))

    def _say(self, name: str, reason: str) -> None:
        self._reasons[name].setText(reason)
        self._reasons[name].setVisible(bool(reason))
        self.fields[name].setAccessibleDescription(reason)


def _listed(text: str, whole: bool) -> tuple[int, ...] | tuple[float, ...]:
    """The numbers of ``text``, between commas, semicolons or blanks; raises ValueError."""
    words = text.replace(";", " ").replace(",", " ").split()
    if not whole:
        found = [read_numbers([[word]])[0][0] for word in words]
        return tuple(number for number in found if number is not None)
    for word in words:
        if not (word.isascii() and word.lstrip("+-").isdigit()):
            raise ValueError(f"{quoted_short(word)} is not a whole number")
    return tuple(int(word) for word in words)


def _written(value: float) -> str:
    return str(value) if isinstance(value, int) or not math.isfinite(value) else repr(value).removesuffix(".0")
