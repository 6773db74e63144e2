"""Pickers: which layers and which item of the batch are opened, and how many heads lie side by side in one axis."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSpinBox, QWidget

from attn_gui.model.tensors.checks import sizes
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.reading import Reading

MOST_HEADS = 4096
BY_OTHERS = "as the others"


class Pickers(QWidget):
    """``changed(reading)`` comes with each choice. What there is no choice of is not shown."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._reading: Reading | None = None
        self.layer = QComboBox()
        self.layer.setAccessibleName("Layers")
        self.layer.setToolTip("One layer, or all of them, each as an experiment of its own")
        self.layer.setMaxVisibleItems(20)
        self.layer.setMinimumContentsLength(9)
        self.batch = QSpinBox()
        self.batch.setAccessibleName("Batch item")
        self.batch.setToolTip("Which item of the batch is opened")
        self.heads = _count("Heads", "How many heads lie side by side in one axis")
        self.kv_heads = _count("Key/value heads", "How many of K and V lie side by side in one axis")
        self._pairs: dict[QWidget, QWidget] = {}
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(16)
        for text, field in (
            ("&Layers", self.layer),
            ("Batch &item", self.batch),
            ("&Heads", self.heads),
            ("Key/&value heads", self.kv_heads),
        ):
            label = QLabel(text)
            label.setBuddy(field)
            pair = self._pairs[field] = QWidget()
            beside = QHBoxLayout(pair)
            beside.setContentsMargins(0, 0, 0, 0)
            beside.setSpacing(8)
            beside.addWidget(label)
            beside.addWidget(field)
            row.addWidget(pair)
        row.addStretch(1)
        self.layer.activated.connect(lambda index: self._take(layers=self.layer.itemData(index)))
        self.batch.valueChanged.connect(lambda value: self._take(batch=value - 1))
        self.heads.valueChanged.connect(lambda value: self._take(heads=value or None))
        self.kv_heads.valueChanged.connect(lambda value: self._take(kv_heads=value or None))
        self.show_reading(None, None)

    def show_reading(self, contents: Contents | None, reading: Reading | None) -> None:
        """Show the choices that ``reading`` of ``contents`` has."""
        self._reading = reading
        counts = list(sizes(contents, reading).values()) if contents is not None and reading is not None else []
        layers = sorted({layer for each in counts for layer in each.layers})
        items = max((each.batch for each in counts), default=1)
        fused = reading is not None and any(part.is_side_by_side for part in reading.used())
        shown = {self.layer: len(layers) > 1, self.batch: items > 1, self.heads: fused, self.kv_heads: fused}
        for field, visible in shown.items():
            self._pairs[field].setVisible(visible)
        self.setVisible(any(shown.values()))
        if reading is None:
            return
        with QSignalBlocker(self.layer):
            self._offer_layers(layers)
            self.layer.setCurrentIndex(max(0, self.layer.findData(reading.layers)))
        with QSignalBlocker(self.batch):
            self.batch.setRange(1, max(items, reading.batch + 1))
            self.batch.setSuffix(f" of {items:,}")
            self.batch.setValue(reading.batch + 1)
        for field, value in ((self.heads, reading.heads), (self.kv_heads, reading.kv_heads)):
            with QSignalBlocker(field):
                field.setValue(value or 0)

    def _offer_layers(self, layers: list[int]) -> None:
        offered = [(f"All {len(layers):,}", None), *((f"Layer {layer + 1:,}", (layer,)) for layer in layers)]
        if [self.layer.itemText(k) for k in range(self.layer.count())] != [text for text, _ in offered]:
            self.layer.clear()
            for text, value in offered:
                self.layer.addItem(text, value)

    def _take(self, **choice: object) -> None:
        if self._reading is not None:
            self.changed.emit(replace(self._reading, **choice))  # type: ignore[arg-type]


def _count(name: str, tip: str) -> QSpinBox:
    field = QSpinBox()
    field.setAccessibleName(name)
    field.setToolTip(f"{tip}. 0: as the other tensors say, else 1")
    field.setRange(0, MOST_HEADS)
    field.setSpecialValueText(BY_OTHERS)
    field.setKeyboardTracking(False)
    return field
