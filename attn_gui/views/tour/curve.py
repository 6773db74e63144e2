"""Curve: how one number follows another, with the present value marked."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from attn_gui.views.context import Context
from attn_gui.views.look import number_font
from attn_gui.views.painting import guarded

HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 108, 36, 12, 22, 20


class Curve(QWidget):
    """A curve over a logarithmic axis, its top at ``most``; a dot at the present place and a dashed line at another."""

    def __init__(self, context: Context, title: str, most: float, decimals: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = context.look
        self._title, self._most, self._decimals = title, most, decimals
        self._xs: Sequence[float] = ()
        self._ys: Sequence[float] = ()
        self._at = (0.0, 0.0)
        self._mark = (0.0, "")
        self._ticks: list[tuple[float, str]] = []
        self.setFont(number_font(8.5))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        context.look.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(260, HEIGHT)

    def show_values(
        self,
        xs: Sequence[float],
        ys: Sequence[float],
        at: tuple[float, float],
        marked: tuple[float, str],
        ticks: list[tuple[float, str]],
    ) -> None:
        """``xs``, all positive and ascending, with ``ys``; ``at`` is the present point, ``marked`` a place by name."""
        self._xs, self._ys, self._at, self._mark, self._ticks = xs, ys, at, marked, ticks
        value = f"{at[1]:.{self._decimals}f}"
        self.setAccessibleName(self._title)
        self.setAccessibleDescription(f"{value} at {at[0]:.4g}; between {min(ys):.2f} and {max(ys):.2f}")
        self.update()

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        plot = QRectF(LEFT, TOP, self.width() - LEFT - RIGHT, self.height() - TOP - BOTTOM)
        painter.setPen(theme.colour("text"))
        painter.drawText(QRectF(0, 0, self.width(), TOP - 4), Qt.AlignmentFlag.AlignLeft, self._title)
        painter.setPen(QPen(theme.colour("line"), 1))
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())
        painter.drawLine(plot.topLeft(), plot.bottomLeft())
        painter.setPen(theme.colour("muted"))
        for value in (0.0, self._most):
            where = QRectF(0, self._y(plot, value) - 8, LEFT - 6, 16)
            painter.drawText(where, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{value:g}")
        if not len(self._xs):
            return
        for x, text in self._ticks:
            where = QRectF(self._x(plot, x) - 30, plot.bottom() + 3, 60, BOTTOM - 3)
            painter.drawText(where, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, text)
        root, name = self._mark
        painter.setPen(QPen(theme.colour("muted"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(self._x(plot, root), plot.top()), QPointF(self._x(plot, root), plot.bottom()))
        painter.setPen(theme.colour("muted"))
        where = QRectF(self._x(plot, root) - 40, plot.bottom() + 3, 80, BOTTOM - 3)
        painter.drawText(where, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, name)
        points = [QPointF(self._x(plot, x), self._y(plot, y)) for x, y in zip(self._xs, self._ys, strict=True)]
        painter.setPen(QPen(theme.colour("accent"), 2))
        painter.drawPolyline(QPolygonF(points))
        self._draw_present(painter, plot)

    def _draw_present(self, painter: QPainter, plot: QRectF) -> None:
        theme, (x, y) = self._look.theme, self._at
        here = QPointF(self._x(plot, x), self._y(plot, y))
        painter.setBrush(theme.colour("panel"))
        painter.setPen(QPen(theme.colour("text"), 2))
        painter.drawEllipse(here, 4, 4)
        text = f"{y:.{self._decimals}f}"
        painter.setPen(theme.colour("text"))
        painter.drawText(
            QRectF(0, 0, self.width() - RIGHT, TOP - 4), Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop, text
        )

    def _x(self, plot: QRectF, x: float) -> float:
        first, last = math.log(self._xs[0]), math.log(self._xs[-1])
        return plot.left() + plot.width() * (math.log(x) - first) / (last - first)

    def _y(self, plot: QRectF, y: float) -> float:
        return plot.bottom() - plot.height() * min(y / self._most, 1.0)
