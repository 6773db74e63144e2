"""trace: an Experiment in, its stages out."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute.dense import DenseStages
from attn_gui.compute.matrix import DenseMatrix
from attn_gui.compute.numbers import to_numpy
from attn_gui.compute.threads import threads_for
from attn_gui.model.experiment import Experiment
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head, Trace


def trace(experiment: Experiment, device: str = "cpu") -> Trace:
    """Compute ``experiment`` on ``device`` (``cpu``, ``cuda:0``, ``mps``).

    Raises TooLarge where the stages would not fit in memory, and torch's OutOfMemoryError where the device says so
    later; nothing is kept in either case.
    """
    steps = trace_steps(experiment, device)
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            result: DenseTrace = finished.value
            return result


def trace_steps(experiment: Experiment, device: str = "cpu") -> Generator[float, None, DenseTrace]:
    """As :func:`trace`, in short steps: yields the part done, 0 to 1, and returns the trace."""
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

    def row_sums(self, head: Head) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = self._row_sums.mean(axis=0) if head == "mean" else self._row_sums[head]
        return sums

    def stage(self, name: str, head: int | None = None) -> NDArray[Any]:
        self._check(name)
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
        if name not in STAGES or not STAGES[name].square:
            names = ", ".join(stage.name for stage in STAGES.values() if stage.square)
            raise KeyError(f"{name!r} is no stage of queries x keys; these are {names}")
        self._check(name)
        if head != "mean":
            head = range(self.experiment.heads)[head]
        key = (name, head)
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

    def _check(self, name: str) -> None:
        if name not in (names := stages_of(self.experiment)):
            raise KeyError(f"{name!r} is no stage of this experiment, which has {', '.join(names)}")
