"""How time and memory of a pass grow with the number of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tests.bench.alone import passes
from tests.bench.report import RATIO, Amount, Case, milliseconds, number

SIZES = (1024, 4096, 16_384, 32_768, 65_536, 131_072)
MIDDLE = 32_768
LIMIT = 1.25


def cases() -> list[Case]:
    each = [Case(f"growth, n {n:,}", f"time per n² at n {MIDDLE:,}", None, partial(measure, n, MIDDLE)) for n in SIZES]
    long = [n for n in SIZES if n >= MIDDLE]
    return [*each, Case(f"growth, time per n² from n {MIDDLE:,} up", "", LIMIT, partial(measure_flatness, long))]


def measure(n: int, middle: int) -> Amount:
    """Time per n² to that of ``middle``, and the memory besides."""
    extra = number(passes(n)[0].extra / 1e6)
    each = number(_per_cell(middle) * 1e9)
    return Amount(
        _per_cell(n) / _per_cell(middle),
        RATIO,
        (f"{milliseconds([_seconds(n)])} ms", f"{each} ns; our extra memory: {extra} MB"),
    )


def measure_flatness(sizes: Sequence[int]) -> Amount:
    """The longest time per n² to the shortest."""
    times = {n: _per_cell(n) for n in sizes}
    told = ", ".join(f"{number(time * 1e9)} ns at {n:,}" for n, time in times.items())
    return Amount(max(times.values()) / min(times.values()), "most to least", ("", told))


def _per_cell(n: int) -> float:
    return _seconds(n) / n**2


def _seconds(n: int) -> float:
    # the fastest: long runs are few, and whatever else the machine does only adds to them
    return min(run.seconds for run in passes(n))
