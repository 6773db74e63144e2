"""RuleBox: a dropdown of mask rules, each with its pattern; the unusual ones come under "More…"."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QWidget

from attn_gui.model.masks import MaskRule, choosable
from attn_gui.views.look import Look
from attn_gui.views.masks.cells import Cells
from attn_gui.views.masks.pattern import ICON, icon, sample

MORE = "more"
SHOWN_ENTRIES = 20
# pixels of the text of a rule that no entry begins
LONGEST_TEXT = 240

Extra = tuple[str, str, str, Cells | None]  # data, text, what it does, its pattern

_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -5, Qt.Key.Key_PageDown: 5}
_ENDS = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: -1}


# Qt counts the pattern and leaves out the space between it and the name
ROOM = 8


class RuleBox(QComboBox):
    """``chosen(data)``: the kind of a rule, or the data of one of ``extra``, which come last and are no rules.

    none: whether no rule is among the choices. Keys and the wheel go from rule to rule and never to anything else.
    """

    chosen = Signal(str)

    def __init__(
        self, look: Look, name: str, *, none: bool = True, extra: Sequence[Extra] = (), parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._look = look
        self._extra = {data: (text, tip, cells) for data, text, tip, cells in extra}
        self._rules = [rule for rule in choosable() if none or rule is not MaskRule]
        self._more_shown = False
        self._rule = MaskRule()
        self._blank = icon(None, look.theme)
        self._undrawn: list[int] = []
        self._text = ""
        self.setAccessibleName(name)
        self.setIconSize(ICON)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaxVisibleItems(SHOWN_ENTRIES)
        # once the list that was chosen from has closed
        self._reopen = QTimer(self)
        self._reopen.setSingleShot(True)
        self._reopen.setInterval(0)
        self._reopen.timeout.connect(self.showPopup)
        self.activated.connect(self._on_activated)
        look.changed.connect(self._fill)
        self._fill()

    def show_rule(self, rule: MaskRule, text: str = "") -> None:
        """Have ``rule`` as the one chosen; ``text`` says what it is where no entry begins it."""
        if type(rule) is not type(self._rule) or text != self._text:
            self._rule, self._text = rule, text
            self._fill()
        elif rule != self._rule:
            self._rule = rule
            self._draw(self.findData(rule.kind))
        self._show(rule.kind)

    def show_extra(self, data: str) -> None:
        """Have the extra entry of ``data`` as the one chosen."""
        self._show(data)

    def name_extra(self, data: str, text: str) -> None:
        """Call the extra entry of ``data`` by ``text``."""
        self._extra[data] = text, *self._extra[data][1:]
        self.setItemText(self.findData(data), text)

    def sizeHint(self) -> QSize:
        return self._lowered(super().sizeHint())

    def minimumSizeHint(self) -> QSize:
        return self._lowered(super().minimumSizeHint())

    def _lowered(self, hint: QSize) -> QSize:
        """No taller than the dropdowns beside it: the pattern has a place within the frame."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        text = QSize(0, max(self.fontMetrics().height() + 2, ICON.height()))
        plain = self.style().sizeFromContents(QStyle.ContentsType.CT_ComboBox, option, text, self)
        return QSize(hint.width() + ROOM, plain.height())

    def showPopup(self) -> None:
        # at the start of the program nobody sees them yet
        for entry in self._undrawn:
            self._draw(entry)
        self._undrawn = []
        super().showPopup()

    def hideEvent(self, event: QHideEvent) -> None:
        self._reopen.stop()
        super().hideEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if plain and key in _STEPS:
            self._step(_STEPS[key])
        elif plain and key in _ENDS:
            self._activate(self._rule_entries()[_ENDS[key]])
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta().y()
        if delta:
            self._step(-1 if delta > 0 else 1)
        event.accept()

    def _rule_entries(self) -> list[int]:
        return [k for k in range(self.count()) if self.itemData(k) in MaskRule.kinds]

    def _step(self, by: int) -> None:
        entries, current = self._rule_entries(), self.currentIndex()
        # what is no rule stands after all of them
        place = entries.index(current) if current in entries else len(entries)
        self._activate(entries[max(0, min(place + by, len(entries) - 1))])

    def _activate(self, index: int) -> None:
        if index != self.currentIndex():
            self._show(self.itemData(index))
            self.activated.emit(index)

    def _on_activated(self, index: int) -> None:
        data = self.itemData(index)
        if data != MORE:
            self.chosen.emit(data)
            return
        self._more_shown = True
        self._fill()
        self.show_rule(self._rule, self._text)
        self._reopen.start()

    def _fill(self) -> None:
        """Put the list together: the usual rules, the others or More, then what is no rule."""
        current, shown = self.currentData(), type(self._rule)
        with QSignalBlocker(self):
            self.clear()
            for rule in self._rules:
                if rule.usual:
                    self._add(rule.kind, rule.title, rule.about)
            if shown not in self._rules and shown is not MaskRule:
                text = self._text or shown.title
                short = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, LONGEST_TEXT)
                self._add(shown.kind, short, text if text != short else shown.about)
            self.insertSeparator(self.count())
            if self._more_shown or (shown in self._rules and not shown.usual):
                for rule in self._rules:
                    if not rule.usual:
                        self._add(rule.kind, rule.title, rule.about)
                if self._extra:
                    self.insertSeparator(self.count())
            else:
                self._add(MORE, "More…", "Dilated, global + window, block-sparse, tree and random masks")
            for data, (text, tip, _) in self._extra.items():
                self._add(data, text, tip)
            self._undrawn = list(range(self.count()))
            self._show(current)

    def _add(self, data: str, text: str, tip: str) -> None:
        self.addItem(self._blank, text, data)
        self.setItemData(self.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)

    def _show(self, data: str | None) -> None:
        """Have the entry of ``data`` as the one chosen, or the first."""
        self.setCurrentIndex(max(0, self.findData(data)))
        if self.currentIndex() in self._undrawn:
            self._undrawn.remove(self.currentIndex())
            self._draw(self.currentIndex())

    def _draw(self, entry: int) -> None:
        """Give an entry the pattern that it stands for."""
        data = self.itemData(entry)
        if data in MaskRule.kinds:
            rule: MaskRule = self._rule if self._rule.kind == data else MaskRule.kinds[data]()
            self.setItemIcon(entry, icon(sample(rule), self._look.theme))
        elif data in self._extra:
            self.setItemIcon(entry, icon(self._extra[data][2], self._look.theme))
