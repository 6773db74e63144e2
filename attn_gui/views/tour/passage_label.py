"""A passage of a tour on screen: each number of a cell is a link that selects it."""

from __future__ import annotations

import re
from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from attn_gui.model.tour import Claim, Passage

# per cent of a line's own height
LINE_HEIGHT = 120
_BOLD, _CODE = re.compile(r"\*\*(.+?)\*\*"), re.compile(r"`(.+?)`")


class PassageLabel(QLabel):
    """Emits ``followed(head, query, key)`` where the number of a cell is clicked."""

    followed = Signal(object, int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._places: list[tuple[object, int, int]] = []
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        flags = Qt.TextInteractionFlag
        self.setTextInteractionFlags(flags.TextSelectableByMouse | flags.LinksAccessibleByMouse)
        self.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.linkActivated.connect(lambda link: self.followed.emit(*self._places[int(link)]))

    def show_passage(self, passage: Passage) -> None:
        self._places = []
        whole = "".join(self._html(piece) for piece in passage.pieces)
        paragraphs = (f"<p style='margin: 0; line-height: {LINE_HEIGHT}%'>{p}</p>" for p in whole.split("\n\n"))
        self.setText("".join(paragraphs))
        self.setAccessibleName(passage.text)

    def _html(self, piece: str | Claim) -> str:
        if isinstance(piece, str):
            return _CODE.sub(r"<code>\1</code>", _BOLD.sub(r"<b>\1</b>", escape(piece)))
        if piece.place is None:
            return f"<b>{escape(piece.text)}</b>"
        self._places.append(piece.place)
        return f"<a href='{len(self._places) - 1}'>{escape(piece.text)}</a>"
