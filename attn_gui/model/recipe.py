"""Recipe: how the numbers of a student's exercise are drawn, so that they can be drawn again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace

import numpy as np

from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.sources import FromTokens, with_parts
from attn_gui.model.table import Floats, Table, frozen

EMBEDDINGS, WEIGHTS = "embeddings", "weights"
DRAWN = (EMBEDDINGS, WEIGHTS)
MOST_DECIMALS = 3
LARGEST = 100_000
LONGEST_SEED = 200


@dataclass(frozen=True)
class Recipe:
    """Numbers from ``least`` to ``most`` in units of the last of ``decimals``, all equally likely.

    drawn: which tables, of DRAWN; given Q, K, V and scores count as embeddings. seed: with the student's name and the
    table's it decides every number, on any machine and with any version of NumPy. Raises ExperimentError.
    """

    seed: str
    drawn: tuple[str, ...]
    least: int
    most: int
    decimals: int

    def __post_init__(self) -> None:
        if not self.drawn or tuple(name for name in DRAWN if name in self.drawn) != self.drawn:
            raise ExperimentError("drawn", " or ".join(DRAWN), ", ".join(self.drawn) or "none")
        if not 0 <= self.decimals <= MOST_DECIMALS:
            raise ExperimentError("decimals", f"0 to {MOST_DECIMALS}", str(self.decimals))
        if not -LARGEST <= self.least < self.most <= LARGEST:
            expected = f"least below most, between {-LARGEST:,} and {LARGEST:,}"
            raise ExperimentError("range", expected, f"{self.least:,} to {self.most:,}")
        if len(self.seed) > LONGEST_SEED:
            raise ExperimentError("seed", f"at most {LONGEST_SEED} characters", str(len(self.seed)))

    def draw(self, experiment: Experiment, student: str) -> Experiment:
        """``experiment`` with the numbers of ``student``."""
        e = experiment
        if EMBEDDINGS in self.drawn:
            for side in ("tokens", "context", "values", "past"):
                sequence = getattr(e, side)
                if sequence is not None and isinstance(e.source, FromTokens):
                    table = self._table(student, side, sequence.embeddings.shape)
                    e = replace(e, **{side: replace(sequence, embeddings=table)})
            if not isinstance(e.source, FromTokens):
                # weights are no weights any more if they are drawn
                shapes = {name: part.shape for name, part in e.source.parts().items() if name != "N"}
                parts = {name: frozen(self._numbers(student, name, shape)) for name, shape in shapes.items()}
                e = replace(e, source=with_parts(e.source, parts))
        if WEIGHTS in self.drawn and isinstance(e.source, FromTokens):
            weights = e.source.weights
            for name, table in weights.items():
                weights = weights.with_table(name, self._table(student, name, table.shape))
            e = replace(e, source=FromTokens(weights))
        return e

    def _table(self, student: str, name: str, shape: tuple[int, ...]) -> Table:
        return Table.of(self._numbers(student, name, shape))

    def _numbers(self, student: str, name: str, shape: tuple[int, ...]) -> Floats:
        text = json.dumps([self.seed, student, name]).encode()
        count = int(np.prod(shape))
        # NumPy's own generators may draw otherwise in a later version
        drawn = np.frombuffer(hashlib.shake_256(text).digest(8 * count), "<u8") % (self.most - self.least + 1)
        units = drawn.astype(np.float64) + self.least
        numbers: Floats = np.array([round(unit / 10**self.decimals, self.decimals) for unit in units.tolist()])
        return numbers.reshape(shape)
