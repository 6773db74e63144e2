"""PartEditor: what one tensor is read as, and what each of its axes counts."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QWidget

from attn_gui.model.tensors.axes import Axis, Role, choices
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.proposals import axes_for
from attn_gui.model.tensors.reading import Order, Reading, swapped
from attn_gui.views.elided_label import ElidedLabel
from attn_gui.views.tensors.words import part_name

ORDERS: dict[Order, str] = {"parts": "all Q, then K, then V", "heads": "Q, K, V of each head"}
# axes that have a box; a tensor with more cannot be read anyway
MOST_AXES = 6
NOT_USED = "Not used"


class PartEditor(QWidget):
    """``changed(reading)`` comes with each correction."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._contents: Contents | None = None
        self._reading: Reading | None = None
        self._index = 0
        self.title = ElidedLabel()
        self.title.setObjectName("title")
        self.role_label = QLabel("Read &as")
        self.role = _box("Read as")
        self.role_label.setBuddy(self.role)
        self.role.addItem(NOT_USED, None)
        for role in Role:
            self.role.addItem(role.label, role)
        self.axes = [_box(f"Axis {place}") for place in range(MOST_AXES)]
        self.axis_labels = [QLabel() for _ in self.axes]
        self.order_label = QLabel("O&rder")
        self.order = _box("Order")
        self.order_label.setBuddy(self.order)
        for order, text in ORDERS.items():
            self.order.addItem(text, order)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        grid.addWidget(self.title, 0, 0, 1, MOST_AXES + 3)
        pairs = [(self.role_label, self.role), *zip(self.axis_labels, self.axes, strict=True)]
        for column, (label, box) in enumerate([*pairs, (self.order_label, self.order)]):
            label.setObjectName("muted")
            grid.addWidget(label, 1, column)
            grid.addWidget(box, 2, column)
        grid.setColumnStretch(MOST_AXES + 2, 1)
        # Qt hands the strings of these back, not the members
        self.role.activated.connect(lambda index: self._take_role(self.role.itemData(index)))
        for place, box in enumerate(self.axes):
            box.activated.connect(lambda index, place=place, box=box: self._take_axis(place, box.itemData(index)))
        self.order.activated.connect(lambda index: self._take_order(self.order.itemData(index)))
        self.show_part(None, None, 0)

    def show_part(
        self, contents: Contents | None, reading: Reading | None, index: int, faulty: Container[int | None] = ()
    ) -> None:
        """Show part ``index`` of ``reading``, nothing where there is none; ``faulty`` are axes that do not fit."""
        there = contents is not None and reading is not None and 0 <= index < len(reading.parts)
        self._contents, self._reading, self._index = contents, reading if there else None, index
        self.setEnabled(there)
        if contents is None or reading is None or not there:
            self.title.setText("")
            self._show_axes((), (), None, ())
            return
        part = reading.parts[index]
        self.title.setText(part_name(part))
        with QSignalBlocker(self.role):
            self.role.setCurrentIndex(self.role.findData(part.role))
        shape = contents.tensor(part.tensors[0]).shape
        self._show_axes(shape, part.axes, part.role, faulty)
        with QSignalBlocker(self.order):
            self.order.setCurrentIndex(self.order.findData(part.order))
        fused = part.role is not None and Axis.FUSED in part.axes
        self.order.setVisible(fused)
        self.order_label.setVisible(fused)

    def _show_axes(
        self, shape: tuple[int, ...], axes: tuple[Axis, ...], role: Role | None, faulty: Container[int | None]
    ) -> None:
        there = choices(role) if role is not None else ()
        for place, (label, box) in enumerate(zip(self.axis_labels, self.axes, strict=True)):
            shown = role is not None and place < len(axes)
            for widget in (label, box):
                widget.setVisible(shown)
            if not shown:
                continue
            mark, told = ("⚠ ", ", does not fit") if place in faulty else ("", "")
            label.setText(f"{mark}Axis {place} ({shape[place]:,})")
            box.setAccessibleDescription(f"{shape[place]:,} long{told}")
            with QSignalBlocker(box):
                offered = [*there, *([axes[place]] if axes[place] not in there else [])]
                box.clear()
                for axis in offered:
                    box.addItem(axis.label, axis)
                box.setCurrentIndex(box.findData(axes[place]))
        for widget in (self.order, self.order_label):
            widget.setVisible(False)

    def _take_role(self, name: str | None) -> None:
        role = None if name is None else Role(name)
        contents, reading, index = self._contents, self._reading, self._index
        if contents is None or reading is None or role is reading.parts[index].role:
            return
        part = replace(reading.parts[index], role=role)
        if role is not None:
            part = part.with_axes(axes_for(contents, reading, index, role))
        self.changed.emit(reading.with_part(index, part))

    def _take_axis(self, place: int, name: str) -> None:
        axis = Axis(name)
        if self._reading is not None:
            axes = self._reading.parts[self._index].axes
            if axes[place] is not axis:
                self.changed.emit(self._reading.with_axes(self._index, swapped(axes, place, axis)))

    def _take_order(self, order: Order) -> None:
        if self._reading is not None:
            part = replace(self._reading.parts[self._index], order=order)
            self.changed.emit(self._reading.with_part(self._index, part))


def _box(name: str) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return box
