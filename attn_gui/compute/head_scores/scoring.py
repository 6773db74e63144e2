"""The scores of a head, gathered over blocks of its rows."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from attn_gui.compute.head_scores.patterns import Patterns
from attn_gui.compute.layer_traces import LayerTraces
from attn_gui.compute.matrix import row_blocks
from attn_gui.compute.statistics import Gathered, weighed
from attn_gui.compute.steps import part_of
from attn_gui.model.experiment import Experiment
from attn_gui.model.head_scores import HEAD_SCORES, HeadScores
from attn_gui.model.table import Floats
from attn_gui.model.trace import Trace


def layer_scores(experiments: Sequence[Experiment], device: str = "cpu") -> Generator[float, None, list[HeadScores]]:
    """The scores of every head of each of ``experiments``; yields the part done, 0 to 1.

    Raises HiddenStage where an experiment hides its weights.
    """
    traces, found, size = LayerTraces(device), [], 1 / len(experiments)
    for done, experiment in enumerate(experiments):
        trace = yield from part_of(traces.of(experiment), done * size, 0.0)
        found.append((yield from part_of(head_scores(trace), done * size, size)))
    return found


def head_scores(trace: Trace) -> Generator[float, None, HeadScores]:
    """The scores of each head, defined in :mod:`attn_gui.model.head_scores`; yields the part done, 0 to 1."""
    heads = trace.experiment.heads
    values = np.full((heads, len(HEAD_SCORES)), np.nan)
    for head in range(heads):
        values[head] = yield from part_of(scores_of_head(trace, head), head / heads, 1 / heads)
    values.flags.writeable = False
    return HeadScores(values)


def scores_of_head(trace: Trace, head: int) -> Generator[float, None, Floats]:
    """The scores of one head, [len(HEAD_SCORES)], in short steps: yields the part done, 0 to 1."""
    e = trace.experiment
    statistics, patterns = Gathered(), Patterns(e)
    for rows in row_blocks((e.n_q, e.n_k)):
        found = weighed(trace, head, rows)
        statistics.add(found, trace)
        patterns.add(found)
        yield rows.stop / e.n_q
    return np.concatenate([statistics.statistics(), patterns.means()])


def no_scores() -> Floats:
    """Of a head whose weights are not to be had, [len(HEAD_SCORES)]: all NaN."""
    return np.full(len(HEAD_SCORES), np.nan)
