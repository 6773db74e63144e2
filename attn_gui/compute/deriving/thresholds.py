"""Weights of sparsemax and entmax 1.5: what of a score lies above a threshold that the row decides."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from attn_gui.compute.deriving.chain import Chain
from attn_gui.compute.deriving.terms import sum_of
from attn_gui.compute.deriving.weighed_row import WeighedRow
from attn_gui.model.derivation import (
    Cell,
    Difference,
    Expression,
    Formula,
    Function,
    Largest,
    Operand,
    Product,
    Quotient,
    Sum,
)
from attn_gui.model.table import Floats

ABOVE = "with the {count} largest scores of the row, which alone lie above τ"
SPARSE_TAU = Formula("τ = (Σ A − 1) / s", r"\tau = \left(\sum_{k \le s} A_k - 1\right) / s")
SPARSE = Formula("N = max(A − τ, 0)", r"N = \max(A - \tau, 0)")
MEAN = Formula("μ = Σ A / 2 / s", r"\mu = \sum_{k \le s} A_k / 2 / s")
SPREAD = Formula("d = Σ (A / 2 − μ)²", r"d = \sum_{k \le s} (A_k / 2 - \mu)^2")
ENTMAX_TAU = Formula("τ = μ − √((1 − d) / s)", r"\tau = \mu - \sqrt{(1 - d) / s}")
ENTMAX = Formula("N = max(A / 2 − τ, 0)²", r"N = \max(A / 2 - \tau, 0)^2")
ONE, TWO, ZERO = Operand(1.0, "1"), Operand(2.0, "2"), Operand(0.0, "0")


class _Support:
    """The scores of a row that lie above the threshold."""

    def __init__(self, row: WeighedRow, within: Callable[[Floats], int]) -> None:
        beside = row.beside()
        self._row, self._beside = row, beside
        values = np.concatenate([row.scores[row.places], [other.value for other in beside]])
        falling = np.argsort(-values, kind="stable")
        count = within(values[falling])
        self._at = np.sort(falling[:count])
        self._values = values
        self.count = Operand(float(count), "s, the scores above τ")
        self.note = ABOVE.format(count=f"{count:,}")

    def sum_of(self, of: Callable[[Floats], Floats], write: Callable[[Operand], Expression]) -> Sum:
        def term(place: int) -> Expression:
            tokens = self._row.places
            if place < len(tokens):
                return write(self._row.score(int(tokens[place])))
            return write(self._beside[place - len(tokens)])

        return sum_of(of(self._values), term, self._at)


def derive_sparsemax(row: WeighedRow, chain: Chain, cell: Cell, value: float) -> None:
    """Martins and Astudillo 2016, algorithm 1."""
    support = _Support(row, _sparsemax_support)
    above = Difference(support.sum_of(lambda a: a, lambda a: a), ONE)
    tau = chain.between("Threshold", SPARSE_TAU, Quotient(above, support.count), "τ", support.note)
    chain.stage("Weight", SPARSE, Largest((Difference(row.own, tau), ZERO)), cell, value)


def derive_entmax15(row: WeighedRow, chain: Chain, cell: Cell, value: float) -> None:
    """Peters et al. 2019, algorithm 2."""
    support = _Support(row, _entmax15_support)
    halves = support.sum_of(lambda a: a / 2, lambda a: Quotient(a, TWO))
    mean = chain.between("Mean", MEAN, Quotient(halves, support.count), "μ", support.note)

    def square(a: Operand) -> Expression:
        apart = Difference(Quotient(a, TWO), mean)
        return Product((apart, apart))

    spread = chain.between("Spread", SPREAD, support.sum_of(lambda a: (a / 2 - mean.value) ** 2, square), "d")
    root = Function("sqrt", Quotient(Difference(ONE, spread), support.count))
    tau = chain.between("Threshold", ENTMAX_TAU, Difference(mean, root), "τ")
    over = Largest((Difference(Quotient(row.own, TWO), tau), ZERO))
    chain.stage("Weight", ENTMAX, Product((over, over)), cell, value)


def _sparsemax_support(falling: Floats) -> int:
    # below the largest, so that many scores far from 0 lose no digits
    z = falling - falling[0]
    count = np.arange(1, len(z) + 1)
    return _last(1 + count * z > np.cumsum(z))


def _entmax15_support(falling: Floats) -> int:
    z = (falling - falling[0]) / 2
    count = np.arange(1, len(z) + 1)
    mean = np.cumsum(z) / count
    spread = np.cumsum(z * z) - count * mean * mean
    return _last(mean - np.sqrt(np.maximum((1 - spread) / count, 0)) <= z)


def _last(holds: NDArray[np.bool_]) -> int:
    """How many of the first places it holds for; for the first it always does."""
    return max(1, int(np.count_nonzero(holds)))
