"""Numbers that are drawn for the pieces of words: sums and means of the pieces' own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attn_gui.compute.deriving.chain import Chain
from attn_gui.compute.deriving.subject import Subject, quoted
from attn_gui.compute.deriving.terms import MOST, sum_of
from attn_gui.model.arranging import Arranged, Axis
from attn_gui.model.derivation import Cell, Derivation, DerivationAsk, Expression, Formula, Operand, Quotient, Sum
from attn_gui.model.trace import Head, Trace

SUM = Formula("sum over keys", r"\sum_j N_{ij}")
MEAN_OF_SUMS = Formula("mean over queries of the sums", r"\frac{1}{n} \sum_i \sum_j N_{ij}")
MEAN_OF_WEIGHTS = Formula("mean over queries", r"\frac{1}{n} \sum_i N_{ij}")
MEAN_OF_ALLOWED = Formula("mean of the allowed cells", r"\frac{1}{n} \sum_{ij} A_{ij}")
ALL_MASKED = "every cell is masked: the mean of all of them"


def derive_merged(trace: Trace, ask: DerivationAsk, head: Head, found: Arranged) -> Derivation:
    """Where the number comes from that ``found`` draws for the tokens that ``ask`` names, piece by piece.

    Of weights the sum over the keys and the mean over the queries, of scores the mean of the allowed cells.
    """
    queries, keys = found.queries, found.keys
    places = tuple(int(axis.places[min(token, len(axis.places) - 1)]) for axis, token in _sides(found, ask))
    rows = slice(int(queries.starts[places[0]]), int(queries.stops[places[0]]))
    columns = slice(int(keys.starts[places[1]]), int(keys.stops[places[1]]))
    matrix = trace.matrix(ask.stage, head)
    cells = _Cells(trace, ask.stage, head, (rows.start, columns.start), matrix.block(rows, columns).astype(np.float64))
    chain = Chain(found.frame.precision)
    with np.errstate(all="ignore"):
        if ask.stage == "N":
            _derive_weight(cells, chain)
        else:
            _derive_score(cells, chain, np.asarray(matrix.allowed(rows, columns)))
    cell = Cell(ask.stage, head, rows.start, columns.start)
    names = (quoted(axis.names[place]) for axis, place in zip((queries, keys), places, strict=True))
    which = "" if trace.experiment.heads == 1 else ", mean" if head == "mean" else f", head {head + 1}"
    what = f"{ask.stage} of {' for '.join(names)}{which}"
    return Derivation(cell, what, chain.steps[-1].result, found.frame.precision, tuple(chain.steps))


class _Cells:
    """The pieces' own numbers, [rows, columns] from ``first`` on."""

    def __init__(
        self, trace: Trace, stage: str, head: Head, first: tuple[int, int], values: NDArray[np.float64]
    ) -> None:
        self.values = values
        self._subject = Subject(trace, 0)
        self._stage, self._head, self._first = stage, head, first

    def query(self, i: int) -> str:
        return self._subject.query(self._first[0] + i)

    def operand(self, place: int) -> Operand:
        """Of all of them, row by row, the one at ``place``."""
        i, j = divmod(place, self.values.shape[1])
        row, column = self._first[0] + i, self._first[1] + j
        what = "weight" if self._stage == "N" else "score"
        name = f"{what} of {self._subject.query(row)} for {self._subject.key(column)}"
        return Operand(float(self.values[i, j]), name, Cell(self._stage, self._head, row, column))


def _derive_weight(cells: _Cells, chain: Chain) -> None:
    n_q, n_k = cells.values.shape
    every = cells.values.ravel()
    if n_q == 1:
        chain.between("Sum over keys", SUM, sum_of(every, cells.operand), "sum")
        return
    count = Operand(float(n_q), "number of queries")
    if n_k == 1 or n_q > MOST:
        formula = MEAN_OF_WEIGHTS if n_k == 1 else MEAN_OF_SUMS
        chain.between("Mean over queries", formula, Quotient(sum_of(every, cells.operand), count), "mean")
        return
    sums: list[Expression] = []
    for i in range(n_q):
        places = np.arange(i * n_k, (i + 1) * n_k)
        name = f"Sum for {cells.query(i)}"
        sums.append(chain.between(name, SUM, sum_of(every, cells.operand, places), f"sum for {cells.query(i)}"))
    chain.between("Mean over queries", MEAN_OF_SUMS, Quotient(Sum(tuple(sums)), count), "mean")


def _derive_score(cells: _Cells, chain: Chain, allowed: NDArray[np.bool_]) -> None:
    among = np.flatnonzero(allowed)
    note = "" if among.size else ALL_MASKED
    among = among if among.size else np.arange(allowed.size)
    count = Operand(float(len(among)), "number of cells")
    terms = sum_of(cells.values.ravel(), cells.operand, among)
    chain.between("Mean of the pieces", MEAN_OF_ALLOWED, Quotient(terms, count), "mean", note)


def _sides(found: Arranged, ask: DerivationAsk) -> tuple[tuple[Axis, int], tuple[Axis, int]]:
    return (found.queries, ask.row), (found.keys, ask.column)
