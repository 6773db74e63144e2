"""The memory that a pass takes beyond Q, K and V, at its peak, in a process of its own."""

from __future__ import annotations

from functools import partial

from tests.bench.alone import passes
from tests.bench.report import Amount, Case, milliseconds

# megabytes
LIMITS = {32_768: 256.0, 131_072: 600.0}


def cases() -> list[Case]:
    return [
        Case(
            f"memory of a pass, n {n:,}", f"A and N would be {2 * n * n * 4 / 1e6:,.0f} MB", limit, partial(measure, n)
        )
        for n, limit in LIMITS.items()
    ]


def measure(n: int) -> Amount:
    """Of the first pass of its process."""
    first = passes(n)[0]
    return Amount(first.extra / 1e6, "MB", (f"{milliseconds([first.seconds])} ms", ""))
