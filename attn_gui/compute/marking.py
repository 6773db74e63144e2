"""Marking: the answers of an exercise against what its experiment comes to."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from attn_gui.compute.check import check_steps
from attn_gui.compute.trace import trace_steps
from attn_gui.model.check import Checked
from attn_gui.model.exercise import Exercise
from attn_gui.model.experiment import Experiment
from attn_gui.model.marks import Mark, marks_of

Found = tuple[tuple[Mark, ...], tuple[Checked, ...]]


def mark(exercise: Exercise, experiment: Experiment, device: str = "cpu") -> Found:
    """A mark for each stage that is asked of ``experiment``, and the verdicts on each of its tables."""
    steps = mark_steps(exercise, experiment, device)
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            found: Found = finished.value
            return found


def mark_steps(exercise: Exercise, experiment: Experiment, device: str) -> Generator[float, None, Found]:
    """As :func:`mark`, in short steps: yields the part done, 0 to 1."""
    trace = yield from trace_steps(replace(experiment, hidden=frozenset()), device)
    results = yield from check_steps(trace, exercise.tables(experiment))
    return marks_of(exercise, experiment, results), results
