"""Touring: goes from step to step of a tour, as a visit that leaves what is open as it was."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from attn_gui.control.document import Document
from attn_gui.control.selection import Selection
from attn_gui.files import tours
from attn_gui.model.session import NamedExperiment
from attn_gui.model.tour import Question, Scene, Step, Tour
from attn_gui.model.trace import Head


@dataclass(frozen=True)
class _Looking:
    """What was selected."""

    head: Head
    cell: tuple[int, int]
    queries: frozenset[int]
    keys: frozenset[int]

    @classmethod
    def of(cls, s: Selection) -> _Looking:
        return cls(s.head, (s.query, s.key), s.queries, s.keys)


class Touring(QObject):
    """``shown(scene)`` comes with each place that is come to and each answer that is tried; ``left`` at the end.

    What a person changes in a tour goes with it, but :attr:`left_behind` keeps it until the next one begins.
    """

    shown = Signal(object)
    left = Signal()

    def __init__(self, document: Document, selection: Selection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.tour: Tour | None = None
        self.place = 0
        self.scene: Scene | None = None
        self.left_behind: NamedExperiment | None = None
        self._document = document
        self._selection = selection
        self._looking = _Looking.of(selection)
        document.visit_ended.connect(self._on_visit_ended)

    @property
    def stop(self) -> Step | Question:
        """What is explained or asked at this place."""
        assert self.tour is not None, "there is no tour"
        steps = self.tour.steps
        return steps[self.place] if self.place < len(steps) else self.tour.questions[self.place - len(steps)]

    @property
    def answered(self) -> bool:
        """Whether the window shows the answer to the question: it was tried, and nothing was changed since."""
        stop, scene = self.stop, self.scene
        return isinstance(stop, Question) and scene is stop.tried and not self.changed

    @property
    def changed(self) -> bool:
        """Whether the window shows another experiment than the one that is spoken of."""
        return self.scene is not None and self._document.experiment is not self.scene.named.experiment

    def start(self, path: Path) -> None:
        """Begin the tour in ``path``, in place of one that is under way. Raises FileError and changes nothing then."""
        tour = tours.load(path)
        if self.tour is None:
            self._looking = _Looking.of(self._selection)
        self.tour, self.left_behind = tour, None
        self.go_to(0)

    def go_to(self, place: int) -> None:
        """Come to a place of the tour; none beyond its ends."""
        if self.tour is not None:
            self.place = max(0, min(place, len(self.tour) - 1))
            stop = self.stop
            self._show(stop.scene if isinstance(stop, Step) else stop.asked)

    def set_up_again(self) -> None:
        """Show once more what is spoken of."""
        if self.scene is not None:
            self._show(self.scene)

    def try_answer(self) -> None:
        """Show what answers the question."""
        if isinstance(self.stop, Question):
            self._show(self.stop.tried)

    def leave(self) -> None:
        """Bring back what was open before the tour, and what was selected in it."""
        if self.tour is not None:
            if self.changed:
                self.left_behind = self._document.session.named
            self._document.come_back()

    def bring_back(self) -> None:
        """Go on with what was changed in the last tour, as one undo step."""
        if self.left_behind is not None:
            named, self.left_behind = self.left_behind, None
            self._document.depart("From the tour", named)

    def _show(self, scene: Scene) -> None:
        self.scene = scene
        self._selection.set_painting(False)
        if not self._document.visiting:
            self._document.visit(scene.named)
        elif self._document.experiment is not scene.named.experiment:
            step = self.stop.title if isinstance(self.stop, Step) else "question"
            self._document.depart(f"Tour: {step}", scene.named)
        self._selection.pick(frozenset(), frozenset())
        self._selection.set_head(scene.head)
        self._selection.set_cell(*scene.cell)
        self.shown.emit(scene)

    def _on_visit_ended(self, back: bool) -> None:
        if self.tour is None:
            return
        self.tour = self.scene = None
        looking = self._looking
        self._selection.set_painting(False)
        if back:
            self._selection.set_head(looking.head)
            self._selection.set_cell(*looking.cell)
            self._selection.pick(looking.queries, looking.keys)
        self._selection.fit(self._document.experiment)
        self.left.emit()
