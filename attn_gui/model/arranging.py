"""Arranging: pictures without the special tokens, or with the pieces of a word in one row and column.

A choice of view: no number of the experiment changes, and what is hidden or merged is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.columns import NO_WORD
from attn_gui.model.experiment import Experiment
from attn_gui.model.pieces import joined_name, special_tokens, words
from attn_gui.model.precision import Precision
from attn_gui.model.sources import AppendedKey, GivenQKV
from attn_gui.model.table import Table
from attn_gui.model.tokens import LONGEST_NAME, TokenSequence
from attn_gui.model.variant import Variant

Places = NDArray[np.intp]

# of a head's matrix, beyond which nothing is arranged: it is worked out whole
MOST_CELLS = 1 << 24
HIDE, MERGE = "hide special tokens", "merge sub-words"


@dataclass(frozen=True)
class Arrangement:
    """What of the tokens is drawn: all of them, or without ``hide_special``, or pieces of a word merged."""

    hide_special: bool = False
    merge_words: bool = False

    @classmethod
    def of_view(cls, view: Mapping[str, Any]) -> Arrangement:
        """What the view choices of a session say, which may come from a file."""
        return cls(view.get(HIDE) is True, view.get(MERGE) is True)

    @property
    def is_plain(self) -> bool:
        return not (self.hide_special or self.merge_words)


PLAIN = Arrangement()


@dataclass(frozen=True, eq=False)
class Axis:
    """The queries, or the keys, as they are drawn.

    names: of what is drawn, m. starts, stops: the tokens that each stands for, [m]. hidden: which are not drawn, [n].
    """

    names: tuple[str, ...]
    starts: Places
    stops: Places
    hidden: NDArray[np.bool_]

    @property
    def counts(self) -> Places:
        """How many tokens each place stands for, [m]."""
        return self.stops - self.starts

    @cached_property
    def places(self) -> Places:
        """Where each token is drawn, [n]; of a hidden one the place of the next that is drawn, or else the last."""
        return np.minimum(np.searchsorted(self.stops, np.arange(len(self.hidden)), side="right"), len(self.starts) - 1)

    def is_drawn(self, token: int) -> bool:
        """Whether there is such a token, and it is not hidden."""
        return token < len(self.hidden) and not self.hidden[token]

    def tokens(self, places: range) -> range:
        """All tokens from the first to the last of ``places``, of which there is one at least."""
        return range(int(self.starts[places.start]), int(self.stops[places.stop - 1]))

    @property
    def is_plain(self) -> bool:
        return len(self.names) == len(self.hidden)


@dataclass(frozen=True, eq=False)
class Arranged:
    """How the matrices of an experiment are drawn. frame: an experiment whose tokens are called as they are drawn.

    arrangement: what makes them so.
    """

    queries: Axis
    keys: Axis
    frame: Experiment
    arrangement: Arrangement

    @cached_property
    def merges(self) -> bool:
        """Whether a place stands for several tokens."""
        return _merges(self.queries, self.keys)

    def is_drawn(self, query: int, key: int) -> bool:
        """Whether a query and a key are, and are not hidden."""
        return self.queries.is_drawn(query) and self.keys.is_drawn(key)

    def merges_at(self, query: int, key: int) -> bool:
        """Whether a query and a key are drawn in a place that stands for several cells."""
        return self.is_drawn(query, key) and any(
            axis.counts[axis.places[token]] > 1 for axis, token in ((self.queries, query), (self.keys, key))
        )


_found: WeakKeyDictionary[Experiment, dict[Arrangement, Arranged | None]] = WeakKeyDictionary()


def arranged(experiment: Experiment, arrangement: Arrangement) -> Arranged | None:
    """How ``experiment`` is drawn; None where every token has its place, as there is nothing to hide or to merge."""
    if arrangement.is_plain or why_not(experiment) is not None:
        return None
    found = _found.setdefault(experiment, {})
    if arrangement not in found:
        found[arrangement] = _arranged(experiment, arrangement)
    return found[arrangement]


def framed(experiment: Experiment, arrangement: Arrangement) -> Experiment:
    """An experiment whose tokens are called as those of ``experiment`` are drawn."""
    found = arranged(experiment, arrangement)
    return experiment if found is None else found.frame


def why_not(experiment: Experiment) -> str | None:
    """Why nothing of ``experiment`` can be hidden or merged, if so."""
    if experiment.n_q * experiment.n_k > MOST_CELLS:
        return "the text is too long"
    if experiment.hidden:
        return "the exercise asks for every token"
    return None


def has_special(experiment: Experiment) -> bool:
    """Whether there are special tokens, and others."""
    return any(0 < marks.sum() < len(marks) for marks in map(special_tokens, (experiment.tokens, experiment.keys)))


def has_pieces(experiment: Experiment) -> bool:
    """Whether a word comes in several pieces."""
    return any(_begins(words(tokens)).sum() < len(tokens) for tokens in (experiment.tokens, experiment.keys))


def _arranged(e: Experiment, arrangement: Arrangement) -> Arranged | None:
    # a word does not go on from the cache to the present, nor to a key that is no token's
    ends = (e.offset, e.n_k - len(e.appended))
    queries, keys = _axis(e.tokens, arrangement, (e.n_q,)), _axis(e.keys, arrangement, ends)
    if queries.is_plain and keys.is_plain:
        return None
    return Arranged(queries, keys, _frame(e, queries, keys, ends), arrangement)


def _axis(tokens: TokenSequence, arrangement: Arrangement, ends: tuple[int, ...]) -> Axis:
    n = len(tokens)
    hidden = np.array(special_tokens(tokens)) if arrangement.hide_special else np.zeros(n, bool)
    if hidden[: ends[-1]].all():  # there would be nothing to see
        hidden[:] = False
    begins = np.ones(n, bool)
    if arrangement.merge_words:
        begins = _begins(words(tokens))
        begins[[end for end in ends if end < n]] = True
    begins |= hidden | np.append(True, hidden[:-1])
    starts = np.flatnonzero(begins)
    stops = np.append(starts[1:], n)
    drawn = ~hidden[starts]
    starts, stops = starts[drawn], stops[drawn]
    merged = arrangement.merge_words
    names = tuple(
        joined_name(tokens.tokens[start:stop])[:LONGEST_NAME] if merged else tokens.tokens[start]
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)
    )
    return Axis(names, starts, stops, hidden)


def _begins(of_words: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where another word begins, [n]."""
    begins = np.ones(len(of_words), bool)
    begins[1:] = (of_words[1:] != of_words[:-1]) | (of_words[1:] == NO_WORD)
    return begins


