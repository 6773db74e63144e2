"""StageHeatmap: the heatmap of a square stage in a drawer, with its colour bar and read-out."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from attn_gui.views.bands import HEADER, Bands
from attn_gui.views.context import Context
from attn_gui.views.drawers.gate import Gate
from attn_gui.views.heatmap.columns import Columns
from attn_gui.views.heatmap.heatmap import Heatmap

FOOTER_HEIGHT = 32
SPACING = 4
# pixels above and below the rows
CHROME = HEADER + SPACING + FOOTER_HEIGHT


class StageHeatmap(QWidget):
    """Has rows and columns of its own, shared by the drawer's heatmaps, and asks nothing while out of sight."""

    def __init__(
        self, context: Context, stage: str, bands: Bands, columns: Columns, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._gate = Gate(context.feed, context.worker)
        self._gate.setParent(self)
        self.heatmap = Heatmap(
            replace(context, feed=self._gate, bands=bands),
            f"stages.{stage}",
            stage,
            diverging=stage != "N",
            name=stage,
            columns=columns,
            drives_bands=True,
        )
        self.heatmap.footer.setFixedHeight(FOOTER_HEIGHT)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACING)
        column.addWidget(self.heatmap, 1)
        column.addWidget(self.heatmap.footer)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._gate.set_open(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._gate.set_open(False)
