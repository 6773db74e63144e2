"""Traces of the layers of a session, for what looks at many of them one after another."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator

from attn_gui.compute.budget import needed
from attn_gui.compute.given_matrix import GivenTrace, looked_up
from attn_gui.compute.trace import trace_steps
from attn_gui.model.experiment import Experiment
from attn_gui.model.trace import Trace

# bytes of traces that are kept beside the last
KEPT = 1 << 27


class LayerTraces:
    """Computes the trace of a layer once for as long as it is looked at. For one thread."""

    def __init__(self, device: str, memory: int | None = None, shown: Trace | None = None) -> None:
        """``memory``: as of :func:`attn_gui.compute.trace.trace`. ``shown``: a trace that there is already."""
        self.device = device
        self._memory = memory
        self.shown = shown
        self._kept: OrderedDict[int, Trace] = OrderedDict()

    def of(self, experiment: Experiment) -> Generator[float, None, Trace]:
        """The trace of ``experiment``, in short steps: yields the part done, 0 to 1."""
        N, shown, key = looked_up(experiment), self.shown, experiment.revision
        if N is None and shown is not None and shown.experiment is experiment and shown.device == self.device:
            return shown
        if key not in self._kept:
            if N is not None:
                self._kept[key] = GivenTrace(experiment, N, self.device, self._memory)
            else:
                self._kept[key] = yield from trace_steps(experiment, self.device, self._memory)
            self._forget_oldest()
        self._kept.move_to_end(key)
        return self._kept[key]

    def _forget_oldest(self) -> None:
        sizes = [needed(trace.experiment) for trace in self._kept.values()]
        while len(self._kept) > 1 and sum(sizes) > KEPT:
            self._kept.popitem(last=False)
            del sizes[0]