def _merges(queries: Axis, keys: Axis) -> bool:
    return any(axis.counts.max() > 1 for axis in (queries, keys))


def _frame(e: Experiment, queries: Axis, keys: Axis, ends: tuple[int, int]) -> Experiment:
    first, last = (int(np.searchsorted(keys.starts, end)) for end in ends)
    first = 0 if first == last else first  # of the present keys none is drawn
    appended = tuple(AppendedKey(name, _zeros(1), _zeros(1)) for name in keys.names[last:])
    Q, K = np.zeros((e.heads, len(queries.names), 1)), np.zeros((1, last, 1))
    return Experiment(
        _named(queries.names),
        GivenQKV(Q, K, K),
        Variant.MULTI_HEAD_CROSS if e.heads > 1 else Variant.CROSS,
        e.heads,
        1,
        _named(keys.names[first:last]),
        past=_named(keys.names[:first]) if first else None,
        appended=appended,
        # sums and means of half precision are no numbers of half precision
        precision=Precision.FLOAT32 if e.precision.bytes < 4 and _merges(queries, keys) else e.precision,
    )


def _named(names: tuple[str, ...]) -> TokenSequence:
    return TokenSequence(names, Table.of(np.empty((len(names), 0))))


def _zeros(width: int) -> Table:
    return Table.of(np.zeros((1, width)))
