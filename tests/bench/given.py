"""Long sequences: queries, keys and values that are given, one head of 64 numbers, and passes over them."""

from __future__ import annotations

import numpy as np
import torch

from attn_gui.compute.stream.trace import StreamedTrace
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, MaskRule

SIZE = 64


def given(n: int, *, causal: bool = False) -> Experiment:
    """Random Q, K and V of ``n`` tokens, of numbers that float32 holds."""
    random = np.random.default_rng(0)
    Q, K, V = (random.standard_normal((1, n, SIZE), dtype=np.float32) for _ in range(3))
    return Experiment.from_qkv(Q, K, V, rule=Causal() if causal else MaskRule())


class Passes:
    """Passes over all rows, each of a trace of its own; ``prepare`` makes it beforehand."""

    def __init__(self, of: Experiment, device: str = "cpu") -> None:
        self._of, self._device = of, device
        self.trace: StreamedTrace | None = None

    def prepare(self) -> None:
        self.trace = None  # two at once would need twice the memory
        self.trace = StreamedTrace(self._of, self._device)
        finished(self._device)

    def __call__(self) -> None:
        assert self.trace is not None
        for _ in self.trace.passes([0]):
            pass
        finished(self._device)


def tensors(of: Experiment, device: str = "cpu") -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The same Q, K and V, [n, SIZE] each, float32."""
    with torch.inference_mode():
        trace = StreamedTrace(of, device)
        Q, K, V = (torch.tensor(trace.stage(name, 0), device=device) for name in "QKV")
    return Q, K, V


def finished(device: str) -> None:
    """A card works on after it has been told what to do."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)
