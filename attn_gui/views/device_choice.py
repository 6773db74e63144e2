"""DeviceChoice: what to compute on, with the reason beside each device that cannot be had."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QButtonGroup, QLabel, QRadioButton, QVBoxLayout, QWidget

from attn_gui.control.device_list import DeviceEntry, DeviceList
from attn_gui.views.context import Context

INDENT = 24


class DeviceChoice(QWidget):
    """A button for each device. Nothing is listed before :meth:`ask`."""

    def __init__(self, context: Context, devices: DeviceList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._devices = devices
        self.setAccessibleName("Device")
        self.buttons: dict[str, QRadioButton] = {}
        self.reasons: dict[str, QLabel] = {}
        self._group = QButtonGroup(self)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self.waiting = QLabel("looking for devices")
        self.waiting.setObjectName("muted")
        self.waiting.setWordWrap(True)
        self._column.addWidget(self.waiting)
        devices.listed.connect(self._fill)
        devices.failed.connect(self.waiting.setText)
        context.document.device_changed.connect(lambda name: self.refresh())
        context.document.changed.connect(lambda before, after: self.refresh())
        if devices.entries:
            self._fill()

    def ask(self) -> None:
        """Have the devices listed."""
        self._devices.ask()

    def refresh(self) -> None:
        precision = self._context.document.experiment.precision
        for entry in self._devices.entries:
            why = entry.why_not(precision)
            present = entry.name == self._context.document.device
            button, reason = self.buttons[entry.name], self.reasons[entry.name]
            button.setEnabled(why is None)
            button.setChecked(present)
            button.setAccessibleDescription(why or "")
            reason.setText(why or "")
            reason.setVisible(why is not None)

    def _fill(self) -> None:
        self.waiting.hide()
        for entry in self._devices.entries:
            self._add(entry)
        self.refresh()

    def _add(self, entry: DeviceEntry) -> None:
        button, reason = QRadioButton(entry.title), QLabel()
        reason.setObjectName("muted")
        reason.setWordWrap(True)
        reason.setContentsMargins(INDENT, 0, 0, 0)
        button.clicked.connect(partial(self._choose, entry.name))
        self.buttons[entry.name], self.reasons[entry.name] = button, reason
        self._group.addButton(button)
        self._column.addWidget(button)
        self._column.addWidget(reason)

    def _choose(self, name: str) -> None:
        self._context.settings.device = name
        self._context.document.set_device(name)
