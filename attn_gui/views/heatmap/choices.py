"""Choices: how values become colours, kept in the session as a view choice."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from attn_gui.control.document import Document
from attn_gui.model.picture import ColourMapping
from attn_gui.model.session import Session
from attn_gui.model.trace import Pooling
from attn_gui.views.heatmap.pictures import Pictures
from attn_gui.views.heatmap.scale import DIVERGING, MAPPINGS

POOLINGS: dict[Pooling, str] = {"max": "The largest", "mean": "The mean", "min": "The smallest"}


class Choices(QObject):
    """``changed``: the person has chosen; :meth:`take` then puts it into force, as after opening a session."""

    changed = Signal()

    def __init__(self, document: Document, pictures: Pictures, slot: str) -> None:
        super().__init__(pictures)
        self._document = document
        self._pictures = pictures
        self._mapping, self._pooling = f"{slot} colours", f"{slot} pooling"

    def set_mapping(self, mapping: ColourMapping) -> None:
        """How values become colours."""
        self._document.keep_view(**{self._mapping: mapping})
        self.changed.emit()

    def set_pooling(self, pooling: Pooling) -> None:
        """What stands for the cells of one pixel."""
        self._document.keep_view(**{self._pooling: pooling})
        self.changed.emit()

    def take(self, session: Session) -> None:
        """Have pictures made as ``session`` says; what it says may come from a file, and be anything."""
        mapping, pooling = session.view.get(self._mapping), session.view.get(self._pooling)
        possible = DIVERGING if self._pictures.diverging else tuple(MAPPINGS)
        self._pictures.mapping = next((m for m in possible if m == mapping), "linear")
        self._pictures.pooling = next((p for p in POOLINGS if p == pooling), "max")
