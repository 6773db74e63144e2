"""Segments: a choice among a few, all of them in sight side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QSizePolicy, QToolButton, QWidget

from attn_gui.views.look import Look


class Segments(QWidget):
    """Buttons of which one is down, or none. Tab reaches the one that is down, the arrow keys move it."""

    chosen = Signal(str)

    def __init__(
        self, look: Look, name: str, choices: Sequence[tuple[str, str]], parent: QWidget | None = None
    ) -> None:
        """``choices``: (value, text); ``name`` is what a screen reader says of the whole."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._name = name
        self._look = look
        self._group = QButtonGroup(self)
        self._values: list[str] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        self._group.idClicked.connect(lambda index: self.chosen.emit(self._values[index]))
        self._group.buttonToggled.connect(lambda button, down: self._share_tab())
        look.changed.connect(self._dress)
        self._dress()
        self.offer(choices)

    @property
    def value(self) -> str:
        """The choice whose button is down, empty where none is."""
        return "" if self._group.checkedId() < 0 else self._values[self._group.checkedId()]

    @property
    def values(self) -> list[str]:
        return list(self._values)

    def offer(self, choices: Sequence[tuple[str, str]]) -> None:
        """Have these choices, the first of them down."""
        for button in self._group.buttons():
            self._group.removeButton(button)
            self._row.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._values = [value for value, _ in choices]
        for index, (_, text) in enumerate(choices):
            button = _Segment(text)
            button.setAccessibleName(f"{self._name}: {text}")
            button.setProperty("place", "first" if index == 0 else "last" if index == len(choices) - 1 else "middle")
            self._group.addButton(button, index)
            self._row.addWidget(button)
        if choices:
            self.show_value(self._values[0])

    def show_value(self, value: str) -> None:
        """Have ``value`` down, or none where that is empty, without saying so."""
        if value:
            self.button(value).setChecked(True)
        elif self.value:
            # Qt lets go of the one that is down in no other way
            self._group.setExclusive(False)
            self.button(self.value).setChecked(False)
            self._group.setExclusive(True)
            self.button(self._values[0]).setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def button(self, value: str) -> QAbstractButton:
        return self._group.button(self._values.index(value))

    def _share_tab(self) -> None:
        """Qt itself lets Tab go to the button that had the focus last, which need not be the one that is down."""
        for button in self._group.buttons():
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus if button.isChecked() else Qt.FocusPolicy.NoFocus)

    def _dress(self) -> None:
        theme = self._look.theme
        self.setStyleSheet(f"""
            QToolButton {{
                padding: 4px 12px; border: 1px solid {theme.line}; background: {theme.field}; color: {theme.text};
            }}
            QToolButton[place="middle"], QToolButton[place="last"] {{ border-left: none; }}
            QToolButton[place="first"] {{ border-top-left-radius: 4px; border-bottom-left-radius: 4px; }}
            QToolButton[place="last"] {{ border-top-right-radius: 4px; border-bottom-right-radius: 4px; }}
            QToolButton:hover:!checked {{ background: {theme.band}; }}
            QToolButton:checked {{ background: {theme.accent}; color: {theme.accent_text}; font-weight: 600; }}
            QToolButton:disabled {{ color: {theme.muted}; background: {theme.panel}; }}
            QToolButton:focus {{ border: 2px solid {theme.text}; padding: 3px 11px; }}
        """)


class _Segment(QToolButton):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.setText(text)
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
