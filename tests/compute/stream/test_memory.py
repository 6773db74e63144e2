"""Nothing of a large experiment exists n x n, whatever is asked of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
N = 18_000
SQUARE = 4 * N * N

PROGRAM = """
import json, sys, tempfile
from pathlib import Path
import resource
import numpy as np
from attn_gui.compute.answers import answer
from attn_gui.compute.picture import picture, refined
from attn_gui.compute.trace import trace
from attn_gui.files.export_parts import Pooled, Top, Window, export_part
from attn_gui.model.asks import BlockAsk, CellAsk, PictureAsk, RowAsk, RowSumsAsk, SumAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import {mask}
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.scoring import Scoring

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

def run(steps):
    for _ in steps:
        pass

n = {n}
random = np.random.default_rng(0)
e = Experiment.from_qkv(*(random.normal(size=(1, n, 16)) for _ in range(3)), rule={mask}())
before = peak()
t = trace(e)
run(t.passes())
for stage in ("A_masked", "N"):
    for window in (None, (100, 9000, 50, 12000), (5, 900, 0, 700)):
        mapping = "linear" if stage == "A_masked" else "row maximum"
        ask = PictureAsk(stage, window=window, size=(500, 500), mapping=mapping)
        picture(t, ask.request(e))
        run(refined(t, ask.request(e)))
several = SumAsk("N", 0, (1, 2), (3, n - 1)), BlockAsk("N", 0, (0, 100), (0, 90))
for ask in (CellAsk(0, n - 1, 5), RowAsk(0, 7), RowSumsAsk(0), *several):
    run(answer(t, ask))
t.stage("output")
with tempfile.TemporaryDirectory() as folder:
    for part in (Top(3), Window((0, 50), (0, n))):
        steps = export_part(t, "N", 0, Path(folder, "x.csv"), part)
        for _ in range(20):
            next(steps, None)
        steps.close()
print(json.dumps([type(t).__name__, peak() - before]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the peak is asked of Unix")
@pytest.mark.parametrize("mask", ["MaskRule", "Causal"])
def test_whatever_is_asked_takes_less_than_a_fifth_of_a_matrix(mask: str) -> None:
    program = PROGRAM.format(n=N, mask=mask)
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kind, extra = json.loads(done.stdout.splitlines()[-1])
    assert kind == "StreamedTrace"
    assert extra < SQUARE / 5
