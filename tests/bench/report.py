"""What a benchmark found: the table, bench.json, and whether every limit holds."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import ClassVar, Protocol

FILE = "bench.json"
RATIO = "ratio to peer"
# the figures of the programme are those of two
THREADS = 2


class Measured(Protocol):
    """What a case came to: ``value``, which its limit is for, in ``unit``."""

    @property
    def value(self) -> float: ...

    @property
    def unit(self) -> str: ...

    @property
    def told(self) -> tuple[str, str]:
        """Our side and the peer's, in words; either may be empty."""
        ...


@dataclass(frozen=True)
class Pairs:
    """Seconds that we and the peer took, in the order of measurement: ours, peer, ours, peer, ..."""

    unit: ClassVar[str] = RATIO
    ours: tuple[float, ...]
    peer: tuple[float, ...]

    @property
    def value(self) -> float:
        """The median of each of our times to the peer's next to it, which the machine's slow phases leave alone."""
        return median(a / b for a, b in zip(self.ours, self.peer, strict=True))

    @property
    def told(self) -> tuple[str, str]:
        return f"{milliseconds(self.ours)} ms", f"{milliseconds(self.peer)} ms"


@dataclass(frozen=True)
class Amount:
    """A figure of any other kind."""

    value: float
    unit: str
    told: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Case:
    """One line of the table; ``limit`` is the largest value allowed, None where there is only something to report.

    peer: what our side stands against.
    """

    name: str
    peer: str
    limit: float | None
    measure: Callable[[], Measured]


@dataclass(frozen=True)
class Figure:
    """What a case came to."""

    case: Case
    measured: Measured

    @property
    def holds(self) -> bool | None:
        """Whether the limit does; None without one."""
        return None if self.case.limit is None else self.measured.value <= self.case.limit

    def plain(self) -> dict[str, str | float | bool | None]:
        """As bench.json has it: for a ratio ``value`` is our time divided by the peer's."""
        return {
            "name": self.case.name,
            "value": round(self.measured.value, 4),
            "unit": self.measured.unit,
            "peer": ": ".join(part for part in (self.case.peer, self.measured.told[1]) if part),
            "limit": self.case.limit,
            "holds": self.holds,
        }


def number(value: float) -> str:
    """Three digits, or all of those before the point."""
    return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"


def milliseconds(seconds: Sequence[float]) -> str:
    """Their median."""
    return number(median(seconds) * 1000)


def hold_threads() -> None:
    """Have torch compute in THREADS threads, here and in processes begun from now on."""
    import torch

    os.environ["OMP_NUM_THREADS"] = str(THREADS)
    torch.set_num_threads(THREADS)


def run(cases: Sequence[Case], device: str = "cpu") -> int:
    """Measure ``cases``, print the table and write FILE into the current folder; 1 if a limit does not hold, else 0."""
    print(machine(device), header(), sep="\n", flush=True)
    figures = []
    for case in cases:
        figures.append(Figure(case, case.measure()))
        print(line(figures[-1]), flush=True)
    write(figures, Path(FILE))
    return 1 if any(figure.holds is False for figure in figures) else 0


def machine(device: str = "cpu") -> str:
    """Threads, torch and processor, which the figures depend on; and the card, where ``device`` is one."""
    import torch

    capability = torch.backends.cpu.get_cpu_capability()
    card = f"{torch.cuda.get_device_name(device)}, " if torch.device(device).type == "cuda" else ""
    return (
        f"{torch.get_num_threads()} torch threads of {os.cpu_count()} cores, torch {torch.__version__} ({capability}), "
        f"{card}{_processor()}, {platform.platform()}"
    )


def header() -> str:
    return _line("name", "value", "unit", "ours", "peer", "limit", "holds")


def line(figure: Figure) -> str:
    """The figure's line of the table."""
    plain = figure.plain()
    limit = "-" if figure.case.limit is None else f"{figure.case.limit:g}"
    holds = {True: "yes", False: "NO", None: "-"}[figure.holds]
    ours = figure.measured.told[0] or "-"
    return _line(
        figure.case.name,
        number(figure.measured.value),
        str(plain["unit"]),
        ours,
        str(plain["peer"]) or "-",
        limit,
        holds,
    )


def _line(name: str, value: str, unit: str, ours: str, peer: str, limit: str, holds: str) -> str:
    return f"{name:<44} {value:>7} {unit:<13} {ours:>10}  {peer:<76} {limit:>5} {holds:>5}"


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
