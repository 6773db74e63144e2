"""Text that the edge of a table cuts gets an ellipsis, so that half a number is not read as a whole one."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QTextLayout
from PySide6.QtWidgets import QHeaderView, QStyleOptionHeader, QWidget

from attn_gui.views.painting import guarded

PADDING = 8
# pixels between a shortened text and the edge that cuts it
EDGE = 2
# characters; no view is wide enough for more, and to measure a long text takes long
LONGEST = 400

_Mode = Qt.TextElideMode


def beginning(text: str, longest: int = LONGEST) -> str:
    """``text`` to be measured, shown on one line or in a tooltip: of a very long one as much as anyone will see."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def cut_text(
    text: str, metrics: QFontMetrics, place: QRect, alignment: Qt.AlignmentFlag, view: QRect
) -> tuple[QRect, str]:
    """Where and as what to draw ``text``, which belongs into ``place``, of which ``view`` is in sight."""
    text = beginning(text)
    advance = metrics.horizontalAdvance(text)
    width = min(advance, place.width())
    if alignment & Qt.AlignmentFlag.AlignRight:
        left = place.right() + 1 - width
    elif alignment & Qt.AlignmentFlag.AlignHCenter:
        left = place.left() + (place.width() - width) // 2
    else:
        left = place.left()
    cut_left, cut_right = left < view.left(), left + width > view.right() + 1
    if advance <= place.width() and not (cut_left or cut_right):
        return place, text
    if cut_left or cut_right:
        place = place.intersected(view.adjusted(EDGE, place.top() - view.top(), -EDGE, place.bottom() - view.bottom()))
    mode = _Mode.ElideLeft if cut_left and not cut_right else _Mode.ElideRight
    drawn = metrics.elidedText(text, mode, max(0, place.width()))
    return place, drawn if metrics.horizontalAdvance(drawn) <= place.width() else ""


def first_lines(text: str, font: QFont, width: int, lines: int) -> str:
    """``text`` wrapped to ``width`` pixels, or as much of it as ``lines`` hold, with an ellipsis at the end."""
    layout = QTextLayout(text, font)
    layout.beginLayout()
    start, fits = 0, True
    for _ in range(lines):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(width)
        start, fits = line.textStart(), line.textStart() + line.textLength() >= len(text)
    layout.endLayout()
    if fits:
        return text
    return text[:start] + QFontMetrics(font).elidedText(text[start:], _Mode.ElideRight, width)


class CutHeader(QHeaderView):
    """A header whose names are shortened where they do not fit or an edge of the table cuts them."""

    def __init__(self, orientation: Qt.Orientation, parent: QWidget) -> None:
        super().__init__(orientation, parent)
        self._text = ""
        self.setSectionsClickable(True)
        self.setHighlightSections(False)

    @guarded
    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        place, self._text = self.drawn(rect, logicalIndex)
        super().paintSection(painter, place.adjusted(-PADDING, 0, PADDING, 0), logicalIndex)

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, logicalIndex: int) -> None:
        super().initStyleOptionForIndex(option, logicalIndex)
        option.text = self._text

    def drawn(self, rect: QRect, section: int) -> tuple[QRect, str]:
        """Where and as what the name of ``section``, which lies in ``rect``, is drawn."""
        model, roles = self.model(), Qt.ItemDataRole
        text = model.headerData(section, self.orientation(), roles.DisplayRole)
        alignment = model.headerData(section, self.orientation(), roles.TextAlignmentRole)
        place = rect.adjusted(PADDING, 0, -PADDING, 0)
        sides = Qt.AlignmentFlag(self.defaultAlignment() if alignment is None else alignment)
        return cut_text("" if text is None else str(text), self.fontMetrics(), place, sides, self.viewport().rect())
