"""Guide: sets the window up for each step of a tour, and gives it back as it was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from attn_gui.control.touring import Touring
from attn_gui.files.errors import FileError
from attn_gui.model.tour import Scene
from attn_gui.views import half_typed
from attn_gui.views.panel import Panel
from attn_gui.views.tour.bar import TourBar
from attn_gui.views.tour.instrument_dock import WIDTH, InstrumentDock
from attn_gui.views.tour.outline import Outline

if TYPE_CHECKING:
    from attn_gui.views.main_window import MainWindow

TOPIC = "tour"
ROOM = 1200
# pixels between the instrument that floats and what it must not cover
GAP = 8
LEFT_BEHIND = "Left the tour. Learn > Tours > Keep what I changed brings back what was changed in it."


class Guide(QObject):
    """The tour bar above the window's content, the instrument beside it, and the outline of what is spoken of.

    Escape anywhere in the window leaves the tour.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._state = QByteArray()
        self._alone: Panel | None = None
        self._narrow = False
        context = self._context = window.context
        self.touring = Touring(context.document, context.selection, self)
        self.bar = TourBar(context, self.touring)
        self.bar.hide()
        centre = window.centralWidget()
        column = None if centre is None else centre.layout()
        assert isinstance(column, QVBoxLayout)
        column.insertWidget(0, self.bar)
        self.instrument = InstrumentDock(context, window)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.instrument)
        self.outline = Outline(context.look)
        for watched in (window, self.instrument):
            watched.installEventFilter(self)
        self.touring.shown.connect(self._set_up)
        self.touring.left.connect(self._give_back)

    def start(self, path: Path) -> None:
        """Begin the tour in ``path``; one that cannot be read is said to be so."""
        if not half_typed.commit():
            return
        if self.touring.tour is None:
            self._state, self._alone = self._window.saveState(), self._window.formula.alone.panel
        try:
            self.touring.start(path)
        except FileError as error:
            self._context.notices.error(str(error), TOPIC)
            return
        self._context.notices.withdraw(TOPIC)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self._window:
            # where the person has put it elsewhere meanwhile, it stays
            if self.instrument.isVisible() and (self._window.width() < ROOM) != self._narrow:
                self._place_instrument()
            return False
        # a press that comes as far as the window is nobody else's: an editor or a find bar has taken its own
        if (
            event.type() == QEvent.Type.KeyPress
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
            and self.touring.tour is not None
        ):
            self.bar.go_away()
            return True
        return False

    def places(self) -> dict[str, QWidget]:
        """What a step may point at, by the names that tours use."""
        window = self._window
        top, formula = window.top_bar, window.formula
        return {
            "tokens": formula.tokens,
            "scores": formula.scores,
            "weights": formula.weights,
            "output": formula.output,
            "sentence": window.sentence,
            "why": window.why,
            "example": top.example,
            "variant": top.variant,
            "heads": formula.heads,
            "mask": top.masking.kind,
            "more": window.more,
        }

    def _set_up(self, scene: Scene) -> None:
        self._window.formula.alone.show(None)
        for dock in self._window.docks:
            # a floating drawer stands apart from the formula, where the person put it
            if not dock.isFloating() and (dock.objectName() == scene.drawer) == dock.isHidden():
                dock.toggleViewAction().trigger()
        hidden = self.instrument.isHidden()
        self.instrument.show_instrument(scene.instrument)
        if hidden and scene.instrument is not None:
            self._place_instrument()
        self.outline.point_at(None if scene.highlight is None else self.places()[scene.highlight])

    def _place_instrument(self) -> None:
        """Beside the formula, or over its end where a narrow window has no room for it, and never over the bar."""
        window, instrument = self._window, self.instrument
        self._narrow = window.width() < ROOM
        instrument.setFloating(self._narrow)
        if self._narrow:
            top = self.bar.mapToGlobal(self.bar.rect().bottomLeft()).y() + GAP
            corner = window.mapToGlobal(window.rect().bottomRight())
            instrument.resize(WIDTH, min(instrument.whole_height, corner.y() - GAP - top))
            instrument.move(corner.x() - GAP - WIDTH, top)
        else:
            window.resizeDocks([instrument], [WIDTH], Qt.Orientation.Horizontal)

    def _give_back(self) -> None:
        self.outline.point_at(None)
        self.instrument.show_instrument(None)
        self._window.restoreState(self._state)
        if not self._window.formula.alone.barred:
            self._window.formula.alone.show(self._alone)
        if self.touring.left_behind is not None:
            self._context.notices.info(LEFT_BEHIND, TOPIC)
