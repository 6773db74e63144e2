"""MoreButton: drops down the panel of what is set more seldom, which is made when it is first wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget

from attn_gui.control.device_list import DeviceList
from attn_gui.views.context import Context

if TYPE_CHECKING:
    from attn_gui.views.more_panel import MorePanel


class MoreButton(QToolButton):
    """``devices``: those of this computer, which the panel and others list."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._panel: MorePanel | None = None
        self.devices = DeviceList(context.worker, self)
        self.setText("More")
        self.setArrowType(Qt.ArrowType.DownArrow)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setToolTip("Scale, softcap, cache, precision, device, memory, biases, decimals")
        self.clicked.connect(self.open)

    @property
    def panel(self) -> MorePanel:
        """What it drops down."""
        if self._panel is None:
            # imported when first needed, so that the first window does not wait for it
            from attn_gui.views.more_panel import MorePanel

            self._panel = MorePanel(self._context, self.devices, self)
        return self._panel

    def open(self) -> None:
        """Drop down the panel."""
        self.panel.open()
