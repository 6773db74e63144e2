"""trace: an Experiment in, its stages out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute import budget
from attn_gui.compute.dense import DenseStages
from attn_gui.compute.matrix import DenseMatrix
from attn_gui.compute.numbers import to_numpy
from attn_gui.compute.sealed import SealedTrace
from attn_gui.compute.stream.trace import StreamedTrace
from attn_gui.compute.threads import threads_for
from attn_gui.model.experiment import Experiment
from attn_gui.model.stage_shape import check_stage, square_key
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import ALL, Head, Trace


def trace(experiment: Experiment, device: str = "cpu", memory: int | None = None) -> Trace:
    """Compute ``experiment`` on ``device`` (``cpu``, ``cuda:0``, ``mps``).

    A and N are held whole where they fit in ``memory`` bytes (None: a quarter of what is free, and at most
    :data:`~attn_gui.compute.budget.MOST`); otherwise they are computed block by block as they are asked for. Raises
    TooLarge where not even the rest would fit, and torch's OutOfMemoryError where the device says so later; nothing is
    kept in either case.
    """
    steps = trace_steps(experiment, device, memory)
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            result: Trace = finished.value
            return result


def trace_steps(
    experiment: Experiment, device: str = "cpu", memory: int | None = None
) -> Generator[float, None, Trace]:
    """As :func:`trace`, in short steps: yields the part done, 0 to 1, and returns the trace.

    What is computed block by block is only begun: :meth:`Trace.passes` does the rest. What the experiment hides the
    trace refuses.
    """
    if experiment.hidden:
        whole = yield from trace_steps(replace(experiment, hidden=frozenset()), device, memory)
        return SealedTrace(whole, experiment)
    if not budget.holds(experiment, torch.device(device), memory):
        yield 0.0
        return StreamedTrace(experiment, device)
    # entered anew around each step: between steps the worker serves other jobs on the same thread
    with torch.inference_mode(), threads_for(experiment):
        stages = DenseStages(experiment, device)
    for done, (heads, rows) in enumerate(stages.blocks, start=1):
        with torch.inference_mode(), threads_for(experiment):
            stages.compute_block(heads, rows)
        yield done / len(stages.blocks)
    with torch.inference_mode(), threads_for(experiment):
        stages.finish()
    return DenseTrace(stages, device)


class DenseTrace:
    """A trace whose A and N exist whole. Its arrays are read-only."""

    def __init__(self, stages: DenseStages, device: str) -> None:
        self.experiment = stages.experiment
        self.device = device
        # matrices hold the stages and not the trace: in a circle, gigabytes would wait for the garbage collector
        self._stages = stages
        self._matrices: dict[tuple[str, Head], DenseMatrix] = {}
        self._row_sums: NDArray[np.float64] = stages.row_sums  # [heads, n_q]
        self._row_sums.flags.writeable = False

    def part(self, head: Head | None = None) -> float:
        return 1.0

    def passes(self, first: Sequence[Head] = ()) -> Generator[float, None, None]:
        yield from ()

    def empty_rows(self, head: Head) -> NDArray[np.bool_]:
        empty = np.zeros(self.experiment.n_q, bool)
        matrix = self.matrix("N", head)
        for i in np.flatnonzero(self.row_sums(head) == 0):
            empty[i] = not matrix.allowed(slice(i, i + 1), slice(0, matrix.shape[1])).any()
        return empty

    def row_sums(self, head: Head, rows: slice = ALL) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = self._row_sums.mean(axis=0) if head == "mean" else self._row_sums[head]
        return sums[rows]

    def stage(self, name: str, head: int | None = None) -> NDArray[Any]:
        check_stage(self.experiment, name)
        stage = STAGES[name]
        with torch.inference_mode():
            if not stage.per_head:
                return to_numpy(self._stages.whole(name))
            heads = range(self.experiment.heads) if head is None else [range(self.experiment.heads)[head]]
            every = slice(0, self.experiment.n_q)
            if stage.square:
                keys = slice(0, self.experiment.n_k)
                parts = [self.matrix(name, h).block(every, keys) for h in heads]
            else:
                parts = [to_numpy(self._stages.of_head(name, h)) for h in heads]
        return np.stack(parts) if head is None else parts[0]

    def matrix(self, name: str, head: Head) -> DenseMatrix:
        name, head = key = square_key(self.experiment, name, head)
        if key not in self._matrices:
            shape = (self.experiment.n_q, self.experiment.n_k)
            masked = -np.inf if name == "A_masked" else None
            read: Callable[[slice], torch.Tensor] = (
                partial(self._stages.mean_rows, name) if head == "mean" else partial(self._stages.rows, name, head)
            )
            mask = self._stages.mask
            allowed = None if mask.everything else partial(mask.of_head, head)
            self._matrices[key] = DenseMatrix(shape, read, allowed, masked)
        return self._matrices[key]
