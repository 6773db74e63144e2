"""Flow: controls side by side, on further lines where the width does not hold them."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtWidgets import QLayoutItem, QWidget

from attn_gui.views.drawers.items_layout import ItemsLayout


class Flow(ItemsLayout):
    """Lines of items, each centred on its line; ``gap`` pixels between items and half of it between lines."""

    def __init__(self, gap: int = 12, parent: QWidget | None = None) -> None:
        super().__init__(gap, parent)

    def heightForWidth(self, width: int) -> int:
        lines = self._lines(width)
        return sum(height for _, height in lines) + self._gap // 2 * max(0, len(lines) - 1)

    def sizeHint(self) -> QSize:
        sizes = [item.sizeHint() for item in self._shown()]
        width = sum(size.width() for size in sizes) + self._gap * max(0, len(sizes) - 1)
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        sizes = [item.minimumSize() for item in self._shown()]
        return QSize(max((s.width() for s in sizes), default=0), max((s.height() for s in sizes), default=0))

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        y = rect.top()
        for line, height in self._lines(rect.width()):
            x = rect.left()
            for item in line:
                size = self._size(item, rect.width())
                down = (height - size.height()) // 2
                item.setGeometry(QRect(QPoint(x, y + down), size))
                x += size.width() + self._gap
            y += height + self._gap // 2

    def _size(self, item: QLayoutItem, width: int) -> QSize:
        size = item.sizeHint()
        taken = max(item.minimumSize().width(), min(size.width(), width))
        return QSize(taken, item.heightForWidth(taken) if item.hasHeightForWidth() else size.height())

    def _lines(self, width: int) -> list[tuple[list[QLayoutItem], int]]:
        """The items of each line and its height."""
        lines: list[tuple[list[QLayoutItem], int]] = []
        x = 0
        for item in self._shown():
            size = self._size(item, width)
            if lines and x + size.width() <= width:
                line, height = lines[-1]
                line.append(item)
                lines[-1] = line, max(height, size.height())
            else:
                x = 0
                lines.append(([item], size.height()))
            x += size.width() + self._gap
        return lines
