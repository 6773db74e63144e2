"""What a view may ask of a trace: plain values, so that they can cross to the worker."""

from __future__ import annotations

from dataclasses import dataclass

from attn_gui.model.arranging import PLAIN, Arrangement
from attn_gui.model.check.ask import CheckAsk
from attn_gui.model.derivation import DerivationAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.flow import FlowAsk
from attn_gui.model.picture import ColourMapping, PictureRequest
from attn_gui.model.stage_shape import stage_shape
from attn_gui.model.trace import Head, Pooling
from attn_gui.model.vector import VectorAsk


@dataclass(frozen=True)
class PictureAsk:
    """A picture of a stage; of a stage that is not square, head "mean" stands for the first.

    window: (top, bottom, left, right) in rows and columns, None for everything; size: the most cells to draw,
    (height, width). arranged: of a square stage, here as in the other asks, which tokens it is drawn without or with
    several in one place; rows and columns are then those that are drawn.
    """

    stage: str
    head: Head = 0
    window: tuple[int, int, int, int] | None = None
    size: tuple[int, int] = (512, 512)
    pooling: Pooling = "max"
    mapping: ColourMapping = "linear"
    diverging: bool = False
    arranged: Arrangement = PLAIN

    def request(self, experiment: Experiment) -> PictureRequest:
        """The request for ``experiment``, with head and window brought within its bounds."""
        head = min(self.head, experiment.heads - 1) if isinstance(self.head, int) else self.head
        height, width = stage_shape(experiment, self.stage)
        rows, columns = (0, height), (0, width)
        if self.window is not None:
            top, bottom, left, right = self.window
            rows = _within(top, bottom, height)
            columns = _within(left, right, width)
        return PictureRequest(self.stage, head, rows, columns, self.size, self.pooling, self.mapping, self.diverging)


@dataclass(frozen=True)
class StageAsk:
    """A stage that is not square as numbers; ``head`` is not looked at for stages that are not per head."""

    stage: str
    head: Head = 0


@dataclass(frozen=True)
class BlockAsk:
    """A window of a square stage as numbers: queries ``rows`` and keys ``columns``, [start, stop)."""

    stage: str
    head: Head
    rows: tuple[int, int]
    columns: tuple[int, int]
    arranged: Arrangement = PLAIN


@dataclass(frozen=True)
class ArrangedCellAsk:
    """The cell of a square stage that is drawn in row ``i`` and column ``j``."""

    stage: str
    head: Head
    i: int
    j: int
    arranged: Arrangement


@dataclass(frozen=True)
class CellAsk:
    """The numbers behind the weight of query ``i`` for key ``j``."""

    head: Head
    i: int
    j: int


@dataclass(frozen=True)
class RowAsk:
    """The weights of query ``i`` over all keys, as they are drawn."""

    head: Head
    i: int
    arranged: Arrangement = PLAIN


@dataclass(frozen=True)
class RowSumsAsk:
    """The sums of the rows of N."""

    head: Head
    arranged: Arrangement = PLAIN


@dataclass(frozen=True)
class SumAsk:
    """The sum of a square stage over some queries and some keys."""

    stage: str
    head: Head
    queries: tuple[int, ...]
    keys: tuple[int, ...]
    arranged: Arrangement = PLAIN


@dataclass(frozen=True)
class StatisticsAsk:
    """The statistics of every head."""


Ask = (
    PictureAsk
    | StageAsk
    | BlockAsk
    | ArrangedCellAsk
    | CellAsk
    | RowAsk
    | RowSumsAsk
    | SumAsk
    | StatisticsAsk
    | DerivationAsk
    | FlowAsk
    | VectorAsk
    | CheckAsk
)


def _within(start: int, stop: int, length: int) -> tuple[int, int]:
    start = max(0, min(start, length - 1))
    return start, max(start + 1, min(stop, length))
