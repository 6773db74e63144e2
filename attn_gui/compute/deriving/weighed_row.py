"""WeighedRow: one query's scores, as a normaliser looks at them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.compute.deriving.subject import Subject
from attn_gui.model.derivation import Operand, Parameter
from attn_gui.model.table import Floats


class WeighedRow:
    """Query ``i``'s masked scores, [n_k]; ``places`` are the keys that it may attend to, ``own`` the score of key j."""

    def __init__(self, subject: Subject, i: int, j: int, scores: Floats, allowed: NDArray[Any]) -> None:
        self.subject, self._i = subject, i
        self.scores = scores
        self.places = np.flatnonzero(allowed)
        self.own = self.score(j)

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.scores[self.places]).all())

    def score(self, k: int) -> Operand:
        return self.subject.score(self._i, k, float(self.scores[k]))

    def beside(self) -> list[Operand]:
        """The sink's score, where there is one."""
        sinks = self.subject.experiment.scoring.sinks
        if sinks is None:
            return []
        return [Operand(sinks[self.subject.head], "score of the sink", Parameter("sinks", 0, self.subject.head))]
