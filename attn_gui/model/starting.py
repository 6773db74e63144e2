"""Parts as they begin when a person chooses them: those that hold arrays get ones that fit and can be edited."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from attn_gui.model.biases.additive import Additive
from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.parts import Part
from attn_gui.model.positions.learned import Learned
from attn_gui.model.positions.sinusoidal import Sinusoidal

P = TypeVar("P", bound=Part)

# as many as T5 has
BUCKETS = 32
STEP = 0.3


def choosable_parts(family: type[P]) -> list[type[P]]:
    """The parts of ``family`` that a person can begin with, by title."""
    parts = [part for part in family.kinds.values() if part.can_start() or part in _BEGUN]
    return sorted(parts, key=lambda part: (part.kind != "none", part.title))


def started(part: type[P], experiment: Experiment) -> P:
    """``part`` as it begins in ``experiment``."""
    begun = _BEGUN[part](experiment) if part in _BEGUN else part()
    assert isinstance(begun, part)
    return begun


def _additive(e: Experiment) -> Additive:
    """No bias anywhere, to be edited."""
    return Additive(np.zeros((e.n_q, e.n_k - len(e.appended))))


def _relative_buckets(e: Experiment) -> RelativeBuckets:
    """A step down with each bucket, steeper in each following head."""
    steps = np.arange(BUCKETS, dtype=np.float64) % (BUCKETS // 2)
    return RelativeBuckets(-STEP * np.outer(steps, np.arange(1.0, e.heads + 1)))


def _learned(e: Experiment) -> Learned:
    """The sinusoidal vectors, as numbers that can be edited."""
    return Learned(Sinusoidal().vectors(np.arange(e.last_position + 1), e.tokens.width))


def _causal(e: Experiment) -> Causal:
    """Up to the query's own place, which a cache puts further on than its number."""
    return Causal("bottom-right" if e.offset else "top-left")


_BEGUN = {Additive: _additive, RelativeBuckets: _relative_buckets, Learned: _learned, Causal: _causal}
