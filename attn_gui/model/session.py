"""Session: what a .attn file stores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from attn_gui.model.captured import CapturedModel
from attn_gui.model.counted import counted
from attn_gui.model.errors import ExperimentError
from attn_gui.model.exercise import Exercise
from attn_gui.model.experiment import Experiment
from attn_gui.model.given import Given
from attn_gui.model.layer_place import LayerPlace
from attn_gui.model.origin import Origin
from attn_gui.model.sources import FromTokens
from attn_gui.model.tokens import LONGEST_NAME

# stands for all arrays that an experiment has when it gets its origin
_ALL: Mapping[str, Given] = {}


# view choices that are work, which would be missed
CHECKED, INTERVENED = BESIDE = "check", "intervention"


@dataclass(frozen=True, eq=False)
class NamedExperiment:
    """An experiment with the name and the note that a person reads.

    focus: (head, query, key) that the note speaks of, which is selected when the experiment is opened.
    exercise: what is asked of the experiment, which hides what that says, and nothing without one.
    place: where in a model or a file of many layers it stands.
    original: what it is compared with: the experiment as it was captured, or with what the file stores besides.
    origin: the file that arrays come from; a session then stores where they lie and not the arrays themselves.
    opened: by their parts, the arrays that were found there, which those of an edited experiment may be no more. To
    begin with those of the experiment and of its original.
    """

    name: str
    experiment: Experiment
    note: str = ""
    focus: tuple[int, int, int] | None = None
    exercise: Exercise | None = None
    place: LayerPlace | None = None
    original: Experiment | None = None
    origin: Origin | None = None
    opened: Mapping[str, Given] = field(default_factory=lambda: _ALL, repr=False)

    def __post_init__(self) -> None:
        if self.origin is None:
            object.__setattr__(self, "opened", {})
        elif self.opened is _ALL:
            object.__setattr__(self, "opened", given_parts(self.original) | given_parts(self.experiment))
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
    """Named experiments, which of them is current, and view choices worth keeping (plain JSON values by name).

    model: what the experiments were captured from, where they were.
    """

    experiments: tuple[NamedExperiment, ...]
    current: int = 0
    view: Mapping[str, Any] = field(default_factory=dict)
    model: CapturedModel | None = None

    def __post_init__(self) -> None:
        if not self.experiments:
            raise ExperimentError("session", "at least 1 experiment", "none")
        if not 0 <= self.current < len(self.experiments):
            raise ExperimentError("current", f"0 to {len(self.experiments) - 1}", str(self.current))

    def __repr__(self) -> str:
        """One line, for a notebook shows what a cell ends with."""
        first, last = (self.experiments[place].name for place in (0, -1))
        names = f"{first} … {last}" if len(self.experiments) > 1 else first
        return f"<Session of {counted(len(self.experiments), 'experiment')}: {names}>"

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
        return self.experiments is other.experiments and self._beside() == other._beside()

    def _beside(self) -> Any:
        """What a person has done beside the experiments, among the view choices: tables to check, interventions."""
        tables = self.view.get(CHECKED)
        own = {n.name: tables.get(n.name) for n in self.experiments} if isinstance(tables, dict) else {}
        return {name: table for name, table in own.items() if table}, self.view.get(INTERVENED) or None

    def arrays(self) -> Iterator[np.ndarray[Any, Any]]:
        """Every array that the value holds, for accounting of memory."""
        for named in self.experiments:
            yield from named.experiment.arrays()
            if named.original is not None:
                yield from named.original.arrays()


def given_parts(experiment: Experiment | None) -> dict[str, Given]:
    """What was given of ``experiment``, by its name; nothing of one whose tokens are projected."""
    if experiment is None or isinstance(experiment.source, FromTokens):
        return {}
    return experiment.source.parts()


def _lies_within(focus: tuple[int, int, int] | None, experiment: Experiment) -> bool:
    counts = (experiment.heads, experiment.n_q, experiment.n_k)
    return focus is None or all(0 <= place < count for place, count in zip(focus, counts, strict=True))
