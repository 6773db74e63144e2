"""The mask: a dropdown of rules, the parameters of the one chosen, and painting by hand on top."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QSpinBox, QToolButton, QWidget

from attn_gui.model.masks import Causal, MaskRule, SlidingWindow, choosable
from attn_gui.model.painted import Painted
from attn_gui.views.context import Context

CUSTOM = "custom"
# room for seven digits: a file may bring more, for which the field then grows
USUAL_WINDOW = 1_000_000


class MaskChoice(QWidget):
    """Chooses experiment.rule, its parameters, and whether clicks on A paint the mask."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.kind = QComboBox()
        self.kind.setAccessibleName("Mask")
        # the text of one entry depends on the mask below what is painted
        self.kind.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        for rule in choosable():
            self.kind.addItem(rule.title, rule.kind)
        self.kind.addItem("Custom", CUSTOM)
        self.kind.setItemData(self.kind.count() - 1, "Click or drag over cells of A", Qt.ItemDataRole.ToolTipRole)
        self.window_size = QSpinBox()
        self.window_size.setRange(0, USUAL_WINDOW)
        self.window_size.setSuffix(" previous")
        self.window_size.setAccessibleName("Previous keys in the window")
        self.window_size.setToolTip("A query may attend to this many previous keys, and to its own")
        self.window_size.setKeyboardTracking(False)
        self.two_sided = QCheckBox("both sides")
        self.two_sided.setToolTip("As many following keys as well")
        self.alignment = QComboBox()
        self.alignment.setAccessibleName("Alignment of the causal mask")
        self.alignment.addItem("from the first key", "top-left")
        self.alignment.addItem("up to the last key", "bottom-right")
        self.paint = QToolButton()
        self.paint.setText("Paint")
        self.paint.setCheckable(True)
        self.paint.setToolTip("Click or drag over cells of A to mask them or to allow them again (P). Escape ends it")
        self.clear = QToolButton()
        self.clear.setText("Clear painted")
        self._stop = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        self._stop.activated.connect(lambda: context.selection.set_painting(False))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for field in (self.kind, self.window_size, self.two_sided, self.alignment, self.paint, self.clear):
            row.addWidget(field)
        self.kind.activated.connect(self._choose)
        self.window_size.valueChanged.connect(self._set_window)
        self.two_sided.toggled.connect(self._set_two_sided)
        self.alignment.activated.connect(self._set_alignment)
        self.paint.toggled.connect(context.selection.set_painting)
        self.clear.clicked.connect(self.clear_painted)
        context.selection.painting_changed.connect(self._refresh)
        context.document.changed.connect(lambda before, after: self._refresh())
        self._refresh()

    def clear_painted(self) -> None:
        """Take away what was painted by hand."""
        e = self._context.document.experiment
        if e.painted:
            self._context.document.apply("Clear painted mask", replace(e, painted=Painted()))

    def _refresh(self) -> None:
        e = self._context.document.experiment
        rule, painting = e.rule, self._context.selection.painting
        custom = painting or bool(e.painted)
        place = self.kind.findData(CUSTOM)
        self.kind.setItemText(place, "Custom" if rule.kind == "none" or not custom else f"{rule.title} + custom")
        self.kind.setCurrentIndex(place if custom else self.kind.findData(rule.kind))
        sliding = isinstance(rule, SlidingWindow)
        if isinstance(rule, SlidingWindow):
            with QSignalBlocker(self.window_size), QSignalBlocker(self.two_sided):
                self.window_size.setMaximum(max(USUAL_WINDOW, rule.window))
                self.window_size.setValue(rule.window)
                self.two_sided.setChecked(rule.two_sided)
        if isinstance(rule, Causal):
            self.alignment.setCurrentIndex(self.alignment.findData(rule.alignment))
        self.window_size.setVisible(sliding)
        self.two_sided.setVisible(sliding)
        self.alignment.setVisible(isinstance(rule, Causal) and e.n_q != e.n_k)
        with QSignalBlocker(self.paint):
            self.paint.setChecked(painting)
        # at other times the key is for whatever has the focus
        self._stop.setEnabled(painting)
        self.clear.setVisible(bool(e.painted))

    def _choose(self, index: int) -> None:
        kind = self.kind.itemData(index)
        if kind == CUSTOM:
            self._context.selection.set_painting(True)
            self._refresh()
            return
        self._context.selection.set_painting(False)
        rule = MaskRule.of_kind(kind)
        e = self._context.document.experiment
        if rule.kind == "none" and e.painted:
            self._context.document.apply("Mask: none", replace(e, rule=MaskRule(), painted=Painted()))
            return
        self._apply(rule(), f"Mask: {rule.title.lower()}")
        self._refresh()

    def _set_window(self, window: int) -> None:
        rule = self._context.document.experiment.rule
        if isinstance(rule, SlidingWindow):
            self._apply(replace(rule, window=window), "Window size", "mask window")

    def _set_two_sided(self, two_sided: bool) -> None:
        rule = self._context.document.experiment.rule
        if isinstance(rule, SlidingWindow):
            self._apply(replace(rule, two_sided=two_sided), "Window sides")

    def _set_alignment(self, index: int) -> None:
        self._apply(Causal(self.alignment.itemData(index)), "Causal alignment")

    def _apply(self, rule: MaskRule, label: str, merge: str | None = None) -> None:
        e = self._context.document.experiment
        if rule != e.rule:
            self._context.document.apply(label, replace(e, rule=rule), merge)
