"""Terms: of a short sum or maximum everything, of a long one the largest and the rest as one number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.derivation import Expression, Largest, Operand, Sum
from attn_gui.model.derivation.evaluating import total

# written out whole up to so many; of more, so many and the rest
MOST, SOME = 8, 6

Values = NDArray[np.float64]
Places = NDArray[np.intp]


def sum_of(
    values: NDArray[Any], term: Callable[[int], Expression], among: Places | None = None, largest_first: bool = False
) -> Sum:
    """The sum of ``values`` at the places ``among`` (None: of all), each as ``term(place)`` writes it.

    The largest terms keep their order, or come ``largest_first``; the rest is one operand, added up exactly.
    """
    places = np.arange(len(values)) if among is None else among
    numbers = np.asarray(values, np.float64)[places]
    sizes = np.where(np.isnan(numbers), np.inf, np.abs(numbers))
    chosen = _first(sizes)
    if len(chosen) < len(sizes) and sizes.any():
        chosen = chosen[sizes[chosen] > 0]
    if largest_first:
        chosen = chosen[np.lexsort((chosen, -sizes[chosen]))]
    else:
        chosen = np.sort(chosen)
    terms = [term(int(places[at])) for at in chosen]
    left = len(places) - len(chosen)
    if left:
        rest = np.ones(len(places), bool)
        rest[chosen] = False
        terms.append(Operand(total(numbers[rest].tolist()), f"sum of {left:,} more", aside=f"{left:,} more"))
    return Sum(tuple(terms))


def largest_of(
    values: NDArray[Any], operand: Callable[[int], Operand], among: Places, beside: list[Operand]
) -> Largest:
    """The largest of ``values`` at the places ``among`` and of what stands ``beside`` them."""
    numbers = np.asarray(values, np.float64)[among]
    chosen = _first(numbers)
    listed = [operand(int(among[at])) for at in np.sort(chosen)] + beside
    left = len(among) - len(chosen)
    if left:
        rest = np.ones(len(among), bool)
        rest[chosen] = False
        listed.append(
            Operand(float(numbers[rest].max()), f"largest of {left:,} more", aside=f"largest of {left:,} more")
        )
    return Largest(tuple(listed))


def _first(sizes: Values) -> Places:
    """The places of the largest ``sizes``, or of all where there are few."""
    if len(sizes) <= MOST:
        return np.arange(len(sizes))
    return np.argpartition(-sizes, SOME - 1)[:SOME]
