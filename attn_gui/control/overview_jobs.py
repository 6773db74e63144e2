"""What the overview has done in the worker, in short steps: pictures and scores of heads, and rollout over layers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from attn_gui.control.worker import Steps
from attn_gui.model.asks import PictureAsk
from attn_gui.model.errors import HiddenStage, TooLarge
from attn_gui.model.experiment import Experiment
from attn_gui.model.picture import Picture
from attn_gui.model.session import NamedExperiment
from attn_gui.model.table import Floats
from attn_gui.model.trace import Head

if TYPE_CHECKING:
    from attn_gui.compute.layer_traces import LayerTraces

# an experiment and one of its heads
Wanted = tuple[Experiment, Head]


@dataclass(frozen=True, eq=False)
class Pictured:
    """A picture of a head of the experiment with this revision; None where it has no such stage, or is too large."""

    revision: int
    head: Head
    picture: Picture | None


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores of a head, [len(HEAD_SCORES)]; all NaN where its weights are hidden, or too large."""

    revision: int
    head: int
    values: Floats


# compute is imported by the jobs themselves: the first paint does not wait for torch


def pictures(traces: LayerTraces, wanted: Sequence[Wanted], ask: PictureAsk) -> Steps:
    """``ask`` answered of each head, as Pictured on the way; those of which more can be seen once more at the end."""
    from attn_gui.compute.answers import answer, refine

    finer: list[Wanted] = []
    for experiment, heads in _by_experiment(wanted):
        try:
            trace = yield from traces.of(experiment)
        except TooLarge:
            for head in heads:
                yield Pictured(experiment.revision, head, None)
            continue
        for head in heads:
            picture = yield from answer(trace, replace(ask, head=head))
            yield Pictured(experiment.revision, head, picture if isinstance(picture, Picture) else None)
            if isinstance(picture, Picture) and picture.finer:
                finer.append((experiment, head))
    for experiment, heads in _by_experiment(finer):
        trace = yield from traces.of(experiment)
        for head in heads:
            better = yield from _numbers_of(refine(trace, replace(ask, head=head)))
            yield Pictured(experiment.revision, head, better)


def scores(traces: LayerTraces, wanted: Sequence[Wanted]) -> Steps:
    """Each head scored, as Scored on the way, and how far it is."""
    from attn_gui.compute.head_scores import no_scores, scores_of_head
    from attn_gui.compute.steps import part_of

    done, size = 0, 1 / len(wanted)
    for experiment, heads in _by_experiment(wanted):
        try:
            trace = yield from part_of(traces.of(experiment), done * size, 0.0)
        except TooLarge:
            trace = None
        for head in heads:
            assert isinstance(head, int)
            found = no_scores()
            if trace is not None:
                with suppress(HiddenStage):  # an exercise keeps the weights to itself
                    found = yield from part_of(scores_of_head(trace, head), done * size, size)
            done += 1
            yield Scored(experiment.revision, head, found)


def rolled_out(traces: LayerTraces, stack: Sequence[NamedExperiment]) -> Steps:
    """The attention rollout over ``stack``, from the lowest layer up, as an experiment of one head of given weights."""
    from attn_gui.compute.head_scores import Rollout
    from attn_gui.compute.steps import part_of

    first, size = stack[0].experiment, 1 / len(stack)
    made = Rollout(first.n_q)
    for done, named in enumerate(stack):
        trace = yield from part_of(traces.of(named.experiment), done * size, 0.0)
        yield from part_of(made.add(trace), done * size, size)
    experiment = replace(Experiment.from_weights(made.values, tokens=first.tokens.tokens), tokens=first.tokens)
    note = (
        f"Attention rollout (Abnar and Zuidema 2020) from {stack[0].name} to {stack[-1].name}: the product over the "
        "layers of 0.5 N + 0.5 I, N the mean over the heads, each row divided by its sum. Cell (i, j) is the part of "
        "input token j in what stands at token i after the last layer, if values were only mixed."
    )
    return NamedExperiment(f"Rollout, {len(stack)} layers", experiment, note)


def _by_experiment(wanted: Iterable[Wanted]) -> list[tuple[Experiment, list[Head]]]:
    """Those of one experiment that follow one another, together."""
    groups = groupby(wanted, key=lambda one: one[0].revision)
    return [(some[0][0], [head for _, head in some]) for some in (list(group) for _, group in groups)]


def _numbers_of(steps: Steps) -> Steps:
    """``steps`` without the results on the way."""
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            return finished.value
        yield 0.0
