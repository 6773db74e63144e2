"""The instrument of “why divide by sqrt(d_k)”: two sliders, and what they do to a softmax."""

from __future__ import annotations

import math

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLabel, QSlider, QVBoxLayout, QWidget

from attn_gui.control.instruments import Instruments
from attn_gui.model.instruments import KEYS, LARGEST_EXPONENT, Saturation
from attn_gui.model.tour import Instrument
from attn_gui.views.context import Context
from attn_gui.views.tour.bars import Bars
from attn_gui.views.tour.curve import Curve

MOST_GRADIENT = 0.5
TICKS = [(2.0**-LARGEST_EXPONENT, "1/1024"), (1.0, "1")]


class SaturationView(QWidget):
    """Shows entropy and gradient size of softmax(scale q . k) over the scale, for random q and k of d_k numbers."""

    def __init__(self, context: Context, instruments: Instruments, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._instruments = instruments
        self.d_k = _slider("d_k, the size of queries and keys", LARGEST_EXPONENT)
        self.scale = _slider("Scale", 2 * LARGEST_EXPONENT)
        self.scale.setInvertedAppearance(True)  # to the right it grows
        self.scale.setInvertedControls(True)
        self.divided = QCheckBox("Keep the scale at 1/√d_k")
        self._d_k, self._scale = QLabel(), QLabel()
        self.entropy = Curve(context, f"Entropy of a row, of {math.log2(KEYS):g} bits", math.log2(KEYS), 2)
        self.gradient = Curve(context, "Size of the softmax’s gradient", MOST_GRADIENT, 2)
        self.row = Bars(context, [""])
        self.row.setAccessibleName("Weights of one query")
        self.spread = QLabel()
        self.spread.setObjectName("muted")
        self.spread.setWordWrap(True)
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        for line, (text, slider, value) in enumerate(
            (("d_k", self.d_k, self._d_k), ("Scale", self.scale, self._scale))
        ):
            label = QLabel(text)
            label.setObjectName("muted")
            value.setMinimumWidth(value.fontMetrics().horizontalAdvance("0.0078 "))
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            for place, widget in enumerate((label, slider, value)):
                grid.addWidget(widget, line, place)
        grid.setColumnStretch(1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(grid)
        for part in (self.divided, self.entropy, self.gradient, self.spread, self.row):
            column.addWidget(part)
        self.d_k.valueChanged.connect(lambda value: self._on_d_k())
        self.scale.valueChanged.connect(lambda value: self._on_scale())
        self.divided.toggled.connect(lambda on: self._on_d_k())
        instruments.saturation.connect(self._on_measured)

    def begin(self, instrument: Instrument) -> None:
        """Set the sliders to ``instrument``."""
        blocked = [QSignalBlocker(part) for part in (self.d_k, self.scale, self.divided)]
        self.d_k.setValue(round(math.log2(instrument.d_k)))
        self.divided.setChecked(instrument.scale is None)
        if instrument.scale is not None:
            self.scale.setValue(round(-2 * math.log2(instrument.scale)))
        for blocker in blocked:
            blocker.unblock()
        self._on_d_k()

    def _on_d_k(self) -> None:
        if self.divided.isChecked():
            blocker = QSignalBlocker(self.scale)
            self.scale.setValue(self.d_k.value())
            blocker.unblock()
        self._measure()

    def _on_scale(self) -> None:
        blocker = QSignalBlocker(self.divided)
        self.divided.setChecked(False)
        blocker.unblock()
        self._measure()

    def _measure(self) -> None:
        d_k, scale = 2 ** self.d_k.value(), 2.0 ** (-self.scale.value() / 2)
        self._d_k.setText(f"{d_k:,}")
        self._scale.setText(f"{scale:.3g}" if scale < 0.01 else f"{scale:.4g}")
        self._instruments.measure_saturation(d_k, None if self.divided.isChecked() else scale)

    def _on_measured(self, s: Saturation) -> None:
        root = (1 / math.sqrt(s.d_k), "1/√d_k")
        # where the dashed line's name would run into those of the ends, it stands for itself
        ticks = [tick for tick in TICKS if abs(math.log2(tick[0] / root[0])) > 3]
        for curve, ys, y in ((self.entropy, s.entropies, s.entropy), (self.gradient, s.gradients, s.gradient)):
            curve.show_values(s.scales.tolist(), ys.tolist(), (s.scale, y), root, ticks)
        self.spread.setText(f"q · k spreads by {s.spread:.3g}, scores by {s.spread * s.scale:.3g}. One row of weights:")
        self.row.show_parts([f"key {k + 1}" for k in range(KEYS)], [s.row.tolist()])


def _slider(name: str, most: int) -> QSlider:
    slider = QSlider(Qt.Orientation.Horizontal)
    slider.setRange(0, most)
    slider.setPageStep(2)
    slider.setAccessibleName(name)
    slider.setToolTip(name)
    return slider
