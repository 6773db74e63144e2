"""Canvas: the drawing of the flow view, and what pointer and keys do on it."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from attn_gui.control.selection import Selection
from attn_gui.model.experiment import Experiment
from attn_gui.model.flow import Flow
from attn_gui.views.flow.isolated import Isolated, isolate
from attn_gui.views.flow.places import Places, Side
from attn_gui.views.flow.scene import Scene, labels_width
from attn_gui.views.flow.words import name
from attn_gui.views.heatmap.frame import FocusFrame
from attn_gui.views.look import Look
from attn_gui.views.painting import guarded

# of the other lines where a token's are isolated
DIMMED = 0.12

Key = Qt.Key


class Canvas(QWidget):
    """Pointing at a token or going to it by the arrow keys isolates its lines; a click or Enter selects it.

    ``isolated_changed`` tells that another token is isolated, or that what is known of it is other;
    ``sight_wanted(side, index)`` that a token is to be brought into sight.
    """

    isolated_changed = Signal()
    resized = Signal()
    sight_wanted = Signal(str, int)

    def __init__(self, look: Look, selection: Selection, experiment: Experiment, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look, self._selection = look, selection
        self.experiment = experiment
        self.labels = labels_width(experiment)
        self.places = Places(experiment.n_q, experiment.n_k, 1.0, 1.0, 1.0, self.labels)
        self.flow: Flow | None = None
        self.decimals = 4
        self._pointed: tuple[Side, int] | None = None
        self._isolated: Isolated | None = None
        self._lines: QPixmap | None = None
        self.setAccessibleName("Flow from queries to keys")
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._frame = FocusFrame(look, self)
        look.changed.connect(self._redraw)
        selection.cell_changed.connect(lambda query, key: self.update())

    @property
    def pointed(self) -> tuple[Side, int] | None:
        """The token whose lines alone are seen."""
        return self._pointed

    @property
    def isolated(self) -> Isolated | None:
        """What there is of it."""
        return self._isolated

    @property
    def scene(self) -> Scene:
        """What is drawn."""
        selected = self._selection.query, self._selection.key
        places = self.places
        return Scene(self.experiment, self.flow, places, self._look.theme, self.decimals, selected, self._isolated)

    def show_experiment(self, experiment: Experiment) -> None:
        """The names of ``experiment``; of one of another size, what was drawn is gone."""
        before, self.experiment = self.experiment, experiment
        if experiment is before:
            return
        if before.tokens.tokens is not experiment.tokens.tokens or before.keys.tokens is not experiment.keys.tokens:
            self.labels = labels_width(experiment)
        if (before.n_q, before.n_k, before.heads) != (experiment.n_q, experiment.n_k, experiment.heads):
            self.show_flow(None)
            self.point_at(None)
        self.update()

    def show_flow(self, flow: Flow | None) -> None:
        self.flow = flow
        self._isolate()
        self._redraw()

    def show_places(self, places: Places) -> None:
        if places != self.places:
            self.places = places
            self._redraw()

    def point_at(self, token: tuple[Side, int] | None) -> None:
        """Isolate the lines of ``token``, or none's."""
        if token != self._pointed:
            self._pointed = token
            self._isolate()
            self.update()

    def _isolate(self) -> None:
        pointed = self._pointed
        self._isolated = None if self.flow is None or pointed is None else isolate(self.flow, *pointed)
        self.isolated_changed.emit()

    def describe(self, text: str) -> None:
        """Have a screen reader say ``text`` of what is isolated, or of everything."""
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._frame.setGeometry(self.rect())
        self.resized.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.point_at(self.places.token_at(event.position().x(), event.position().y()))
        self.setCursor(Qt.CursorShape.ArrowCursor if self._pointed is None else Qt.CursorShape.PointingHandCursor)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.point_at(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        token = self.places.token_at(event.position().x(), event.position().y())
        if event.button() == Qt.MouseButton.LeftButton and token is not None:
            self._select(token)
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Key(event.key())
        if key in (Key.Key_Return, Key.Key_Enter, Key.Key_Space) and self._pointed is not None:
            self._select(self._pointed)
        elif key == Key.Key_Escape and self._pointed is not None:
            self.point_at(None)
        elif (token := self._moved(key)) is not None:
            self.sight_wanted.emit(*token)
            self.point_at(token)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tooltip(event.pos().x(), event.pos().y()), self)
            return True
        return super().event(event)

    def tooltip(self, x: float, y: float) -> str:
        """The whole name at a point, and which token it is; empty where there is none."""
        token = self.places.token_at(x, y)
        if token is None:
            return ""
        # a token may look like markup
        whole = escape(name(self.experiment, *token))
        return f"<b>{whole}</b><br>{token[0]} {token[1] + 1:,} of {self.places.count(token[0]):,}"

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._frame.setVisible(event.reason() != Qt.FocusReason.MouseFocusReason)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._frame.setVisible(False)

    def _select(self, token: tuple[Side, int]) -> None:
        side, index = token
        selection = self._selection
        if side == "query":
            selection.set_cell(index, selection.key)
        else:
            selection.set_cell(selection.query, index)

    def _moved(self, key: Qt.Key) -> tuple[Side, int] | None:
        """Where ``key`` takes the isolated token, None where it is none that moves; at first to the selected query."""
        last = {"query": self.places.n_q - 1, "key": self.places.n_k - 1}
        page = max(1, int(self.places.rows) - 1)
        steps = {
            Key.Key_Up: -1,
            Key.Key_Down: 1,
            Key.Key_PageUp: -page,
            Key.Key_PageDown: page,
            Key.Key_Home: -max(last.values()),
            Key.Key_End: max(last.values()),
        }
        sides: dict[Qt.Key, Side] = {Key.Key_Left: "query", Key.Key_Right: "key"}
        if key not in steps and key not in sides:
            return None
        if self._pointed is None:
            side = sides.get(key, "query")
            index = self._selection.query if side == "query" else self._selection.key
            return side, min(index, last[side])
        side, index = self._pointed
        side = sides.get(key, side)
        return side, max(0, min(index + steps.get(key, 0), last[side]))

    def _redraw(self) -> None:
        self._lines = None
        self.update()

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        scene = self.scene
        painter = QPainter(self)
        painter.fillRect(self.rect(), scene.theme.colour("panel"))
        painter.setOpacity(1.0 if self._pointed is None else DIMMED)
        painter.drawPixmap(0, 0, self._drawn(scene))
        painter.setOpacity(1.0)
        painter.save()
        scene.clip(painter)
        scene.paint_lit_lines(painter)
        scene.paint_columns(painter)
        painter.restore()
        scene.paint_header(painter)

    def _drawn(self, scene: Scene) -> QPixmap:
        """All lines, drawn anew only where they are others or lie elsewhere."""
        ratio = self.devicePixelRatioF()
        if self._lines is None or self._lines.size() != self.size() * ratio:
            self._lines = QPixmap(self.size() * ratio)
            self._lines.setDevicePixelRatio(ratio)
            self._lines.fill(scene.theme.colour("panel"))
            with QPainter(self._lines) as painter:
                scene.clip(painter)
                scene.paint_all_lines(painter)
        return self._lines
