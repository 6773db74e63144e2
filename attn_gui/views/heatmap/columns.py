"""Columns: the range of keys in sight, which heatmaps side by side share, and how exact their numbers are."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class Columns(QObject):
    """Keys [left, right) fill the width of each heatmap, whatever that is; of ``count`` keys in all."""

    changed = Signal()
    decimals_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.count = 1
        self.left = 0.0
        self.right = 1.0
        self._decimals: dict[object, int | None] = {}

    @property
    def fitted(self) -> bool:
        """Whether every key is in sight."""
        return self.left == 0.0 and self.right == self.count

    def set_count(self, count: int) -> None:
        """How many keys there are."""
        if count != self.count:
            fitted = self.fitted
            self.count = count
            if fitted:
                self.fit()
            else:
                self.show_keys(self.left, self.right)

    def fit(self) -> None:
        """Bring every key into sight."""
        self._set(0.0, float(self.count))

    def show_keys(self, left: float, right: float) -> None:
        """Bring keys ``left`` to ``right`` into sight, at least one and at most all of them."""
        span = min(max(1.0, right - left), float(self.count))
        left = max(0.0, min(left, self.count - span))
        self._set(left, left + span)

    def scroll(self, left: float) -> None:
        """Move so that key ``left`` is the first in sight."""
        self.show_keys(left, left + self.right - self.left)

    def tell_decimals(self, teller: object, most: int | None) -> None:
        """``teller`` has room for numbers of ``most`` decimals, or shows none."""
        if most != self._decimals.get(teller):
            self._decimals[teller] = most
            self.decimals_changed.emit()

    def decimals_beside(self, teller: object) -> int | None:
        """The fewest decimals that another heatmap than ``teller`` has room for."""
        others = [most for other, most in self._decimals.items() if other is not teller and most is not None]
        return min(others, default=None)

    def _set(self, left: float, right: float) -> None:
        if (left, right) != (self.left, self.right):
            self.left, self.right = left, right
            self.changed.emit()
