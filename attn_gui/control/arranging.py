"""Arranging: what heatmaps are handed in the place of feed and selection, so that they draw some tokens or words."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.highlight import Highlight
from attn_gui.control.selection import Selection
from attn_gui.control.worker import Worker
from attn_gui.model.arranging import HIDE, MERGE, PLAIN, Arranged, Arrangement, Axis, arranged
from attn_gui.model.asks import Ask, BlockAsk, PictureAsk, RowAsk, RowSumsAsk, SumAsk
from attn_gui.model.derivation import Cell
from attn_gui.model.flow import FlowAsk
from attn_gui.model.lit import Lit
from attn_gui.model.session import Session
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Trace


class ArrangedFeed(Feed):
    """Has what is asked here answered as it is drawn, and tells of nothing else."""

    def __init__(self, feed: Feed, worker: Worker, parent: QObject | None = None) -> None:
        super().__init__(worker, parent)
        self._feed = feed
        self._kept: dict[str, Ask] = {}
        self.trace = feed.trace
        feed.traced.connect(self._pass_trace)
        feed.answered.connect(self._pass_answer)
        feed.failed.connect(self.failed)
        feed.progressed.connect(self.progressed)
        feed.passed.connect(self.passed)
        feed.busy_changed.connect(self.busy_changed)

    @property
    def busy(self) -> bool:
        return self._feed.busy

    def ask(self, slot: str, ask: Ask | None) -> None:
        if ask is None:
            self._kept.pop(slot, None)
        else:
            self._kept[slot] = ask
        self._feed.ask(slot, self._as_drawn(ask))

    def arrange(self, arrangement: Arrangement) -> None:
        """Have all that is asked answered anew as ``arrangement`` has it drawn."""
        self.arrangement = arrangement
        if self.trace is not None:
            self.traced.emit(self.trace)
        for slot, ask in list(self._kept.items()):
            if self._kept.get(slot) == ask:
                self._feed.ask(slot, self._as_drawn(ask))

    def _as_drawn(self, ask: Ask | None) -> Ask | None:
        if isinstance(ask, PictureAsk | BlockAsk | SumAsk | RowAsk | RowSumsAsk | FlowAsk):
            return replace(ask, arranged=self.arrangement)
        return ask

    def _pass_trace(self, trace: Trace) -> None:
        self.trace = trace
        self.traced.emit(trace)

    def _pass_answer(self, slot: str, answer: object) -> None:
        if slot in self._kept:
            self.answered.emit(slot, answer)


class ArrangedSelection(Selection):
    """``main`` by the places where its tokens are drawn; what is selected here selects the first token of a place."""

    def __init__(self, main: Selection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._main = main
        self._found: Arranged | None = None
        self._following = False
        self.head, self.query, self.key = main.head, main.query, main.key
        self.queries, self.keys, self.painting = main.queries, main.keys, main.painting
        main.head_changed.connect(self.set_head)
        main.painting_changed.connect(self.set_painting)
        for changed in (main.cell_changed, main.hover_changed, main.picked_changed):
            changed.connect(lambda *_: self.follow())
        self.head_changed.connect(main.set_head)
        self.painting_changed.connect(main.set_painting)
        self.cell_changed.connect(lambda query, key: self._lead())
        self.hover_changed.connect(lambda cell: self._lead())
        self.picked_changed.connect(self._lead)

    def arrange(self, found: Arranged | None) -> None:
        """Be about places of ``found`` from now on, or about tokens."""
        self._found = found
        self.follow()

    def ask_why(self, cell: Cell, arranged: Arrangement = PLAIN) -> None:
        """Have the derivation shown of the number in a place, which may be made of those of several tokens."""
        found = self._found
        if found is not None and STAGES[cell.stage].square:
            query, key = self.tokens((cell.row, cell.column))
            cell, arranged = replace(cell, row=query, column=key), found.arrangement
        self._main.ask_why(cell, arranged)

    def leave_hidden(self) -> None:
        """Select what is drawn in the place of what is not."""
        found, main = self._found, self._main
        if found is not None and not found.is_drawn(main.query, main.key):
            main.set_cell(*self.tokens((self.query, self.key)))

    def tokens(self, cell: tuple[int, int]) -> tuple[int, int]:
        """The first query and the first key that a place stands for."""
        found = self._found
        return cell if found is None else (_token(found.queries, cell[0]), _token(found.keys, cell[1]))

    def place(self, cell: tuple[int, int]) -> tuple[int, int]:
        """Where a query and a key are drawn, or the next that is."""
        found = self._found
        return cell if found is None else (_place(found.queries, cell[0]), _place(found.keys, cell[1]))

    def follow(self) -> None:
        """Show what is selected in the main selection."""
        if self._following:
            return
        self._following = True
        main, found = self._main, self._found
        self.set_cell(*self.place((main.query, main.key)))
        self.set_hover(None if main.hover is None else self.place(main.hover))
        if found is None:
            self.pick(main.queries, main.keys)
        else:
            self.pick(_places(found.queries, main.queries), _places(found.keys, main.keys))
        self._following = False

    def _lead(self) -> None:
        """Have the main selection show what is selected here; a token of the same place stays selected there."""
        if self._following:
            return
        self._following = True
        main, found = self._main, self._found
        if self.place((main.query, main.key)) != (self.query, self.key):
            main.set_cell(*self.tokens((self.query, self.key)))
        if self.hover is None or main.hover is None or self.place(main.hover) != self.hover:
            main.set_hover(None if self.hover is None else self.tokens(self.hover))
        if found is None:
            main.pick(self.queries, self.keys)
        else:
            main.pick(_members(found.queries, self.queries), _members(found.keys, self.keys))
        self._following = False


class ArrangedHighlight(Highlight):
    """What is lit, by the places where it is drawn."""

    def __init__(self, main: Highlight, selection: ArrangedSelection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._main = main
        self._selection = selection
        main.changed.connect(self.changed)

    def of(self, *stages: str) -> tuple[Lit, ...]:
        return tuple(self._placed(part) for part in self._main.of(*stages))

    def _placed(self, part: Lit) -> Lit:
        row, column = self._selection.place((part.row or 0, part.column or 0))
        return replace(part, row=None if part.row is None else row, column=None if part.column is None else column)


class Arranging(QObject):
    """How the heatmaps of the document draw its tokens, a view choice of its session.

    ``changed``: they are drawn otherwise, or those of another experiment are.
    """

    changed = Signal()

    def __init__(
        self, document: Document, feed: Feed, worker: Worker, selection: Selection, highlight: Highlight
    ) -> None:
        super().__init__(document)
        self._document = document
        self.arrangement = Arrangement.of_view(document.session.view)
        self.selection = ArrangedSelection(selection, self)
        self._named: tuple[tuple[str, ...], ...] = ()
        # before whoever draws hears of it: what is selected has to be a place of theirs
        feed.traced.connect(self._on_traced)
        self.feed = ArrangedFeed(feed, worker, self)
        self.feed.arrangement = self.arrangement
        self.highlight = ArrangedHighlight(highlight, self.selection, self)
        self.selection.arrange(self.found)
        document.changed.connect(self._on_changed)

    @property
    def found(self) -> Arranged | None:
        """How the document's experiment is drawn; None where every token has its own place."""
        return arranged(self._document.experiment, self.arrangement)

    def choose(self, arrangement: Arrangement) -> None:
        """Draw by ``arrangement`` from now on."""
        self._document.keep_view(**{HIDE: arrangement.hide_special, MERGE: arrangement.merge_words})
        self._take(arrangement)

    def _on_traced(self, trace: Trace) -> None:
        e = trace.experiment
        self.selection.arrange(arranged(e, self.arrangement))
        before, self._named = self._named, (e.tokens.tokens, e.keys.tokens)
        # whoever selects a hidden token of the same text, in the table, means it
        if self._named != before:
            self.selection.leave_hidden()

    def _on_changed(self, before: Session, after: Session) -> None:
        if after.view is not before.view:
            self._take(Arrangement.of_view(after.view))
        if after.experiment is not before.experiment:
            self.changed.emit()

    def _take(self, arrangement: Arrangement) -> None:
        if arrangement != self.arrangement:
            self.arrangement = arrangement
            trace = self.feed.trace
            self.selection.arrange(self.found if trace is None else arranged(trace.experiment, arrangement))
            self.selection.leave_hidden()
            self.feed.arrange(arrangement)
            self.changed.emit()


def _token(axis: Axis, place: int) -> int:
    return int(axis.starts[min(place, len(axis.starts) - 1)])


def _place(axis: Axis, token: int) -> int:
    return int(axis.places[min(token, len(axis.places) - 1)])


def _places(axis: Axis, tokens: frozenset[int]) -> frozenset[int]:
    return frozenset(_place(axis, token) for token in tokens if token < len(axis.hidden) and not axis.hidden[token])


def _members(axis: Axis, places: frozenset[int]) -> frozenset[int]:
    known = [place for place in places if place < len(axis.starts)]
    return frozenset(token for place in known for token in range(int(axis.starts[place]), int(axis.stops[place])))
