"""Session: what a .attn file stores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from attn_gui.model.errors import ExperimentError
from attn_gui.model.exercise import Exercise
from attn_gui.model.experiment import Experiment
from attn_gui.model.tokens import LONGEST_NAME


@dataclass(frozen=True, eq=False)
class NamedExperiment:
    """An experiment with the name and the note that a person reads.

    focus: (head, query, key) that the note speaks of, which is selected when the experiment is opened.
    exercise: what is asked of the experiment, which hides what that says, and nothing without one.
    """

    name: str
    experiment: Experiment
    note: str = ""
    focus: tuple[int, int, int] | None = None
    exercise: Exercise | None = None

    def __post_init__(self) -> None:
        hidden: frozenset[str] = frozenset() if self.exercise is None else self.exercise.hidden
        if hidden != self.experiment.hidden:
            object.__setattr__(self, "experiment", replace(self.experiment, hidden=hidden))
        if len(self.name) > LONGEST_NAME:
            raise ExperimentError("name", f"at most {LONGEST_NAME:,} characters", f"{len(self.name):,}")
        e = self.experiment
        if not _lies_within(self.focus, e):
            places = f"a head, a query and a key of {e.heads} x {e.n_q} x {e.n_k}"
            raise ExperimentError("focus", places, str(self.focus))


@dataclass(frozen=True, eq=False)
class Session:
    """Named experiments, which of them is current, and view choices worth keeping (plain JSON values by name)."""

    experiments: tuple[NamedExperiment, ...]
    current: int = 0
    view: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.experiments:
            raise ExperimentError("session", "at least 1 experiment", "none")
        if not 0 <= self.current < len(self.experiments):
            raise ExperimentError("current", f"0 to {len(self.experiments) - 1}", str(self.current))

    @property
    def named(self) -> NamedExperiment:
        return self.experiments[self.current]

    @property
    def experiment(self) -> Experiment:
        return self.named.experiment

    def with_current(self, named: NamedExperiment) -> Session:
        """With the current experiment replaced."""
        experiments = list(self.experiments)
        experiments[self.current] = named
        return replace(self, experiments=tuple(experiments))

    def with_experiment(self, experiment: Experiment) -> Session:
        """With the current experiment's value replaced and its name and note kept."""
        named = self.named
        focus = named.focus if _lies_within(named.focus, experiment) else None
        return self.with_current(replace(named, experiment=experiment, focus=focus))

    def same_work(self, other: Session) -> bool:
        """Whether the two differ at most in what is looked at."""
        return self.experiments is other.experiments and self.current == other.current

    def arrays(self) -> Iterator[np.ndarray[Any, Any]]:
        """Every array that the value holds, for accounting of memory."""
        for named in self.experiments:
            yield from named.experiment.arrays()


def _lies_within(focus: tuple[int, int, int] | None, experiment: Experiment) -> bool:
    counts = (experiment.heads, experiment.n_q, experiment.n_k)
    return focus is None or all(0 <= place < count for place, count in zip(focus, counts, strict=True))
