"""A drawer: a dock whose content is made when it is first opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QDockWidget, QLayout, QMainWindow, QTabBar

if TYPE_CHECKING:
    from attn_gui.views.drawers.drawer import Drawer

LEAST_HEIGHT = 120
# of the window's height: the panels need the rest
LARGEST_SHARE = 0.4


class Dock(QDockWidget):
    """Closed at first; once opened it stays where the person put it, and until then is as tall as its content needs."""

    def __init__(self, title: str, name: str, make: Callable[[], Drawer], window: QMainWindow) -> None:
        super().__init__(title, window)
        self.setObjectName(name)
        self._make: Callable[[], Drawer] | None = make
        self._drawer: Drawer | None = None
        self._window = window
        self._fitted = False
        self._moved = False
        self._wanted = 0
        window.installEventFilter(self)
        self._fit_soon, self._settle_soon = QTimer(self), QTimer(self)
        for timer, do in ((self._fit_soon, self._fit_anew), (self._settle_soon, self._settle)):
            timer.setSingleShot(True)
            timer.setInterval(0)
            timer.timeout.connect(do)
        self._obscured = False  # behind another drawer in the same place
        self.visibilityChanged.connect(self._fill)
        self.visibilityChanged.connect(self._on_visibility)
        action = self.toggleViewAction()
        action.setStatusTip(f"Show or hide {title.lower()}")
        action.triggered.connect(self._on_asked)

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self._fitted:
            self._fit()
        return done

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # another size of the window may have room for what there was none for
        if event.type() == QEvent.Type.Resize and watched is self._window and self._fitted:
            self._fit_soon.start()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        pressed = QGuiApplication.mouseButtons() & Qt.MouseButton.LeftButton
        if pressed and self._window.cursor().shape() == Qt.CursorShape.SplitVCursor:
            self._moved = True

    def _fill(self, visible: bool) -> None:
        if visible and self._make is not None:
            make, self._make = self._make, None
            drawer = self._drawer = make()
            layout = drawer.layout()
            if layout is not None:
                # a low window cuts the drawer, not the formula above it
                layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
            drawer.setMinimumHeight(LEAST_HEIGHT)
            self.setWidget(drawer)

    def _on_visibility(self, visible: bool) -> None:
        if visible or not self.isHidden():
            self._obscured = not visible

    def _on_asked(self, shown: bool) -> None:
        if not shown and self._obscured:
            shown = True  # nobody sees it: it was asked for to be seen
            self.show()
        self._fitted = shown
        if shown:
            # drawers that share a place lie one on another: what was asked for comes to the front
            self.raise_()
            self._fit_anew()

    def _fit_anew(self) -> None:
        self._wanted = 0
        self._fit()

    def _fit(self) -> None:
        drawer = self._drawer
        if drawer is None or self._moved or self.isFloating() or not drawer.isVisible():
            return
        title = self.sizeHint().height() - drawer.sizeHint().height()
        limit = int(self._window.height() * LARGEST_SHARE) - title
        wanted = title + max(LEAST_HEIGHT, drawer.fitting_height(limit))
        if wanted != self._wanted:
            self._wanted = wanted
            self._resize(wanted)
            # heights are given out with the next turn of the event loop
            self._settle_soon.start()

    def _settle(self) -> None:
        """Make do with whole rows where the panels have left less than was wanted."""
        drawer = self._drawer
        if drawer is None or not drawer.isVisible() or self._is_as_wanted():
            return
        self._resize(self._wanted)  # tabs may have come up, which took their part
        if not self._is_as_wanted():
            title = self.height() - drawer.height()
            self._resize(title + max(LEAST_HEIGHT, drawer.fitting_height(drawer.height())))

    def _is_as_wanted(self) -> bool:
        layout = self._window.layout()
        if layout is not None:
            layout.activate()
        return self.height() >= self._wanted

    def _resize(self, height: int) -> None:
        self._window.resizeDocks([self], [height + self._tabs_height()], Qt.Orientation.Vertical)

    def _tabs_height(self) -> int:
        """Pixels of the tabs that switch drawers which share the place."""
        if all(other.isHidden() for other in self._window.tabifiedDockWidgets(self)):
            return 0
        bars = self._window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
        shown = [bar for bar in bars if bar.isVisible()]
        own = (bar for bar in shown if self.windowTitle() in map(bar.tabText, range(bar.count())))
        return next((bar.height() for bar in own), 0)
