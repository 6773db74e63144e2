"""Diagnosis: which convention somebody else's numbers follow, and where they leave it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any

from attn_gui.model.stages import STAGES

LINE = 100


@dataclass(frozen=True)
class Choice:
    """One way of doing one thing, by the ``dimension`` it belongs to and its ``name`` within that.

    title: what it is called in a list; meaning: a sentence; written: how it stands in code that people know.
    value: what it sets, where that is a number or a part (a scale, a Rotary, a Normaliser, a Precision).
    """

    dimension: str
    name: str
    title: str
    meaning: str
    written: str
    value: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class Convention:
    """Where a computation differs from the one asked about, in the order of the computation; nowhere: it is that one.

    The one asked about is the experiment's own: for given Q, K and V, ``softmax(Q Kᵀ / √d_k) V`` under the given mask.
    """

    choices: tuple[Choice, ...] = ()

    @property
    def title(self) -> str:
        return ", ".join(choice.title for choice in self.choices) or "the standard, with nothing changed"

    def choice(self, dimension: str) -> Choice | None:
        """What is chosen in ``dimension``, None where that is the standard."""
        return next((choice for choice in self.choices if choice.dimension == dimension), None)


@dataclass(frozen=True)
class Departure:
    """The first cell that departs, in the order of stages, heads, rows and columns; places count from 0.

    stage: a name of :data:`attn_gui.model.stages.STAGES`. head: None in a mean over heads and after W_O. query and key:
    the place, None where the stage has no such axis. dimension: the column of a stage that is not n_q x n_k.
    found: the other program's number, as rebuilt where only a later stage of it is known. expected: the number that it
    is held against.
    """

    stage: str
    head: int | None
    query: int | None
    key: int | None
    dimension: int | None
    found: float
    expected: float

    @property
    def place(self) -> str:
        """Where it is, counted from 1: ``weights, head 1, query 2, key 3``."""
        parts = (("head", self.head), ("query", self.query), ("key", self.key), ("dimension", self.dimension))
        counted = [f"{name} {index + 1}" for name, index in parts if index is not None]
        return ", ".join([STAGES[self.stage].what, *counted])

    @property
    def sentence(self) -> str:
        return f"{self.place}: {self.found:.9g} where {self.expected:.9g} was expected"


@dataclass(frozen=True)
class Miss:
    """A convention that does not reproduce the numbers, and how far it gets.

    difference: the largest in the first stage that departs (inf for NaN against a number); departing of ``cells``
    cells of that stage are beyond the tolerance.
    """

    convention: Convention
    difference: float
    departing: int
    cells: int
    departure: Departure

    @property
    def label(self) -> str:
        """What it is called before its name: where most cells depart, no finding."""
        return "Nothing is near. Least far" if 2 * self.departing > self.cells else "Nearest"

    @property
    def sentence(self) -> str:
        departs = "departs" if self.departing == 1 else "depart"
        count = f"{self.departing:,} of {self.cells:,} cells {departs}, by up to {self.difference:.3g}"
        return f"First departs at {self.departure.sentence}; {count}."


@dataclass(frozen=True)
class Diagnosis:
    """What was found.

    asked: the stages that were given, as ``scores``, ``weights`` and ``output``. matches: the conventions that
    reproduce every cell, those closest to the standard first. departure: where the standard first departs from the
    first match, None where it is the match or there is none. nearest: the nearest miss, where nothing matches.
    tried: how many conventions were computed. notes: what the numbers cannot tell, and how they were compared.
    """

    asked: tuple[str, ...]
    matches: tuple[Convention, ...]
    departure: Departure | None
    nearest: Miss | None
    tried: int
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The result in one sentence."""
        what = " and ".join([", ".join(self.asked[:-1]), self.asked[-1]] if len(self.asked) > 1 else self.asked)
        tried = f"{self.tried:,} tried" if self.tried > 1 else "the first that was tried"
        if not self.matches:
            return f"No convention reproduces the {what} ({tried})."
        if len(self.matches) == 1:
            return f"One convention reproduces the {what} ({tried})."
        return f"{len(self.matches)} conventions reproduce the {what} ({tried})."

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield self.headline
        for number, match in enumerate(self.matches, start=1):
            yield f"{number}. {match.title}"
            yield from _described(match)
        if self.departure is not None:
            yield from _wrapped(f"The standard first departs at {self.departure.sentence}.")
        if self.nearest is not None:
            yield f"{self.nearest.label}: {self.nearest.convention.title}"
            yield from _described(self.nearest.convention)
            yield from _wrapped(self.nearest.sentence)
        for note in self.notes:
            yield from _wrapped(note, "- ")


def _described(convention: Convention) -> Iterator[str]:
    for choice in convention.choices:
        yield from _wrapped(choice.meaning, "   ")
        if choice.written:
            yield f"   as in: {choice.written}"


def _wrapped(text: str, start: str = "") -> Iterator[str]:
    yield from fill(text, LINE, initial_indent=start, subsequent_indent=" " * len(start)).splitlines()
