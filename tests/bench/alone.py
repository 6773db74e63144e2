"""One computation in a process of its own, and what it takes in seconds and memory (on Linux).

``python -m tests.bench.alone pass N`` and ``... eager N`` answer each line on stdin with "seconds bytes" of one run.
``Alone`` is the other end.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Literal

import torch

from tests.bench.answering import Answering
from tests.bench.given import SIZE, Passes, given, tensors

# a first run is as good as any other from here on
LONG_S = 30.0
AGAIN = 2


@dataclass(frozen=True)
class Run:
    """seconds: of the computation by itself; extra: bytes resident at its peak beyond those that were before it."""

    seconds: float
    extra: int


class Alone(Answering):
    """``pass``: a streamed pass over given Q, K and V of ``n`` tokens; ``eager``: A, N and the output whole."""

    def __init__(self, what: Literal["pass", "eager"], n: int) -> None:
        super().__init__("tests.bench.alone", what, str(n))

    def __enter__(self) -> Alone:
        return self

    def run(self) -> Run:
        """One more run; only the first begins with nothing kept of another."""
        seconds, extra = self.ask("run").split()
        return Run(float(seconds), int(extra))


@cache
def passes(n: int) -> list[Run]:
    """Runs of a pass in one process, the first with nothing warm; a single one where it is long."""
    with Alone("pass", n) as alone:
        runs = [alone.run()]
        while len(runs) <= AGAIN and runs[0].seconds < LONG_S:
            runs.append(alone.run())
    return runs


def eager(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A, N and the output, as one writes them: all whole."""
    with torch.inference_mode():
        A = Q @ K.T * SIZE**-0.5
        N = torch.softmax(A, dim=-1)
        return A, N, N @ V


def run(prepare: Callable[[], object], function: Callable[[], object]) -> Run:
    """One run of ``function`` after ``prepare``, which is not looked at."""
    prepare()
    gc.collect()
    # what was freed would be used again, and not be seen
    ctypes.CDLL(None).malloc_trim(0)
    # the peak begins anew; getrusage's cannot, and a child takes over that of its parent
    Path("/proc/self/clear_refs").write_text("5")
    before = _resident("VmRSS")
    started = perf_counter()
    result = function()
    seconds = perf_counter() - started
    extra = _resident("VmHWM") - before
    del result
    return Run(seconds, extra)


def _resident(which: str) -> int:
    """VmRSS, what is resident now, or VmHWM, the most there was: bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    kilobytes = {name: value.split()[0] for name, _, value in (line.partition(":") for line in lines) if name == which}
    return int(kilobytes[which]) * 1024


def main(what: str, n: int) -> int:
    subject = given(n)
    prepare: Callable[[], object]
    function: Callable[[], object]
    if what == "pass":
        passing = Passes(subject)
        prepare, function = passing.prepare, passing
    else:
        Q, K, V = tensors(subject)
        prepare, function = (lambda: None), (lambda: eager(Q, K, V))
    for _ in sys.stdin:
        done = run(prepare, function)
        print(done.seconds, done.extra, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
