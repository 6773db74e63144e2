"""History: where one has been in the help, to go back and forward."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A page, a heading in it, and how far it was scrolled when it was left."""

    page: str
    anchor: str
    scrolled: int = 0


class History:
    """The places gone to, and which of them one is at."""

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._at = -1

    @property
    def here(self) -> Place | None:
        return self._places[self._at] if self._places else None

    @property
    def has_back(self) -> bool:
        return self._at > 0

    @property
    def has_forward(self) -> bool:
        return self._at + 1 < len(self._places)

    def go(self, place: Place, scrolled: int) -> None:
        """Be at ``place``; what was ahead is forgotten. ``scrolled``: how far the place that is left was scrolled."""
        self._leave(scrolled)
        self._places[self._at + 1 :] = [place]
        self._at += 1

    def step(self, by: int, scrolled: int) -> Place:
        """Go back or forward; there has to be a place to go to."""
        self._leave(scrolled)
        self._at += by
        return self._places[self._at]

    def _leave(self, scrolled: int) -> None:
        if self._places:
            here = self._places[self._at]
            self._places[self._at] = Place(here.page, here.anchor, scrolled)
