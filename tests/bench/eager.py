"""A pass against A and N made whole in plain torch, each in a process of its own."""

from __future__ import annotations

from functools import cache

from tests.bench.alone import Alone, Run
from tests.bench.report import RATIO, Amount, Case, Pairs, number

TOKENS = 16_384
TIME_LIMIT, MEMORY_LIMIT = 0.5, 0.05
COUNT = 3
PEER = "A = Q K' scale, N = softmax(A), N V, all whole"


def cases() -> list[Case]:
    return [
        Case(f"against whole A and N, n {TOKENS:,}", PEER, TIME_LIMIT, lambda: measure_time(TOKENS)),
        Case(f"memory against theirs, n {TOKENS:,}", PEER, MEMORY_LIMIT, lambda: measure_memory(TOKENS)),
    ]


def measure_time(n: int) -> Pairs:
    """Of the runs after the first."""
    runs = _runs(n)[1:]
    return Pairs(tuple(ours.seconds for ours, _ in runs), tuple(peer.seconds for _, peer in runs))


def measure_memory(n: int) -> Amount:
    """Of the first run of each process."""
    ours, peer = _runs(n)[0]
    told = f"{number(ours.extra / 1e6)} MB", f"{number(peer.extra / 1e6)} MB"
    return Amount(ours.extra / peer.extra, RATIO, told)


@cache
def _runs(n: int) -> list[tuple[Run, Run]]:
    with Alone("pass", n) as ours, Alone("eager", n) as peer:
        return [(ours.run(), peer.run()) for _ in range(COUNT + 1)]
