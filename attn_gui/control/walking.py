"""Walking: the player that goes through the stages of the computation, one after another."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from attn_gui.control.document import Document
from attn_gui.control.highlight import Highlight
from attn_gui.control.selection import Selection
from attn_gui.model import walk
from attn_gui.model.experiment import Experiment
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head
from attn_gui.model.walk import Place

# seconds that each stage stays while the walk is played, and of these the first to be tried
PACES = (8, 5, 3, 1)
PACE = 5


class Walking(QObject):
    """A walk through the last trace's experiment, at the selected cell; the document is left as it is.

    ``changed``: it began or ended, or another stop or cell is looked at, or the experiment is another one.
    ``playing_changed``: it goes on by itself, or no longer does. What is looked at is kept in the highlight.
    """

    changed = Signal()
    playing_changed = Signal(bool)

    def __init__(
        self, document: Document, selection: Selection, highlight: Highlight, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._selection = selection
        self._highlight = highlight
        self.active = False
        self.stops: tuple[str, ...] = ()
        self.index = 0
        self._dimension = 0
        self._of_mean = False
        self._moving = False
        self._timer = QTimer(self)
        self._timer.setInterval(PACE * 1000)
        self._timer.timeout.connect(self._on_time)
        document.feed.traced.connect(lambda trace: self._follow())
        selection.cell_changed.connect(lambda query, key: self._tell())
        selection.head_changed.connect(lambda head: self._on_head())

    @property
    def experiment(self) -> Experiment:
        """What the numbers belong to: while an edit is computed, the experiment before it."""
        trace = self._document.feed.trace
        return self._document.experiment if trace is None else trace.experiment

    @property
    def stop(self) -> str:
        """The stage that is looked at."""
        return self.stops[self.index]

    @property
    def head(self) -> Head:
        """The head that is looked at; of their mean there are only scores and weights."""
        return self._selection.head if STAGES[self.stop].square else self.place.head

    @property
    def place(self) -> Place:
        selection, e = self._selection, self.experiment
        head = selection.head if isinstance(selection.head, int) else 0
        return Place(
            min(head, e.heads - 1),
            min(selection.query, e.n_q - 1),
            min(selection.key, e.n_k - 1),
            self._dimension,
        )

    @property
    def cell(self) -> tuple[int, int]:
        """Row and column of the stage that is looked at."""
        return walk.cell(self.experiment, self.stop, self.place)

    @property
    def result_stage(self) -> str:
        """What the stage that is looked at is called by who shows it: the last one is the output."""
        return walk.lit(self.experiment, self.stop, self.place)[-1].stage

    @property
    def playing(self) -> bool:
        return self._timer.isActive()

    @property
    def pace(self) -> int:
        """Seconds that each stage stays."""
        return self._timer.interval() // 1000

    @pace.setter
    def pace(self, seconds: int) -> None:
        self._timer.setInterval(seconds * 1000)

    def start(self) -> None:
        """Begin at the first stage, at rest; not where an exercise hides all of them."""
        if self.active or not walk.stops(self.experiment):
            return
        self._of_mean = self._selection.head == "mean"
        if self._of_mean:
            self._selection.set_head(0)
        self.stops, self.index, self._dimension = walk.stops(self.experiment), 0, 0
        self.active = True
        self._tell()

    def leave(self) -> None:
        """End the walk. The cell stays selected; the mean over the heads comes back where it was shown before.

        Not where another head was chosen meanwhile, or there is but one.
        """
        if not self.active:
            return
        self.pause()
        self.active = False
        if self._of_mean and self._document.experiment.heads > 1:
            self._selection.set_head("mean")
        self._highlight.clear()
        self.changed.emit()

    def play(self) -> None:
        """Go on by itself, from the beginning once the end is reached; at the end it rests."""
        if self.active and not self.playing:
            if self.index == len(self.stops) - 1:
                self.go_to(0)
            self._timer.start()
            self.playing_changed.emit(True)

    def pause(self) -> None:
        if self.playing:
            self._timer.stop()
            self.playing_changed.emit(False)

    def toggle(self) -> None:
        """Play, or rest."""
        (self.pause if self.playing else self.play)()

    def step(self, by: int) -> None:
        """Go ``by`` stages on, as far as there are any."""
        self.go_to(self.index + by)

    def go_to(self, index: int) -> None:
        """Go to the stage of this number, from 0, or the nearest that there is; while it is played it stays in full."""
        index = max(0, min(index, len(self.stops) - 1))
        if not self.active or index == self.index:
            return
        self.index = index
        if self.playing:
            self._timer.start()
        self._tell()

    def another_cell(self, by: int) -> None:
        """Look at the cell ``by`` cells on in the same stage."""
        if not self.active:
            return
        place = walk.moved(self.experiment, self.stop, self.place, by)
        if walk.cell(self.experiment, self.stop, place) == self.cell:
            return
        if self.playing:
            self._timer.start()
        self._moving = True  # what follows from the selection is told once, after all of it has changed
        self._dimension = place.dimension
        if place.head != self.place.head:
            self._selection.set_head(place.head)
        self._selection.set_cell(place.query, place.key)
        self._moving = False
        self._tell()

    def _on_head(self) -> None:
        if self.active and not self._moving:
            self._of_mean = False
        self._tell()

    def _on_time(self) -> None:
        self.step(1)
        if self.index == len(self.stops) - 1:
            self.pause()

    def _follow(self) -> None:
        """Stay at the same stage of what is now computed, or at the one that stands in its place."""
        if not self.active:
            return
        before, stops = self.stop, walk.stops(self.experiment)
        if not stops:
            self.leave()
            return
        self.stops = stops
        self.index = self.stops.index(before) if before in self.stops else min(self.index, len(self.stops) - 1)
        self._tell()

    def _tell(self) -> None:
        if self.active and not self._moving:
            self._highlight.show(walk.lit(self.experiment, self.stop, self.place))
            self.changed.emit()
