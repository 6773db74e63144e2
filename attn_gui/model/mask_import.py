"""Masks as other programs hand them over: arrays of flags, or of numbers that are added to the scores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_gui.model.biases.additive import Additive
from attn_gui.model.errors import ExperimentError
from attn_gui.model.masks import Combined, Imported, MaskRule, Term

Meaning = Literal["allowed", "blocked", "additive"]

# programs that avoid -inf write this, or the lowest number of a wide type, and no score comes near
LOWEST = -1e9
# beside 0 alone this stands for -inf as well, as in the first BERT
FLAT = -1e4


def mask_of(array: ArrayLike, meaning: Meaning) -> tuple[Imported | None, Additive | None]:
    """What ``array`` forbids, as a rule, and what it adds to the scores; None for what it does not do.

    array: [n_q, n_k] or [heads, n_q, n_k]; axes of length 1 before these are dropped.
    meaning: ``allowed``: true (or 1) where a query may attend to a key, as SDPA, ONNX and transformers have it;
    ``blocked``: true where it may not, as nn.MultiheadAttention and ``masked_fill`` have it; ``additive``: numbers to
    be added. Of these -inf forbids, and so do -1e9 and what lies below it, ``torch.finfo(dtype).min`` above all, which
    stand for it in programs that avoid -inf, and -1e4 and less where there is nothing else but 0: a row of nothing else
    is fully masked here, where they make it uniform.
    Raises ExperimentError for another shape, for flags that are neither 0 nor 1, and for NaN and +inf.
    """
    if meaning not in get_args(Meaning):
        raise ExperimentError("mask meaning", " or ".join(get_args(Meaning)), repr(meaning))
    cells = np.asarray(array)
    while cells.ndim > 2 and len(cells) == 1:
        cells = cells[0]
    if cells.ndim not in (2, 3) or not cells.size:
        raise ExperimentError("mask", "shape ([heads,] n_q, n_k), not empty", f"shape {np.shape(array)}")
    if meaning != "additive":
        flags = _flags(cells)
        return _rule(flags if meaning == "allowed" else ~flags), None
    added = _numbers(cells)
    low = added.min()
    flat = low <= FLAT and bool(((added == 0) | (added == low)).all())
    allowed = added == 0 if flat else added > _lowest(cells.dtype)
    added = np.where(allowed, added, 0.0)
    return _rule(allowed), Additive(added) if added.any() else None


def all_of(rules: Iterable[MaskRule | None]) -> MaskRule:
    """The rule that allows what each of ``rules``, single ones, allows; None allows everything."""
    narrowing = [rule for rule in rules if rule is not None and rule.kind != MaskRule.kind]
    if len(narrowing) > 1:
        return Combined(tuple(Term(rule) for rule in narrowing))
    return narrowing[0] if narrowing else MaskRule()


def _rule(allowed: NDArray[np.bool_]) -> Imported | None:
    return None if allowed.all() else Imported(allowed)


def _flags(cells: NDArray[Any]) -> NDArray[np.bool_]:
    if cells.dtype.kind == "b":
        return cells
    odd = (cells != 0) & (cells != 1) if cells.dtype.kind in "iuf" else np.ones(cells.shape, bool)
    _refuse(cells, odd, "true or false (1 or 0)")
    return cells != 0


def _numbers(cells: NDArray[Any]) -> NDArray[np.float64]:
    if cells.dtype.kind not in "iuf":
        raise ExperimentError("mask", "numbers to be added to the scores", f"an array of {cells.dtype}")
    _refuse(cells, np.isnan(cells) | (cells == np.inf), "a finite number or -inf")
    return cells.astype(np.float64)


def _lowest(dtype: np.dtype[Any]) -> float:
    """The highest number that stands for -inf in an array of this type."""
    return float(np.finfo(np.float16).min) if dtype == np.float16 else LOWEST


def _refuse(cells: NDArray[Any], odd: NDArray[np.bool_], expected: str) -> None:
    """Raise ExperimentError with the first of the ``odd`` cells, counted from 1, if there are any."""
    if odd.any():
        at = np.unravel_index(int(np.argmax(odd)), odd.shape)
        place = ", ".join(str(int(k) + 1) for k in at)
        raise ExperimentError(f"mask cell {place}", expected, str(cells[at]))
