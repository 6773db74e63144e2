"""Scroll bars of the panels' tables: thin, and the horizontal one in the footer, where it takes no height from rows."""

from __future__ import annotations

import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollBar, QTableView, QWidget

from attn_gui.views.look import Look
from attn_gui.views.theme import Theme

THICKNESS = 8


class FootScroll(QScrollBar):
    """Mirrors the horizontal scroll bar of ``view``, which it hides; blank while all columns are in sight."""

    def __init__(self, view: QTableView, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._bar = view.horizontalScrollBar()
        self._look = look
        self.setFixedHeight(THICKNESS)
        self.setAccessibleName(f"{view.accessibleName()}, sideways")
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)
        self._bar.rangeChanged.connect(self._on_range)
        self._bar.valueChanged.connect(self.setValue)
        self.valueChanged.connect(self._bar.setValue)
        self._on_range(self._bar.minimum(), self._bar.maximum())
        look.changed.connect(self._dress)
        self._dress()

    def _on_range(self, low: int, high: int) -> None:
        if not shiboken6.isValid(self._bar):
            return  # a view says so once more while it is taken down
        self.setRange(low, high)
        self.setPageStep(self._bar.pageStep())
        self.setSingleStep(self._bar.singleStep())
        self.setValue(self._bar.value())
        self.setVisible(high > low)

    def _dress(self) -> None:
        self.setStyleSheet(thin_bars(self._look.theme))


def thin_bars(theme: Theme) -> str:
    """A style sheet for scroll bars that are a handle and nothing else."""
    return f"""
        QScrollBar {{ background: transparent; border: none; margin: 0; }}
        QScrollBar:vertical {{ width: {THICKNESS}px; }}
        QScrollBar:horizontal {{ height: {THICKNESS}px; }}
        QScrollBar::handle {{ background: {theme.line}; border-radius: 3px; margin: 1px; }}
        QScrollBar::handle:vertical {{ min-height: 24px; }}
        QScrollBar::handle:horizontal {{ min-width: 24px; }}
        QScrollBar::handle:hover {{ background: {theme.muted}; }}
        QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
        QScrollBar::add-page, QScrollBar::sub-page {{ background: none; }}
    """
