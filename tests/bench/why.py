"""The steps of a number in the program's own window, against the same document in a bare text view."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QTextBrowser

from attn_gui.model.derivation import Derivation
from attn_gui.views.why.steps_view import StepsView
from attn_gui.views.why.why_drawer import WhyDrawer
from tests.bench.edit_to_painted import Watched, opened
from tests.bench.frames import Frames
from tests.bench.report import Case, Pairs
from tests.bench.subject import Size, alternate, experiment

SIZE = Size(1024, 64, 8)
LIMIT = 1.5
COUNT = 40
BUDGET_S = 15.0
PEER = "the same texts and links, made HTML beforehand, in a bare QTextBrowser"
# of N, looked at in turn
CELLS = ((3, 7), (900, 512))


def cases() -> list[Case]:
    return [Case(f"why panel, n {SIZE.n:,}", PEER, LIMIT, partial(measure, SIZE))]


def measure(size: Size, count: int = COUNT) -> Pairs:
    """From the steps of another cell to their being painted; the first pair is not counted."""
    with opened(experiment(size)) as watched:
        ours = Ours(watched)
        peer = Peer(ours)
        try:
            return alternate(ours, peer, count, BUDGET_S)
        finally:
            peer.view.close()
            peer.view.deleteLater()


class Ours:
    """The drawer's steps of two cells, shown in turn."""

    def __init__(self, watched: Watched) -> None:
        window = watched.window
        dock = next(dock for dock in window.docks if dock.objectName() == "why")
        dock.toggleViewAction().trigger()
        watched.settle()
        drawer = dock.widget()
        assert isinstance(drawer, WhyDrawer)
        self.steps: StepsView = drawer.steps
        self.derivations = [_derivation(watched, self.steps, cell) for cell in CELLS]
        self._turn = 0
        self._frames = Frames(self.steps.window(), [self.steps])

    def __call__(self) -> None:
        self._turn = 1 - self._turn
        self._frames.time(self._show)

    def html(self, derivation: Derivation) -> str:
        """The document that the panel makes of ``derivation``."""
        self.steps.show_derivation(derivation)
        return self.steps.document().toHtml()

    def _show(self) -> bool:
        self.steps.show_derivation(self.derivations[self._turn])
        return True


class Peer:
    """A text view as large as the panel, with the same documents in turn."""

    def __init__(self, ours: Ours) -> None:
        self._texts = [ours.html(derivation) for derivation in ours.derivations]
        self._turn = 0
        self.view = QTextBrowser()
        self.view.setOpenLinks(False)
        self.view.resize(ours.steps.size())
        self.view.show()
        self._frames = Frames(self.view, [self.view])

    def __call__(self) -> None:
        self._turn = 1 - self._turn
        self._frames.time(self._show)

    def _show(self) -> bool:
        self.view.setHtml(self._texts[self._turn])
        return True


def _derivation(watched: Watched, steps: StepsView, cell: tuple[int, int]) -> Derivation:
    """Select ``cell``, or the last there is, and wait for its steps."""
    context = watched.window.context
    e = context.document.experiment
    context.selection.set_cell(min(cell[0], e.n_q - 1), min(cell[1], e.n_k - 1))
    watched.settle()
    assert steps.derivation is not None
    return steps.derivation
