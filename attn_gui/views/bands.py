"""Bands: the one vertical geometry that the four panels share, so that a token is at one height in all of them."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from attn_gui.model.arranging import Axis

# pixels; multiples of 4
HEADER = 28
TALLEST_HEADER = 72
LOWEST_ROW = 20
HIGHEST_ROW = 72
TALLEST_ROW = 112
TABLE_ROW = 24
# so few rows are scrolled rather than made too low to read
FEW_ROWS = 24


class Bands(QObject):
    """Rows of height ``pitch`` (pixels), the first ``top`` rows out of sight above, under a header.

    While rows are tall enough to read, the pitch is a whole number and tables use it for their rows (``aligned``).
    Otherwise tables have rows of their own height (TABLE_ROW) and show some of those that the heatmaps show, all tables
    the same: the first of them in sight is ``read_top``. So it is too where heatmaps draw an axis of their own, without
    some of the tokens or with several in one row: their rows are then no longer the tables'.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.count = 1
        self._axis: Axis | None = None
        self.header = HEADER
        self.height = 400
        self.top = 0.0
        self.pitch = float(HIGHEST_ROW)
        self._highest = HIGHEST_ROW
        self.read_top = 0.0
        self._fitted = True
        self._kept = 0

    @property
    def aligned(self) -> bool:
        return self._is_high and self._axis is None

    @property
    def row_height(self) -> int:
        """What the tables' rows measure."""
        return int(self.pitch) if self.aligned else TABLE_ROW

    @property
    def _is_high(self) -> bool:
        return self.pitch >= LOWEST_ROW

    @property
    def fitted(self) -> bool:
        """Whether rows are as the height of the panel has them, and follow it."""
        return self._fitted

    @property
    def visible(self) -> tuple[float, float]:
        """The rows in sight, [first, last); beyond ``count`` where the rows do not fill the panel."""
        return self.top, self.top + self.height / self.pitch

    @property
    def tokens(self) -> tuple[float, float]:
        """The rows of the tables that are in sight in the heatmaps, [first, last)."""
        top, bottom = self.visible
        if self._axis is None:
            return top, bottom
        rows = range(int(top), max(int(top) + 1, min(round(bottom), self.count)))
        seen = self._axis.tokens(rows)
        # tokens that are not drawn belong to the ends
        whole = len(self._axis.hidden)
        return float(seen.start if rows.start else 0), float(seen.stop if rows.stop < self.count else whole)

    def scroll_to_token(self, token: float) -> None:
        """Move so that a row of the tables is the first in sight."""
        self.scroll(token if self._axis is None else self._row_of(int(token)))

    def set_count(self, count: int, axis: Axis | None = None) -> None:
        """How many rows there are, and ``axis``, which tokens they are where that is not one each."""
        if count != self.count or axis is not self._axis:
            self.count, self._axis = count, axis
            self._settle()

    def set_header(self, height: int) -> None:
        """Pixels above the first row: more than HEADER where the names of the keys have to stand upright."""
        if height != self.header:
            self.header = height
            self.changed.emit()

    def set_height(self, height: int) -> None:
        """Pixels for rows, header not counted."""
        if height > 0 and height != self.height:
            self.height = height
            self._settle()

    def set_cell_width(self, width: int) -> None:
        """Pixels that a cell of the heatmaps is wide: rows grow to make cells square, within limits."""
        highest = max(HIGHEST_ROW, min(width, TALLEST_ROW))
        if highest != self._highest:
            self._highest = highest
            self._settle()

    @property
    def kept(self) -> int:
        """The row that stays in sight when the panels become lower: the selected one."""
        return self._kept

    @property
    def natural_height(self) -> int:
        """Pixels that the rows would take at their highest, header not counted."""
        return self.count * self._highest

    def fit(self) -> None:
        """Bring every row into sight, or the first of few that are too many for the height."""
        self._fitted = True
        self.top = 0.0
        self._settle()

    def show_rows(self, top: float, bottom: float, fixed: tuple[float, float] | None = None) -> None:
        """Bring rows ``top`` to ``bottom`` into sight (zoom and pan).

        Heights of rows are rounded to whole pixels; ``fixed``: a row, and how many pixels below the first it is to lie
        all the same.
        """
        rows = max(1.0, bottom - top)
        if rows >= self.count and self._fit_pitch() >= self.height / rows:
            self.fit()
            return
        self._fitted = False
        pitch = min(self.height / rows, 2.0 * TALLEST_ROW)
        pitch = float(round(pitch)) if pitch >= LOWEST_ROW else pitch
        self._set(top if fixed is None else fixed[0] - fixed[1] / pitch, pitch)

    def keep_in_sight(self, row: int) -> None:
        """Bring ``row`` into sight as it is selected, and keep it there when the panels become lower."""
        self._kept = row
        if self._is_high:
            self._set(self._top_with(self._row_of(row), self.top, self.pitch), self.pitch)

    def _row_of(self, token: int) -> int:
        """Where ``token`` is drawn."""
        axis = self._axis
        return token if axis is None else int(axis.places[min(token, len(axis.places) - 1)])

    def _top_with(self, row: int, top: float, pitch: float) -> float:
        """The first row in sight, as near to ``top`` as lets ``row`` be seen whole."""
        return max(min(top, row), row + 1 - self.height / pitch) if self.height >= pitch else row

    def scroll(self, top: float) -> None:
        """Move so that row ``top`` is the first in sight."""
        self._set(top, self.pitch)

    def read_from(self, top: float) -> None:
        """Have row ``top`` the first that tables with rows of their own height show."""
        if top != self.read_top:
            self.read_top = top
            self.changed.emit()

    def _fit_pitch(self) -> float:
        whole = self.height // self.count
        if whole < LOWEST_ROW and self.count > FEW_ROWS:
            return self.height / self.count
        return float(max(LOWEST_ROW, min(self._highest, whole)))

    def _settle(self) -> None:
        if self._fitted:
            pitch = self._fit_pitch()
            top = self._top_with(self._row_of(self._kept), self.top, pitch) if pitch >= LOWEST_ROW else 0.0
            self._set(top, pitch, force=True)
        else:
            self._set(self.top, self.pitch, force=True)

    def _set(self, top: float, pitch: float, force: bool = False) -> None:
        top = max(0.0, min(top, self.count - self.height / pitch))
        if force or (top, pitch) != (self.top, self.pitch):
            self.top, self.pitch = top, pitch
            self.changed.emit()
