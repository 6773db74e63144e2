"""BandFollower: keeps a table's rows at the heights of the shared bands, and the bands at what the table scrolls to."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QTableView

from attn_gui.views.bands import LOWEST_ROW, Bands


class BandFollower(QObject):
    """While bands are aligned the table's rows are the bands. Else it shows some of the rows that the bands show.

    Where no heatmap is in sight the table gives the bands their height (:meth:`drive`).
    """

    def __init__(self, view: QTableView, bands: Bands) -> None:
        super().__init__(view)
        self._view = view
        self._bands = bands
        self._following = False
        self._seen = (0.0, 0.0)  # the first row in sight and how many there were
        self._drives = False
        # while the table itself is being laid out it would not follow the rows that it causes
        self._fill_soon = QTimer(self)
        self._fill_soon.setSingleShot(True)
        self._fill_soon.setInterval(0)
        self._fill_soon.timeout.connect(self._fill)
        view.viewport().installEventFilter(self)
        view.verticalHeader().setMinimumSectionSize(LOWEST_ROW)
        bands.changed.connect(self.follow)
        bar = view.verticalScrollBar()
        bar.valueChanged.connect(self._on_scrolled)
        bar.rangeChanged.connect(lambda low, high: self.follow())
        self.follow()

    def follow(self) -> None:
        """Bring the table to where the bands are."""
        if self._following:
            return
        header, bar, height = self._view.verticalHeader(), self._view.verticalScrollBar(), self._bands.row_height
        self._following = True
        self._view.horizontalHeader().setFixedHeight(self._bands.header)
        if header.defaultSectionSize() != height:
            header.setDefaultSectionSize(height)
            self._view.updateGeometries()  # a hidden header does not have it done
        if self._bands.aligned:
            bar.setValue(round(self._bands.top * height))
            self._bands.read_top = self._bands.top
        else:
            first, last = self._bands.tokens
            wanted = self._with_kept(self._bands.read_top)
            top = max(first, min(wanted, last - self._page))
            # a table may be a little lower than another, by a scroll bar: that moves none but itself
            self._bands.read_from(wanted if first <= wanted < last - 1 else top)
            bar.setValue(round(top * height))
        self._seen = bar.value() / height, self._page
        self._following = False

    def drive(self, on: bool) -> None:
        """Whether the height of the table is what the shared rows have to fill."""
        self._drives = on
        self._fill()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self._drives:
            self._fill_soon.start()
        return False

    def _fill(self) -> None:
        if self._drives and self._view.isVisible():
            self._bands.set_height(self._view.viewport().height())

    def _with_kept(self, top: float) -> float:
        """``top``, or where a table that has become lower still shows the selected row, if it did before."""
        row, (first, count) = self._bands.kept, self._seen
        if self._page < count and first <= row <= first + count - 1:
            return max(min(top, row), row + 1 - self._page)
        return top

    @property
    def _page(self) -> float:
        """Rows that the table has in sight."""
        return self._view.viewport().height() / self._bands.row_height

    def _on_scrolled(self, value: int) -> None:
        if self._following:
            return
        top = value / self._bands.row_height
        if self._bands.aligned:
            self._bands.scroll(top)
        else:
            first, last = self._bands.tokens
            if top < first:
                self._bands.scroll_to_token(top)
            elif top + self._page > last:
                self._bands.scroll_to_token(first + top + self._page - last)
            self._bands.read_from(top)
        self.follow()
