"""Patterns: what of a head's weights lies where heads of known kinds look."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attn_gui.compute.statistics import Weighed
from attn_gui.model.experiment import Experiment
from attn_gui.model.head_scores import PATTERNS, separators
from attn_gui.model.table import Floats


class Patterns:
    """The scores of :data:`attn_gui.model.head_scores.PATTERNS` of one head, gathered block by block."""

    def __init__(self, experiment: Experiment) -> None:
        e = experiment
        self._sums = {pattern.name: 0.0 for pattern in PATTERNS}
        self._queries = dict.fromkeys(self._sums, 0)
        self._crosses = e.variant.is_cross
        keys = e.key_rows  # what is appended is no token
        self._separators = separators(keys)
        numbers = {token: number for number, token in enumerate(dict.fromkeys(keys.tokens))}
        self._tokens = np.array(
            [numbers[token] for token in keys.tokens]
        )  # [n_k of tokens], the same for the same token
        self._repeats = len(numbers) < len(keys)

    def add(self, rows: Weighed) -> None:
        """Take in the rows of a block."""
        p = rows.p[:, : len(self._tokens)]  # [rows, n_k of tokens]
        if self._separators.any():
            self._add("separator", p[:, self._separators].sum(axis=1))
        if self._crosses:
            self._add("first_token", p[:, 0])
            return
        own, last = rows.own, len(self._tokens) - 1
        self._add("first_token", p[own > 0, 0])
        for name, step in (("previous_token", -1), ("same_token", 0), ("next_token", 1)):
            places = own + step
            there = (places >= 0) & (places <= last)
            self._add(name, p[np.flatnonzero(there), places[there]])
        if self._repeats:
            self._add_repeats(p, own)

    def means(self) -> Floats:
        """[len(PATTERNS)]; NaN where no query was to be judged."""
        return np.array([self._sums[n] / self._queries[n] if self._queries[n] else np.nan for n in self._sums])

    def _add_repeats(self, p: Floats, own: NDArray[np.intp]) -> None:
        tokens, places = self._tokens, np.arange(len(self._tokens))
        before = places < own[:, np.newaxis]  # [rows, n_k of tokens]
        duplicates = (tokens == tokens[own][:, np.newaxis]) & before
        self._add_cells("duplicate_token", p, duplicates)
        after = np.zeros_like(duplicates)
        after[:, 1:] = duplicates[:, :-1]
        self._add_cells("induction", p, after & before)

    def _add_cells(self, name: str, p: Floats, cells: NDArray[np.bool_]) -> None:
        some = cells.any(axis=1)
        self._add(name, np.where(cells[some], p[some], 0.0).sum(axis=1))

    def _add(self, name: str, shares: Floats) -> None:
        self._sums[name] += float(shares.sum())
        self._queries[name] += len(shares)
