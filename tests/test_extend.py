"""What the README says of extending the program: its snippets as new files in a copy of the package, and nothing else.

The copy runs in a process of its own, so that this one's families stay as they are.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SNIPPET = re.compile(r"```python\n# (attn_gui/[\w/]+\.py)\n(.*?)```", re.DOTALL)

TRIED = """
import json
from pathlib import Path

import numpy as np

import attn_gui
from attn_gui import Bias, Experiment, MaskRule, NamedExperiment, Normaliser, Precision, Scoring, Session, trace
from attn_gui.files.code.scripts import numpy_script, pytorch_script
from attn_gui.model.masks import choosable
from attn_gui.model.starting import choosable_parts, started

assert Path(attn_gui.__file__).is_relative_to(Path.cwd()), attn_gui.__file__
EveryOther, Gaussian = MaskRule.of_kind("every_other"), Bias.of_kind("gaussian")
Relu = Normaliser.of_kind("relu")

# offered where a person chooses
assert EveryOther in choosable()
assert Gaussian in choosable_parts(Bias) and Relu in choosable_parts(Normaliser)

def check_scripts(e, t, near):
    for writer in (numpy_script, pytorch_script):
        names = {}
        exec(writer(e).text, names)
        for stage in ("N", "output"):
            expected = t.stage(stage).astype(float)
            found = np.asarray(names[stage]).astype(float).reshape(expected.shape)
            assert np.abs(found - expected).max() <= near * max(1, np.abs(expected).max()), (writer, stage)

# computed in every precision, with a cache, cell by cell as their formulas say, and so by what is copied as code
random = np.random.default_rng(0)
Q, K, V = random.standard_normal((2, 5, 4)), random.standard_normal((2, 8, 4)), random.standard_normal((2, 8, 3))
scoring = Scoring(biases=(Gaussian(1.7),), normaliser=Relu())
for precision, near in ((Precision.FLOAT64, 1e-12), (Precision.FLOAT32, 1e-5), (Precision.FLOAT16, 2e-2)):
    e = Experiment.from_qkv(Q, K, V, past=3, rule=EveryOther(3), scoring=scoring, precision=precision)
    t = trace(e)
    for head in range(2):
        for i in range(5):
            for j in range(8):
                apart = i + 3 - j
                score = Q[head, i] @ K[head, j] / 2 - apart**2 / (2 * 1.7**2)
                allowed = apart >= 0 and apart % 3 == 0
                expected = max(score, 0.0) if allowed else 0.0
                assert abs(t.stage("N", head)[i, j] - expected) < near * max(1, abs(expected)), (precision, head, i, j)
    expected = t.stage("N").astype(float) @ V
    assert np.allclose(t.stage("head_output"), expected, rtol=near, atol=near)
    check_scripts(e, t, near)

# each by itself, in one head and in two; the mask also by torch.nn.MultiheadAttention
X = random.standard_normal((5, 4))
alone = {"rule": EveryOther(2)}, {"scoring": Scoring(biases=(Gaussian(),))}, {"scoring": Scoring(normaliser=Relu())}
for changes in alone:
    for heads in (1, 2):
        one = Experiment.from_tokens("abcde", X, heads=heads, **changes)
        check_scripts(one, trace(one), 1e-5)
    assert ("nn.MultiheadAttention(" in pytorch_script(one).text) == ("rule" in changes)

# kept in files
attn_gui.save(Session((NamedExperiment("new", e),)), "new.attn")
again = attn_gui.load("new.attn").experiment
assert again.rule == EveryOther(3)
assert again.scoring.biases == (Gaussian(1.7),) and again.scoring.normaliser == Relu()
assert started(Gaussian, e) == Gaussian()

# and refused where a parameter is not what was declared
for make, words in ((lambda: EveryOther(0), "1 or more"), (lambda: Gaussian(0.0), "a finite number")):
    try:
        make()
    except attn_gui.ExperimentError as error:
        assert words in str(error), error
    else:
        raise AssertionError(make)
print("as the README says")
"""

ON_SCREEN = """
import sys, tempfile
from pathlib import Path
from PySide6.QtWidgets import QApplication, QSpinBox
application = QApplication(["attn-gui"])
from attn_gui.app import open_window
from attn_gui.files import examples
from attn_gui.model.session import Session

window = open_window(Session((examples.load("karina"),)), Path(tempfile.mkdtemp()))
document = window.context.document
window.top_bar.masking.choose("every_other")
assert document.experiment.rule.title == "Every other"
step = window.top_bar.masking.fields.fields["step"]
assert isinstance(step, QSpinBox)
step.setValue(3)
assert document.experiment.rule.step == 3
window.show()
dock = next(dock for dock in window.docks if dock.windowTitle() == "Scoring")
dock.show()
scoring = dock.widget()
scoring.bias.add.chosen.emit("gaussian")
scoring.normaliser.kind.chosen.emit("relu")
assert [bias.title for bias in document.experiment.scoring.biases] == ["Gaussian"]
assert document.experiment.scoring.normaliser.title == "ReLU"
scoring.refresh()
assert scoring.normaliser.kind.currentText() == "ReLU"
assert scoring.bias.rows[0].fields.fields["sigma"].accessibleName() == "Gaussian: σ"
window.context.worker.close()
print("as the README says")
"""


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the README's new files."""
    folder = tmp_path_factory.mktemp("extended")
    shutil.copytree(ROOT / "attn_gui", folder / "attn_gui", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "resources", folder / "resources")
    snippets = SNIPPET.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert [Path(path).parent.name for path, _ in snippets] == ["masks", "biases", "normalisers"]
    for path, text in snippets:
        assert not (folder / path).exists()
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("script", [TRIED, ON_SCREEN], ids=["computed", "on screen"])
def test_the_new_parts_are_computed_kept_and_offered(extended: Path, script: str) -> None:
    run = subprocess.run([sys.executable, "-c", script], cwd=extended, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split("\n")[-2] == "as the README says"


def test_the_snippets_are_written_as_the_package_is(extended: Path) -> None:
    paths = [path for path, _ in SNIPPET.findall((ROOT / "README.md").read_text(encoding="utf-8"))]
    config = ["--config", str(ROOT / "pyproject.toml")]
    for command in (["check"], ["format", "--check"]):
        run = subprocess.run(
            [sys.executable, "-m", "ruff", *command, *config, *paths], cwd=extended, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stdout
