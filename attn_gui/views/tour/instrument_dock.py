"""The dock that holds the instrument of a step, at the right of the formula."""

from __future__ import annotations

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QDockWidget, QFrame, QMainWindow, QScrollArea, QVBoxLayout, QWidget

from attn_gui.control.instruments import INFLUENCE, SATURATION, Instruments
from attn_gui.model.tour import Instrument
from attn_gui.views.context import Context
from attn_gui.views.tour.influence_view import InfluenceView
from attn_gui.views.tour.saturation_view import SaturationView

WIDTH = 304
TITLES = {SATURATION: "A softmax over random scores", INFLUENCE: "What reaches a position"}


class InstrumentDock(QDockWidget):
    """Hidden while a step has no instrument."""

    def __init__(self, context: Context, window: QMainWindow) -> None:
        super().__init__("", window)
        self.setObjectName("instrument")
        self.setFeatures(self.DockWidgetFeature.DockWidgetMovable | self.DockWidgetFeature.DockWidgetFloatable)
        self.instruments = Instruments(context.worker, self)
        self.instruments.failed.connect(context.feed.failed)
        self.saturation = SaturationView(context, self.instruments)
        self.influence = InfluenceView(context, self.instruments)
        self._shown: Instrument | None = None
        content = self._content = QWidget()
        content.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        content.setAutoFillBackground(True)
        column = QVBoxLayout(content)
        column.setContentsMargins(12, 8, 12, 8)
        for part in (self.saturation, self.influence):
            column.addWidget(part)
        column.addStretch(1)
        scroll = self._scroll = QScrollArea()
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setWidget(content)
        scroll.setMinimumWidth(WIDTH)
        self.setWidget(scroll)
        self.hide()

    @property
    def whole_height(self) -> int:
        """Pixels that all of it takes."""
        return self._content.sizeHint().height() + self.height() - self._scroll.viewport().height()

    def show_instrument(self, instrument: Instrument | None) -> None:
        """Bring ``instrument`` into sight, set as it says, or nothing."""
        kind = None if instrument is None else instrument.kind
        self.saturation.setVisible(kind == SATURATION)
        self.influence.setVisible(kind == INFLUENCE)
        if kind is None:
            self.instruments.stop()
        else:
            self.setWindowTitle(TITLES[kind])
        self.setVisible(kind is not None)
        if instrument is not None and kind == SATURATION and instrument != self._shown:
            self.saturation.begin(instrument)
        elif kind == INFLUENCE:
            self.influence.begin()
        self._shown = instrument
