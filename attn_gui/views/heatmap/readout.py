"""ReadOut: the line under a heatmap that says what the cell under the pointer is, or what was picked sums to."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from attn_gui.control.feed import Feed
from attn_gui.control.selection import Selection
from attn_gui.control.settings import Settings
from attn_gui.model.answers import ArrangedCell, Reading, Sum
from attn_gui.model.asks import ArrangedCellAsk, CellAsk, SumAsk
from attn_gui.views.heatmap.arranged_words import arranged_sentence, hidden_words
from attn_gui.views.heatmap.pictures import Pictures
from attn_gui.views.heatmap.words import Sentence, cell_description, cell_sentence, pictured, read, sum_sentence

Found = tuple[float, bool]

# the pointer may cross many cells on its way to the one that is meant
DEBOUNCE_MS = 40

NOTHING = Sentence("")


class ReadOut(QObject):
    """``sentence`` follows the pointer, and without one the picked tokens or the selected cell."""

    changed = Signal()

    def __init__(self, feed: Feed, selection: Selection, settings: Settings, pictures: Pictures, slot: str) -> None:
        super().__init__(pictures)
        self._feed = feed
        self._selection = selection
        self._settings = settings
        self._decimals = settings.decimals
        self._pictures = pictures
        self._hover_slot, self._sum_slot = f"{slot}.hover", f"{slot}.picked"
        self._reading: Reading | None = None
        self._arranged: ArrangedCell | None = None
        self._sum: Sum | None = None
        self.sentence = NOTHING
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DEBOUNCE_MS)
        self._timer.timeout.connect(self._ask_cell)
        feed.traced.connect(self._on_trace)
        feed.answered.connect(self._on_answer)
        selection.hover_changed.connect(lambda cell: self.refresh())
        selection.cell_changed.connect(lambda query, key: self._refresh_all())
        selection.head_changed.connect(lambda head: self._refresh_all())
        selection.picked_changed.connect(self._refresh_all)
        settings.changed.connect(self._on_setting)

    @property
    def cell(self) -> tuple[int, int] | None:
        """The cell that is read out: the one under the pointer, else the selected one."""
        experiment = self._pictures.experiment
        if experiment is None:
            return None
        hover = self._selection.hover
        i, j = hover if hover is not None else (self._selection.query, self._selection.key)
        return min(i, experiment.n_q - 1), min(j, experiment.n_k - 1)

    def description(self) -> str:
        """The selected cell for a screen reader."""
        pictures, experiment = self._pictures, self._pictures.experiment
        if experiment is None:
            return ""
        i = min(self._selection.query, experiment.n_q - 1)
        j = min(self._selection.key, experiment.n_k - 1)
        found, _ = self._found(i, j)
        head = pictures.head if pictures.latest is None else pictures.latest.request.head
        told = cell_description(experiment, pictures.stage, head, (i, j), found, self._decimals)
        cell = self._arranged_at(i, j)
        return told if cell is None else ", ".join([told, *hidden_words(cell)])

    def refresh(self) -> None:
        """Say what is to be said now; what has to be asked for first comes later."""
        cell, experiment = self.cell, self._pictures.experiment
        if cell is None or experiment is None:
            self._say(NOTHING)
            return
        decimals = self._decimals
        if self._selection.hover is None and self._sum_ask() is not None:
            if self._sum is not None and self._sum.ask == self._sum_ask():
                self._say(sum_sentence(experiment, self._sum, decimals))
            return
        arranged = self._feed.arranged
        if arranged is not None:
            merged = self._arranged_at(*cell)
            if merged is None:
                self._timer.start()
            found, _ = self._found(*cell)
            self._say(arranged_sentence(experiment, cell, self._pictures.stage, found, merged, decimals))
            return
        found, reading = self._found(*cell)
        if found is None or not found[1]:
            if reading is None:
                self._timer.start()
        else:
            self._timer.stop()
            # answered along with every trace, so not kept longer than it is read
            self._feed.ask(self._hover_slot, None)
        self._say(cell_sentence(experiment, cell, found, reading, decimals))

    def _refresh_all(self) -> None:
        self._feed.ask(self._sum_slot, self._sum_ask())
        self.refresh()

    def _found(self, i: int, j: int) -> tuple[Found | None, Reading | None]:
        """The value at a cell and whether it is allowed, and the numbers behind it, as far as they are known."""
        found = pictured(self._pictures.latest, i, j)
        if self._feed.arranged is not None:
            cell = self._arranged_at(i, j)
            return (found if found is not None or cell is None else (cell.value, cell.allowed)), None
        reading = self._reading
        if reading is None or (reading.i, reading.j) != (i, j) or reading.head != self._shown_head():
            return found, None
        return found or read(reading, self._pictures.stage), reading

    def _arranged_at(self, i: int, j: int) -> ArrangedCell | None:
        """What is known of the cell drawn at a place, where it may be of several tokens."""
        found = self._arranged
        here = found is not None and found.ask == self._arranged_ask(i, j) and self._feed.arranged is not None
        return found if here else None

    def _arranged_ask(self, i: int, j: int) -> ArrangedCellAsk:
        pictures = self._pictures
        return ArrangedCellAsk(pictures.stage, self._selection.head, i, j, self._feed.arrangement)

    def _shown_head(self) -> object:
        latest = self._pictures.latest
        return None if latest is None else latest.request.head

    def _sum_ask(self) -> SumAsk | None:
        """The sum of what is picked: at least two queries or two keys, else of the selected row or column."""
        queries, keys = self._selection.queries, self._selection.keys
        if max(len(queries), len(keys)) < 2:
            return None
        return SumAsk(
            self._pictures.stage,
            self._selection.head,
            tuple(sorted(queries)) or (self._selection.query,),
            tuple(sorted(keys)) or (self._selection.key,),
        )

    def _ask_cell(self) -> None:
        if self.cell is not None:
            arranged = self._feed.arranged is not None
            plain = CellAsk(self._selection.head, *self.cell)
            self._feed.ask(self._hover_slot, self._arranged_ask(*self.cell) if arranged else plain)

    def _on_setting(self, name: str) -> None:
        if name == "decimals":
            self._decimals = self._settings.decimals
            self.refresh()

    def _on_trace(self) -> None:
        self._reading = self._sum = self._arranged = None

    def _on_answer(self, slot: str, answer: object) -> None:
        if slot == self._hover_slot and isinstance(answer, Reading):
            self._reading = answer
            self.refresh()
        elif slot == self._hover_slot and isinstance(answer, ArrangedCell):
            self._arranged = answer
            self.refresh()
        elif slot == self._sum_slot and isinstance(answer, Sum):
            self._sum = answer
            self.refresh()

    def _say(self, sentence: Sentence) -> None:
        if sentence != self.sentence:
            self.sentence = sentence
            self.changed.emit()
