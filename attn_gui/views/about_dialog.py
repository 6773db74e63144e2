"""About: the version, what the program is made of and computes on, and the licences of all of it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication, QIcon
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from attn_gui import __version__, paths
from attn_gui.control.device_list import DeviceList
from attn_gui.control.worker import Priority, at_once
from attn_gui.files.installation import OWN, Licence, licences, versions
from attn_gui.views.context import Context
from attn_gui.views.nothing_yet import STARTING

ICON = 64
SIZE = QSize(680, 600)
JOB = "licences"
READING = "Reading the licences…"
PURPOSE = "Attention, explored: every number exact and editable. MIT licence. No network."
# those with a line of their own
TOLD = (OWN, "Python", "System", "torch")


class AboutDialog(QDialog):
    """What torch is and computes on comes in once it is loaded, the licences once they have been read."""

    def __init__(self, context: Context, devices: DeviceList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("About attn_gui")
        self.resize(SIZE)
        self._devices = devices
        self._licences: tuple[Licence, ...] = ()
        self._versions = versions(__version__)
        icon = QLabel()
        drawing = QIcon(str(paths.resource("icons/attn-gui.svg")))
        icon.setPixmap(drawing.pixmap(QSize(ICON, ICON), self.devicePixelRatio()))
        icon.setAccessibleName("The icon of attn_gui")
        title = QLabel(f"{OWN} {self._versions[OWN]}")
        title.setObjectName("title")
        font = title.font()
        font.setPointSizeF(1.4 * font.pointSizeF())
        title.setFont(font)
        purpose = QLabel(PURPOSE)
        purpose.setWordWrap(True)
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(4)
        others = [f"{name} {version}" for name, version in self._versions.items() if name not in TOLD]
        self.torch = _value(self._versions.get("torch", "not installed"))
        self.computes_on = _value(STARTING)
        for name, value in (
            ("Python", _value(self._versions["Python"])),
            ("System", _value(self._versions["System"])),
            ("torch", self.torch),
            ("Computes on", self.computes_on),
            ("Besides", _value(", ".join(others))),
        ):
            label = QLabel(name)
            label.setObjectName("muted")
            label.setAlignment(Qt.AlignmentFlag.AlignTop)
            value.setAccessibleName(name)
            form.addRow(label, value)
        self.whose = QComboBox()
        self.whose.setAccessibleName("Licence of")
        self.whose.setMaxVisibleItems(20)
        self.whose.setPlaceholderText(READING)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setPlaceholderText(READING)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setAccessibleName("Licence")
        label = QLabel("&Licence of")
        label.setBuddy(self.whose)
        choice = QHBoxLayout()
        choice.setSpacing(8)
        choice.addWidget(label)
        choice.addWidget(self.whose, 1)
        self.copy = QPushButton("&Copy details")
        self.copy.setToolTip("Copy the versions and devices, a line each")
        self.copy.setAutoDefault(False)
        self.close_button = QPushButton("Cl&ose")
        self.close_button.setDefault(True)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.copy)
        buttons.addStretch(1)
        buttons.addWidget(self.close_button)
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addStretch(1)
        words.addWidget(title)
        words.addWidget(purpose)
        words.addStretch(1)
        top = QHBoxLayout()
        top.setSpacing(16)
        top.addWidget(icon, 0, Qt.AlignmentFlag.AlignTop)
        top.addLayout(words, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 12)
        column.setSpacing(12)
        column.addLayout(top)
        column.addLayout(form)
        column.addLayout(choice)
        column.addWidget(self.text, 1)
        column.addLayout(buttons)
        self.close_button.setFocus()
        self.whose.currentIndexChanged.connect(self._show_licence)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.details))
        self.close_button.clicked.connect(self.accept)
        devices.listed.connect(self._show_devices)
        devices.failed.connect(self.computes_on.setText)
        if devices.entries:
            self._show_devices()
        context.worker.submit(JOB, at_once(licences), Priority.BACKGROUND, self._show_licences)

    @property
    def details(self) -> str:
        """Versions and devices, a line each."""
        told = self._versions | {"torch": self.torch.text(), "Computes on": self.computes_on.text()}
        return "\n".join(f"{name}: {text}" for name, text in told.items())

    def refresh(self) -> None:
        """Ask what can be computed on, unless that is known."""
        self._devices.ask()

    def _show_devices(self) -> None:
        self.torch.setText(self._devices.build)
        self.computes_on.setText(", ".join(entry.title for entry in self._devices.entries if entry.reason is None))

    def _show_licences(self, found: tuple[Licence, ...]) -> None:
        self._licences = found
        self.whose.addItems([licence.package for licence in found])
        # a box that has words for nothing chosen chooses nothing by itself
        self.whose.setCurrentIndex(0)

    def _show_licence(self, index: int) -> None:
        self.text.setPlainText(self._licences[index].text if 0 <= index < len(self._licences) else "")


def _value(text: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setWordWrap(True)
    return label
