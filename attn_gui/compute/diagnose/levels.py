"""Levels: how exactly numbers are computed and compared, from what the given ones show of their own precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from attn_gui.compute.diagnose.precision_choice import precision_choice
from attn_gui.model.diagnosis import Choice
from attn_gui.model.precision import Precision
from attn_gui.model.question import Numbers, Question
from attn_gui.model.table import Floats

# all: after every stage; scores: up to the scores; ends: of what goes in and of what comes out
Rounding = Literal["all", "scores", "ends"]

# significant bits, the first of them included
BITS = {Precision.FLOAT64: 53, Precision.FLOAT32: 24, Precision.BFLOAT16: 8, Precision.FLOAT16: 11}
HALVES = (Precision.BFLOAT16, Precision.FLOAT16)
# sums of other programs run in another order, so that errors of float64 reach further than its last place
EPS = {precision: precision.eps for precision in Precision} | {Precision.FLOAT64: 64 * Precision.FLOAT64.eps}
MOST_DECIMALS = {Precision.FLOAT64: 10, Precision.FLOAT32: 5}
# numbers of this many bits less lie on a precision's grid by chance
SPARE_BITS = 3


@dataclass(frozen=True)
class Level:
    """precision: what is computed in, and ``rounding`` which stages are rounded to it (below float32; others none).

    choice: what it adds to a convention, None for what the numbers' own format says. printed: whether a cell may be off
    by half of its last printed place. depth: how many changes are tried. certain: whether the given numbers show the
    precision themselves; otherwise a match has to be much closer than one without rounding.
    """

    precision: Precision
    rounding: Rounding = "all"
    choice: Choice | None = None
    printed: bool = False
    depth: int = 3
    certain: bool = True

    @property
    def eps(self) -> float:
        return EPS[self.precision]


def levels(question: Question) -> tuple[list[list[Level]], Question]:
    """The levels to try, those of one list together, and the question with the decimals that its numbers show."""
    given = [numbers for _, numbers in question.given()]
    formats = [numbers.precision for numbers in given]
    own = max(formats, key=lambda precision: precision.eps)
    shown = own if own in HALVES else _shown(given, own)
    if shown in HALVES:
        return [[_half(shown, rounding, own, 3 if rounding == "all" else 2) for rounding in _roundings()]], question
    groups = [[Level(shown)]]
    if any(numbers.half_unit is not None for numbers in given):
        groups = [[Level(shown, printed=True)]]
    elif (printed := _with_decimals(question, shown)) is not None:
        groups.append([Level(shown, printed=True)])
        question = printed
    if shown is Precision.FLOAT64:
        single = Level(Precision.FLOAT32, choice=precision_choice("float32"), depth=2, certain=False)
        groups.append([replace(single, printed=groups[-1][0].printed)])
    fallback = [_half(half, rounding, own, 1, certain=False) for half in HALVES for rounding in _roundings()]
    return [*groups, fallback], question


def _roundings() -> tuple[Rounding, ...]:
    return "all", "scores", "ends"


def _half(half: Precision, rounding: Rounding, own: Precision, depth: int, certain: bool = True) -> Level:
    named = half is not own or rounding != "all"
    choice = precision_choice(half.value, rounding) if named else None
    return Level(half, rounding, choice, depth=depth, certain=certain)


def _shown(given: Sequence[Numbers], own: Precision) -> Precision:
    """The lowest precision that holds every number, where they make use of all its bits; otherwise their own."""
    values = np.concatenate([numbers.values.ravel() for numbers in given])
    values = values[np.isfinite(values)]
    if (values == np.rint(values)).all():  # which are exact in any precision
        return own
    for precision in (Precision.BFLOAT16, Precision.FLOAT16, Precision.FLOAT32):
        bits = BITS[precision]
        if precision.eps > own.eps and on_grid(values, bits) and not on_grid(values, bits - SPARE_BITS):
            return precision
    return own


def on_grid(values: Floats, bits: int) -> bool:
    """Whether every finite value has at most ``bits`` significant bits."""
    finite = values[np.isfinite(values)]
    mantissa = np.ldexp(np.frexp(finite)[0], bits)
    return bool((mantissa == np.rint(mantissa)).all())


def _with_decimals(question: Question, precision: Precision) -> Question | None:
    """The question with half a last place for each stage whose numbers all end at one; None where none do."""
    changed: dict[str, Any] = {}
    for name, numbers in question.given():
        half = _half_unit(numbers.values, precision)
        if half is not None:
            changed[name] = replace(numbers, half_unit=np.full(numbers.shape, half))
    return replace(question, **changed) if changed else None


def _half_unit(values: Floats, precision: Precision) -> float | None:
    finite = values[np.isfinite(values) & (np.abs(values) < 1e6)]
    slack = 4 * precision.eps * np.abs(finite)
    # whole numbers say nothing: masks, and rows of one key, are exact
    if (finite == np.rint(finite)).all():
        return None
    for decimals in range(1, MOST_DECIMALS[precision] + 1):
        if (np.abs(finite - finite.round(decimals)) <= slack).all():
            return 0.5 * 10.0**-decimals
    return None
