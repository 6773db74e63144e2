"""What a file's array would be as a mask, in each of its meanings. Worked out in the worker."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from attn_gui.files.arrays import arrays_in
from attn_gui.model.biases.additive import Additive
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.mask_import import Meaning, mask_of
from attn_gui.model.masks import Imported, MaskRule
from attn_gui.views.masks.cells import LARGEST, Cells


@dataclass(frozen=True, eq=False)
class Reading:
    """An array taken as a mask.

    shape: its own, or without the axes of length 1 before. cells: its first queries and keys in the first head.
    least, most, mean: how many keys a query may attend to. masked, rows: the rows without any, of all rows of all
    heads. added: how many cells have a number added to their score.
    """

    meaning: Meaning
    rule: MaskRule | None
    bias: Additive | None
    shape: tuple[int, ...]
    cells: Cells
    least: int
    most: int
    mean: float
    masked: int
    rows: int
    added: int


@dataclass(frozen=True, eq=False)
class Candidate:
    """One array of a file: how it can be read, and why not in the other ways."""

    name: str
    array: NDArray[Any]
    readings: dict[Meaning, Reading]
    refusals: dict[Meaning, str]

    @property
    def best(self) -> Meaning | None:
        """The meaning to begin with: the first that leaves every query a key, else the first."""
        whole = [meaning for meaning, reading in self.readings.items() if not reading.masked]
        return next(iter(whole or self.readings), None)


def candidates(path: Path) -> list[Candidate]:
    """Every array of ``path``; raises FileError."""
    return [_candidate(name, array) for name, array in arrays_in(path).items()]


def with_reading(experiment: Experiment, reading: Reading) -> Experiment:
    """With the mask of ``reading`` in place of the present rule and of what a file before it added.

    Numbers that forbid nothing leave a rule that came from no file as it is. Raises ExperimentError where the shape
    does not fit.
    """
    e = experiment
    n_k = e.n_k - len(e.appended)
    if reading.shape not in ((e.n_q, n_k), (e.heads, e.n_q, n_k)):
        several = f" or ({e.heads}, {e.n_q}, {n_k})" if e.heads > 1 else ""
        raise ExperimentError("mask", f"shape ({e.n_q}, {n_k}){several}", str(reading.shape))
    from_file = isinstance(e.rule, Imported)
    keeps = reading.meaning == "additive" and not from_file
    rule = reading.rule or (e.rule if keeps else MaskRule())
    biases = e.scoring.biases
    if reading.bias is not None or from_file:
        biases = tuple(bias for bias in biases if not isinstance(bias, Additive))
    if reading.bias is not None:
        biases = (*biases, reading.bias)
    return replace(e, rule=rule, scoring=replace(e.scoring, biases=biases))


def _candidate(name: str, array: NDArray[Any]) -> Candidate:
    readings: dict[Meaning, Reading] = {}
    refusals: dict[Meaning, str] = {}
    for meaning in get_args(Meaning):
        try:
            readings[meaning] = _reading(array, meaning)
        except ExperimentError as error:
            refusals[meaning] = f"expected {error.expected}, received {error.received}"
    return Candidate(name, array, readings, refusals)


def _reading(array: NDArray[Any], meaning: Meaning) -> Reading:
    rule, bias = mask_of(array, meaning)
    shape = array.shape
    while len(shape) > 2 and shape[0] == 1:
        shape = shape[1:]
    allowed = rule.cells if isinstance(rule, Imported) else np.broadcast_to(np.True_, shape)
    counts = np.count_nonzero(allowed, axis=-1)
    first = allowed[0] if allowed.ndim == 3 else allowed
    return Reading(
        meaning,
        rule,
        bias,
        shape,
        np.array(first[:LARGEST, :LARGEST]),
        int(counts.min()),
        int(counts.max()),
        float(counts.mean()),
        int(np.count_nonzero(counts == 0)),
        counts.size,
        0 if bias is None else int(np.count_nonzero(bias.cells)),
    )
