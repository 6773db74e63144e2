"""A large matrix as CSV, against numpy.savetxt."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from attn_gui.compute.trace import trace
from attn_gui.files.export import export_stage
from tests.bench.report import Case, Pairs
from tests.bench.subject import Size, alternate, experiment

SIZE = Size(2000, 64, 1)
LIMIT = 0.2
COUNT = 3
BUDGET_S = 60.0


def cases() -> list[Case]:
    name = f"csv of A, {SIZE.n**2 / 1e6:g} million cells"
    return [Case(name, "numpy.savetxt(fmt='%.9g')", LIMIT, partial(measure, SIZE))]


def measure(size: Size, count: int = COUNT) -> Pairs:
    """The matrix form with its labels against the bare numbers, on the same disk."""
    traced = trace(experiment(size))
    values = traced.stage("A", 0)
    with tempfile.TemporaryDirectory() as folder:

        def ours() -> None:
            for _ in export_stage(traced, "A", 0, Path(folder, "ours.csv"), "csv"):
                pass

        def peer() -> None:
            np.savetxt(Path(folder, "peer.csv"), values, fmt="%.9g", delimiter=",")

        return alternate(ours, peer, count, BUDGET_S)
