"""What a benchmark found: the table, bench.json, and whether every limit holds."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

FILE = "bench.json"


@dataclass(frozen=True)
class Pairs:
    """Seconds that we and the peer took, in the order of measurement: ours, peer, ours, peer, ..."""

    ours: tuple[float, ...]
    peer: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """The median of each of our times to the peer's next to it, which the machine's slow phases leave alone."""
        return median(a / b for a, b in zip(self.ours, self.peer, strict=True))


@dataclass(frozen=True)
class Case:
    """One line of the table; ``limit`` is the largest ratio allowed, None where there is only something to report."""

    name: str
    peer: str
    limit: float | None
    measure: Callable[[], Pairs]


@dataclass(frozen=True)
class Figure:
    """What a case came to."""

    case: Case
    pairs: Pairs

    @property
    def holds(self) -> bool | None:
        """Whether the limit does; None without one."""
        return None if self.case.limit is None else self.pairs.ratio <= self.case.limit

    def plain(self) -> dict[str, str | float | bool | None]:
        """As bench.json has it: ``value`` is our time divided by the peer's."""
        return {
            "name": self.case.name,
            "value": round(self.pairs.ratio, 4),
            "unit": "ratio to peer",
            "peer": f"{self.case.peer}: {milliseconds(self.pairs.peer)} ms",
            "limit": self.case.limit,
            "holds": self.holds,
        }


def milliseconds(seconds: Sequence[float]) -> str:
    """Their median, to three digits."""
    middle = median(seconds) * 1000
    return f"{middle:.3g}" if middle < 100 else f"{middle:,.0f}"


def machine() -> str:
    """Threads, torch and processor, which the figures depend on."""
    import torch

    capability = torch.backends.cpu.get_cpu_capability()
    return (
        f"{torch.get_num_threads()} torch threads of {os.cpu_count()} cores, torch {torch.__version__} ({capability}), "
        f"{_processor()}, {platform.platform()}"
    )


def header() -> str:
    return _line("name", "value", "unit", "ours", "peer", "limit", "holds")


def line(figure: Figure) -> str:
    """The figure's line of the table."""
    plain = figure.plain()
    limit = "-" if figure.case.limit is None else f"{figure.case.limit:g}"
    holds = {True: "yes", False: "NO", None: "-"}[figure.holds]
    ours = f"{milliseconds(figure.pairs.ours)} ms"
    return _line(figure.case.name, f"{plain['value']:.3g}", str(plain["unit"]), ours, str(plain["peer"]), limit, holds)


def _line(name: str, value: str, unit: str, ours: str, peer: str, limit: str, holds: str) -> str:
    return f"{name:<40} {value:>7} {unit:<13} {ours:>10}  {peer:<76} {limit:>5} {holds:>5}"


def write(figures: Sequence[Figure], path: Path) -> None:
    path.write_text(json.dumps([figure.plain() for figure in figures], indent=1) + "\n", encoding="utf-8")


def _processor() -> str:
    # platform.processor() is empty on many Linux systems
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [text.partition(":")[2].strip() for text in lines if text.startswith("model name")]
    return models[0] if models else platform.machine()
