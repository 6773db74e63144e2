"""Intervention: what is changed inside a model while it runs on texts, and what comes out of it before and after."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.given import Given
from attn_gui.model.masks import MaskRule
from attn_gui.model.scoring import SMALLEST
from attn_gui.model.session import Session
from attn_gui.model.sources import GivenQKV

Replacement = Literal["mean", "even", "shown"]


@dataclass(frozen=True)
class Site:
    """A place where a model attends: the name of a module, and which of its runs in one forward pass, from 0."""

    module: str
    run: int = 0


@dataclass(frozen=True)
class SwitchOff:
    """The head gives zeros to every token: its slice of what W_O multiplies is 0."""


@dataclass(frozen=True)
class ReplaceBy:
    """The head gives something else in place of N V.

    by: "mean": to every token the mean of what it gives to the tokens of the text (mean ablation); "even": the mean
    of the values that a query may attend to, as if all its scores were alike; "shown": what ``experiment``, the one
    in the window, gives, so that every edit made there is tried in the model.
    """

    by: Replacement
    experiment: Experiment | None = None

    def __post_init__(self) -> None:
        if (self.by == "shown") is not (self.experiment is not None):
            raise ExperimentError("experiment", "one where what is shown replaces a head, else none", self.by)


@dataclass(frozen=True)
class Forbid:
    """Query ``query`` may not attend to key ``key``, both counted from 0 along the text's own row."""

    query: int
    key: int


@dataclass(frozen=True)
class ChangeMask:
    """``rule`` in place of the model's own mask. Keys that no query could attend to (padding) stay masked."""

    rule: MaskRule


@dataclass(frozen=True)
class ChangeTemperature:
    """The scale is divided by ``temperature``, as :class:`~attn_gui.model.scoring.Scoring` has it; 1 changes nothing.

    Raises ExperimentError unless it is a finite number of at least SMALLEST.
    """

    temperature: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature >= SMALLEST):
            raise ExperimentError("temperature", f"a finite number, {SMALLEST:g} or more", f"{self.temperature:g}")


Change = SwitchOff | ReplaceBy | Forbid | ChangeMask | ChangeTemperature


@dataclass(frozen=True)
class Action:
    """One change: where, in which heads (from 0, None for all), and in which text of the batch (None for all)."""

    sites: tuple[Site, ...]
    change: Change
    heads: tuple[int, ...] | None = None
    text: int | None = None


@dataclass(frozen=True, eq=False)
class Witness:
    """What tells a captured model from others: the queries Q of one site and text, [heads, n_q, d_k]."""

    site: Site
    text: int
    Q: Given


@dataclass(frozen=True, eq=False)
class TokenOdds:
    """What a model holds likely at one place of a text, before and after an intervention.

    place, at: the token after which (of a masked language model: at which) it guesses, and its name. tokens, ids: the
    likeliest of either run, by the larger of both. before, after: their probabilities, float64 [tokens]. divergence:
    of all tokens of the vocabulary, KL(before || after) = sum p ln(p / q) in nats (Kullback and Leibler, 1951).
    """

    place: int
    at: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    divergence: float


@dataclass(frozen=True, eq=False)
class Guesses:
    """Of a model with a language head: the odds at every place of each text. masked: it guesses the token at a place,
    not the one after it."""

    texts: tuple[tuple[TokenOdds, ...], ...]
    masked: bool


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Of an encoder: pooled embeddings of the texts, by their cosines, float64.

    pooling: "mean" over the tokens that are not padding, or "first" token. moved: of each text, the cosine of its
    embedding before and after, [texts]. before, after: of every two texts, [texts, texts].
    """

    pooling: Literal["mean", "first"]
    moved: NDArray[np.float64]
    before: NDArray[np.float64]
    after: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came out with ``actions`` in force; ``same``: every number of the output is the same as without."""

    actions: tuple[Action, ...]
    result: Guesses | Embeddings
    same: bool


def cosines(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
    """cos(a_i, b_j) = a_i . b_j / (|a_i| |b_j|) in float64: [n, d] and [m, d] to [n, m]; 0 for a vector of zeros."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    lengths = np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=1)[None, :]
    found: NDArray[np.float64] = np.divide(a @ b.T, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return found


def site_of(session: Session, index: int) -> Site | None:
    """Where the experiment at ``index`` of a captured session attends; None where it is not of a model's module.

    Layers that share a module are its runs, in their order.
    """
    place = session.experiments[index].place
    if place is None or not place.module:
        return None
    sharing = {
        other.place.layer
        for other in session.experiments
        if other.place is not None and other.place.module == place.module and other.place.layer < place.layer
    }
    return Site(place.module, len(sharing))


def experiment_at(session: Session, site: Site, text: int) -> int | None:
    """Which experiment of the session is of ``site`` and of the text ``text`` of the batch; None where none is."""
    for index, named in enumerate(session.experiments):
        batch = 0 if named.place is None or named.place.batch is None else named.place.batch
        if batch == text and site_of(session, index) == site:
            return index
    return None


def witness_of(session: Session) -> Witness | None:
    """Of a captured session; None where nothing is as it was captured."""
    for index, named in enumerate(session.experiments):
        site = site_of(session, index)
        if site is not None and named.original is not None and isinstance(named.original.source, GivenQKV):
            batch = 0 if named.place is None or named.place.batch is None else named.place.batch
            return Witness(site, batch, named.original.source.Q)
    return None
