"""A full streamed pass against scaled_dot_product_attention alone: ``python -m tests.bench.stream --device cuda``.

Needs neither Qt nor pyqtgraph.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial

import torch
from torch.nn.functional import scaled_dot_product_attention

from tests.bench.given import Passes, finished, given, tensors
from tests.bench.report import Case, Pairs, hold_threads, run
from tests.bench.subject import alternate

LIMITS = {4096: 2.2, 16_384: 2.2, 32_768: 1.5}
COUNT = 5
BUDGET_S = 30.0
PEER = "torch.nn.functional.scaled_dot_product_attention"


def cases(device: str = "cpu") -> list[Case]:
    plain = [Case(f"stream, n {n:,}", PEER, limit, partial(measure, n, device=device)) for n, limit in LIMITS.items()]
    causal = [
        Case(f"stream, causal, n {n:,}", f"{PEER}(is_causal=True)", limit, partial(measure, n, True, device))
        for n, limit in LIMITS.items()
    ]
    return [*plain, *causal]


def measure(n: int, causal: bool = False, device: str = "cpu", count: int = COUNT) -> Pairs:
    """Output, row states and the overviews of A and N against the output alone, from the same Q, K and V."""
    subject = given(n, causal=causal)
    passes, peer = Passes(subject, device), Attention(tensors(subject, device), causal, device)
    return alternate(passes, peer, count, BUDGET_S, passes.prepare)


class Attention:
    """The peer: the output of one head, [n, d_v]."""

    def __init__(self, given: Sequence[torch.Tensor], causal: bool, device: str) -> None:
        # with fewer axes torch takes a slower way
        self._Q, self._K, self._V = (part[None, None] for part in given)  # [1, 1, n, size]
        self._causal, self._device = causal, device

    def __call__(self) -> torch.Tensor:
        with torch.inference_mode():
            output = scaled_dot_product_attention(self._Q, self._K, self._V, is_causal=self._causal)
        finished(self._device)
        return output[0, 0]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.stream", description=__doc__)
    parser.add_argument("--device", default="cpu", help="cpu or cuda; cpu if not given")
    device = parser.parse_args(arguments).device
    if device.startswith("cuda") and not torch.cuda.is_available():
        parser.error(f"torch {torch.__version__} finds no CUDA device here")
    return run(cases(device), device)


if __name__ == "__main__":
    hold_threads()
    sys.exit(main(sys.argv[1:]))
