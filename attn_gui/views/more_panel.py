"""MorePanel: how scores are scaled and capped, the cache, precision, device, memory, biases and decimals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent, QPoint, QSignalBlocker, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QGridLayout, QLabel, QSizePolicy, QSpinBox, QToolButton, QWidget

from attn_gui.control.device_list import DeviceList
from attn_gui.model.acting import idle
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision
from attn_gui.model.reshape import with_biases
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import were_given
from attn_gui.views.cache_choice import CacheChoice
from attn_gui.views.context import Context
from attn_gui.views.device_choice import DeviceChoice
from attn_gui.views.drawers.segments import Segments
from attn_gui.views.figures import shown
from attn_gui.views.number_field import NumberField
from attn_gui.views.top_bar import Dropdown

WIDTH = 448
FIRST_SOFTCAP = 50.0  # Gemma 2's, for attention
PRECISIONS = {
    Precision.FLOAT64: "float64, 16 digits",
    Precision.FLOAT32: "float32, 7 digits",
    Precision.BFLOAT16: "bfloat16, 2 digits",
    Precision.FLOAT16: "float16, 3 digits",
}


# what A and N may take before they are computed block by block
MEMORY: dict[int | None, str] = {
    None: "a quarter of what is free, at most 512 MB",
    1 << 28: "256 MB",
    1 << 30: "1 GB",
    1 << 32: "4 GB",
}


class MorePanel(QFrame):
    """A panel that ``button`` drops down. A change in it is one undo step; device, memory and decimals are none."""

    def __init__(self, context: Context, devices: DeviceList, button: QToolButton) -> None:
        # a popup needs a window that it belongs to: Wayland places it by nothing else
        super().__init__(button, Qt.WindowType.Popup)
        self.button = button
        self._context = context
        self._scale = context.document.experiment.scoring.scale
        self._custom = self._scale not in (None, 1.0)
        self.setObjectName("panel")
        self.setAccessibleName("Scale, softcap, cache, precision, device, memory, biases and decimals")
        # a click on the button closes the panel and does not open it again
        self.setAttribute(Qt.WidgetAttribute.WA_NoMouseReplay)
        self.scale_kind = Segments(context.look, "Scale", [("default", "1/√d_k"), ("one", "1"), ("custom", "Custom")])
        self.scale = NumberField("Scale", self._take_scale)
        self.softcap_kind = Segments(context.look, "Softcap", [("off", "Off"), ("on", "On")])
        self.softcap = NumberField("Softcap", self._take_softcap)
        self.idle_reason = QLabel()
        self.idle_reason.setObjectName("muted")
        self.idle_reason.setWordWrap(True)
        self.cache = CacheChoice(context)
        self.precision = Dropdown("Precision")
        self.devices = devices
        self.device = DeviceChoice(context, devices)
        self.memory = Dropdown("Memory for A and N")
        self.memory.setToolTip("Larger ones are computed block by block as they are looked at; no number changes")
        self.biases = QCheckBox("b_Q, b_K, b_V, b_O")
        self.biases.setAccessibleName("Biases")
        self.biases_reason = QLabel()
        self.biases_reason.setObjectName("muted")
        self.biases_reason.setWordWrap(True)
        self.decimals = QSpinBox()
        self.decimals.setRange(0, 17)
        self.decimals.setAccessibleName("Decimals shown")
        self.decimals.setSuffix(" shown")
        self.decimals.setToolTip("Data are never rounded")
        self._lay_out()
        self.scale_kind.chosen.connect(self._choose_scale)
        self.softcap_kind.chosen.connect(self._choose_softcap)
        self.precision.chosen.connect(self._choose_precision)
        self.memory.chosen.connect(lambda value: setattr(context.settings, "memory", value))
        self.biases.clicked.connect(self._choose_biases)
        self.decimals.valueChanged.connect(lambda value: setattr(context.settings, "decimals", value))
        context.document.changed.connect(lambda before, after: self._refresh() if self.isVisible() else None)
        context.document.device_changed.connect(lambda name: self._refresh())
        context.settings.changed.connect(lambda name: self._refresh() if name == "decimals" else None)
        devices.listed.connect(self._on_listed)
        if devices.entries:
            self._on_listed()
        else:
            self._refresh()

    def open(self) -> None:
        """Drop down under the button, within the screen."""
        self.device.ask()
        self._refresh()
        self.adjustSize()
        corner = self.button.mapToGlobal(QPoint(self.button.width() - self.width(), self.button.height() + 4))
        screen = self.button.screen().availableGeometry()
        corner.setX(max(screen.left(), min(corner.x(), screen.right() - self.width())))
        corner.setY(max(screen.top(), min(corner.y(), screen.bottom() - self.height())))
        self.move(corner)
        self.show()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self.isVisible():
            self.adjustSize()
        return done

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.scale_kind.button(self.scale_kind.value).setFocus(Qt.FocusReason.PopupFocusReason)

    def _lay_out(self) -> None:
        self.setFixedWidth(WIDTH)
        grid = QGridLayout(self)
        grid.setContentsMargins(16, 12, 16, 12)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(2, 1)
        rows: list[tuple[str, QWidget, QWidget | None]] = [
            ("Scale", self.scale_kind, self.scale),
            ("", self.scale.reason, None),
            ("Softcap", self.softcap_kind, self.softcap),
            ("", self.softcap.reason, None),
            ("", self.idle_reason, None),
            ("Cache", self.cache, None),
            ("Precision", self.precision, None),
            ("Device", self.device, None),
            ("Memory", self.memory, None),
            ("Biases", self.biases, None),
            ("", self.biases_reason, None),
            ("Decimals", self.decimals, None),
        ]
        for row, (text, field, beside) in enumerate(rows):
            wide = field in (self.cache, self.device) or isinstance(field, QLabel)
            at = Qt.AlignmentFlag.AlignTop if field is self.device else Qt.AlignmentFlag.AlignVCenter
            if text:
                grid.setRowMinimumHeight(row, 28)
                label = QLabel(text)
                label.setObjectName("muted")
                label.setFixedHeight(28)
                grid.addWidget(label, row, 0, at)
            field.setSizePolicy(
                QSizePolicy.Policy.Preferred if wide else QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred
            )
            grid.addWidget(field, row, 1, 1, 1 if beside is not None else 2, at)
            if beside is not None:
                grid.addWidget(beside, row, 2, at)

    def _refresh(self) -> None:
        e = self._context.document.experiment
        scoring = e.scoring
        if scoring.scale != self._scale:
            self._scale = scoring.scale
            self._custom = scoring.scale not in (None, 1.0)
        kind = "custom" if self._custom else "default" if scoring.scale is None else "one"
        self.scale_kind.show_value(kind)
        why_idle = idle(e, "scale")
        default = why_idle or f"1/√{e.d_k} = {shown(Scoring().scale_for(e.d_k), 4)}"
        self.scale_kind.button("default").setToolTip(default)
        self.scale_kind.setEnabled(not why_idle)
        self.scale.setEnabled(self._custom and not why_idle)
        self.scale.show_number(e.scale)
        self.softcap_kind.setEnabled(not why_idle)
        self.softcap_kind.setToolTip(why_idle)
        self.softcap_kind.show_value("off" if scoring.softcap is None else "on")
        self.softcap.setEnabled(scoring.softcap is not None)
        self.idle_reason.setText(why_idle)
        self.idle_reason.setVisible(bool(why_idle))
        self.softcap.show_number(FIRST_SOFTCAP if scoring.softcap is None else scoring.softcap)
        entry = self.devices.entry(self._context.document.device)
        unsupported = {} if entry is None else entry.unsupported
        self.precision.show_choices([(p, text, unsupported.get(p)) for p, text in PRECISIONS.items()], e.precision)
        known = self._context.settings.memory
        self.memory.show_choices([(value, text, None) for value, text in MEMORY.items()], known)
        self.biases.setEnabled(e.weights is not None)
        self.biases.setChecked(e.weights is not None and e.weights.has_biases)
        given = were_given(e.source)
        self.biases_reason.setText(given and f"{given}: nothing is projected")
        self.biases_reason.setVisible(e.weights is None)
        with QSignalBlocker(self.decimals):
            self.decimals.setValue(self._context.settings.decimals)

    def _on_listed(self) -> None:
        self._refresh()
        last: QWidget = self.precision
        for following in (*self.device.buttons.values(), self.memory, self.biases):
            QWidget.setTabOrder(last, following)
            last = following

    def _choose_scale(self, kind: str) -> None:
        self._custom = kind == "custom"
        if kind == "custom":
            self._refresh()
            self.scale.setFocus()
            self.scale.selectAll()
            return
        self._set_scoring("Scale: 1" if kind == "one" else "Scale: 1/√d_k", scale=1.0 if kind == "one" else None)

    def _take_scale(self, value: float) -> None:
        self._set_scoring(f"Scale: {value:g}", scale=value)

    def _choose_softcap(self, kind: str) -> None:
        if kind == "off":
            self._set_scoring("Softcap: off", softcap=None)
        else:
            self._set_scoring(f"Softcap: {FIRST_SOFTCAP:g}", softcap=FIRST_SOFTCAP)

    def _take_softcap(self, value: float) -> None:
        self._set_scoring(f"Softcap: {value:g}", softcap=value)

    def _choose_precision(self, precision: Precision) -> None:
        e = self._context.document.experiment
        self._apply(f"Precision: {precision}", replace(e, precision=precision), e.precision != precision)

    def _choose_biases(self, present: bool) -> None:
        e = self._context.document.experiment
        try:
            self._apply("Biases on" if present else "Biases off", with_biases(e, present), True)
        except ExperimentError as error:
            self._context.notices.error(str(error), "biases")

    def _set_scoring(self, label: str, **changes: Any) -> None:
        e = self._context.document.experiment
        scoring = replace(e.scoring, **changes)
        self._apply(label, replace(e, scoring=scoring), scoring != e.scoring)

    def _apply(self, label: str, experiment: Experiment, changed: bool) -> None:
        if changed:
            self._context.document.apply(label, experiment)
        else:
            self._refresh()
