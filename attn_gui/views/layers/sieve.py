"""Sieve: by which score heads are told apart, in which order they stand, and which of them are left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from attn_gui.model import view_choices
from attn_gui.model.head_scores import HEAD_SCORES
from attn_gui.model.layers import HeadAt
from attn_gui.model.session import Session
from attn_gui.model.statistics import Statistic

NAMES = [score.name for score in HEAD_SCORES]
BY_LAYER, LARGEST, SMALLEST = "layer", "largest", "smallest"
ALL, LEAST, MOST = "all", "least", "most"


@dataclass(frozen=True)
class Sieve:
    """order: BY_LAYER, LARGEST or SMALLEST first; keep: ALL heads, or those of a score at LEAST or at MOST limit."""

    score: str = NAMES[0]
    order: str = BY_LAYER
    keep: str = ALL
    limit: float = 0.5

    @classmethod
    def of(cls, session: Session) -> Sieve:
        """As the view choices of ``session`` say."""
        return cls(
            view_choices.word(session, "layers_score", NAMES, NAMES[0]),
            view_choices.word(session, "layers_order", (BY_LAYER, LARGEST, SMALLEST), BY_LAYER),
            view_choices.word(session, "layers_keep", (ALL, LEAST, MOST), ALL),
            view_choices.number(session, "layers_limit", 0.5),
        )

    @property
    def column(self) -> int:
        """The place of the score among HEAD_SCORES."""
        return NAMES.index(self.score)

    @property
    def statistic(self) -> Statistic:
        return HEAD_SCORES[self.column]

    @property
    def ranks(self) -> bool:
        """Whether heads stand in the order of the score instead of that of the layers."""
        return self.order != BY_LAYER

    @property
    def takes_all(self) -> bool:
        """Whether the scores of all heads have to be known."""
        return self.ranks or self.keep != ALL

    def keeps(self, value: float) -> bool:
        """Whether a head of this score stays; one without a score is left out of any choice by it."""
        if self.keep == ALL:
            return True
        return value >= self.limit if self.keep == LEAST else value <= self.limit

    def ranked(self, heads: Iterable[HeadAt], score: Callable[[HeadAt], float | None]) -> list[HeadAt]:
        """The heads that stay and whose score is known, in order; those that have none (NaN) come last."""
        known = [(head, value) for head in heads if (value := score(head)) is not None and self.keeps(value)]
        sign = -1 if self.order == LARGEST else 1
        known.sort(key=lambda one: (math.isnan(one[1]), sign * one[1]))
        return [head for head, _ in known]
