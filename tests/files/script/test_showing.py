"""show: the window on what a script has, in a process of its own."""

from __future__ import annotations

import inspect
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attn_gui import show, trace
from attn_gui.files.errors import FileError
from attn_gui.files.script import showing
from attn_gui.files.script.layers import Layer
from attn_gui.files.script.showing import TAKE
from attn_gui.files.session import load
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.sources import GivenQKV, GivenScores, GivenWeights


class Started:
    """In the place of the program."""

    calls: list[tuple[list[str], dict[str, Any]]]

    def __init__(self, command: list[str], **options: Any) -> None:
        self.calls.append((command, options))

    def wait(self) -> int:
        return 0


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[Started]]:
    monkeypatch.setattr(showing.subprocess, "Popen", Started)
    monkeypatch.setattr(showing.tempfile, "tempdir", str(tmp_path))
    Started.calls = []
    return Started


def shown(started: type[Started]) -> Session:
    """What the program was started on."""
    command, _ = started.calls[-1]
    assert command[-2] == TAKE
    return load(command[-1])


def weights(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.softmax(torch.tensor(np.random.default_rng(seed).standard_normal(shape)), -1)


@pytest.mark.parametrize("axes", [2, 3, 4, 5])
def test_an_array_of_weights(started: type[Started], axes: int) -> None:
    array = weights(2, 3, 4, 5, 6)[(0,) * (5 - axes)]
    show(array)
    session = shown(started)
    assert len(session.experiments) == {2: 1, 3: 1, 4: 3, 5: 6}[axes]
    layers = [n.place and (n.place.layer, n.place.batch) for n in session.experiments]
    wanted = [(layer, item) for layer in range(2) for item in range(3)]
    assert layers == (wanted if axes == 5 else wanted[:3] if axes == 4 else [(0, None)])
    whole = array.numpy().reshape(-1, *([4] if axes > 2 else [1]), 5, 6)
    for named, expected in zip(session.experiments, whole, strict=True):
        source = named.experiment.source
        assert isinstance(source, GivenWeights)
        np.testing.assert_array_equal(source.N, expected)


def test_weights_after_dropout_or_with_a_fault_are_weights(started: type[Started]) -> None:
    show(np.array([[0.0, 1.2], [0.4, 0.3]]))
    assert isinstance(shown(started).experiment.source, GivenWeights)
    show(np.array([[0.2, np.nan], [0.4, 0.6]]))
    assert isinstance(shown(started).experiment.source, GivenWeights)


def test_other_numbers_are_scores(started: type[Started]) -> None:
    show(np.array([[0.5, 2.0], [0.1, -1.0]]))
    assert isinstance(shown(started).experiment.source, GivenScores)


def test_numbers_that_are_neither_weights_nor_scores_have_to_be_named(started: type[Started]) -> None:
    for array, sums in (
        (np.ones((3, 3, 2)), "2"),
        (np.zeros((2, 2)), "0"),
        (np.array([[0.1, 0.0], [0.05, 0.2]]), "0.1 to 0.25"),
    ):
        for what in (array, (weights(1, 2, 4, 4), array)):
            with pytest.raises(ExperimentError, match=rf"weights=….*rows sum to {sums}$"):
                show(what)
        assert not started.calls
    show(weights=np.ones((3, 3, 2)))
    assert isinstance(shown(started).experiment.source, GivenWeights)
    # as with dropout, and with rows of queries that attend to nothing
    show(np.array([[0.6, 0.55], [0.0, 0.0]]))
    assert isinstance(shown(started).experiment.source, GivenWeights)


def test_the_attentions_of_transformers(started: type[Started]) -> None:
    @dataclass
    class Output:
        attentions: tuple[torch.Tensor | None, ...]

    layers = tuple(weights(1, 2, 3, 3, seed=layer) for layer in range(3))
    for what in (layers, list(layers), Output((layers[0], None, layers[2]))):
        show(what, tokens=["a", "b", "c"])
        found = shown(started).experiments
        numbers = [0, 1, 2] if not isinstance(what, Output) else [0, 2]
        assert [n.place.layer for n in found if n.place] == numbers
        assert [n.name for n in found] == [f"Layer {number + 1}" for number in numbers]
        for number, named in zip(numbers, found, strict=True):
            np.testing.assert_array_equal(trace(named.experiment).stage("N"), layers[number][0].numpy())
            assert named.experiment.tokens.tokens == ("a", "b", "c")


def test_q_k_and_v(started: type[Started]) -> None:
    q = torch.randn(2, 4, 3)
    show(q=q, k=q, v=q, mask=torch.ones(4, 4).tril().bool())
    assert isinstance(shown(started).experiment.source, GivenQKV)


def test_sessions_experiments_and_files(started: type[Started], tmp_path: Path) -> None:
    e = Experiment.from_tokens(["a"], [[1.0]])
    for what, name in ((e, "From Python"), (NamedExperiment("one", e), "one")):
        show(what)
        assert shown(started).named.name == name
    show(Session((NamedExperiment("one", e), NamedExperiment("two", e)), 1))
    assert shown(started).named.name == "two"
    file = tmp_path / "some.npy"
    file.touch()
    show(file)
    assert started.calls[-1][0][-1] == str(file)
    started.calls.clear()
    with pytest.raises(FileError, match=r"missing\.npy: expected a file"):
        show(str(tmp_path / "missing.npy"))
    with pytest.raises(FileError, match="expected the name of a file or a folder, received an empty name"):
        show("")
    assert not started.calls
    with pytest.raises(TypeError, match="not both"):
        show(e, tokens=["a"])


def test_it_neither_waits_nor_shares_keys_and_leaves_nothing_when_it_fails(
    started: type[Started], tmp_path: Path
) -> None:
    show(weights(3, 3))
    _, options = started.calls[-1]
    assert options["stdin"] == subprocess.DEVNULL
    assert sys.platform == "win32" or options["start_new_session"]
    before = sorted(tmp_path.glob("*.attn"))
    for wrong in (np.zeros(3), np.zeros((1,) * 6), "x", None):
        with pytest.raises(ExperimentError):
            show(wrong, **({"q": 1.0} if wrong is None or isinstance(wrong, str) else {}))
    assert sorted(tmp_path.glob("*.attn")) == before


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there is always a screen")
def test_without_a_screen_it_says_what_to_do(started: type[Started], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(RuntimeError, match=r"attn_gui\.save to a file"):
        show(weights(3, 3))
    monkeypatch.setattr(showing, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match="pip install"):
        show(weights(3, 3))
    assert not started.calls


def test_it_knows_every_argument_of_a_layer() -> None:
    assert list(inspect.signature(show).parameters)[1:] == list(inspect.signature(Layer).parameters)


SCRIPT = """
import sys, time
import numpy as np
import attn_gui
from attn_gui.files.script import showing
showing.START = showing.START.replace("sys.exit(main())", "sys.argv.append('--smoke'); sys.exit(main())")
real = showing.subprocess.Popen
def popen(command, **options):
    options["stdout"] = open(sys.argv[1], "w")
    return real(command, **options)
showing.subprocess.Popen = popen
before = time.perf_counter()
attn_gui.show(np.array([[0.25, 0.75], [1.0, 0.0]]))
print(round(time.perf_counter() - before, 3), "PySide6" in sys.modules)
"""


def test_the_window_comes_in_its_own_process_and_outlives_the_script(tmp_path: Path) -> None:
    """From a folder that holds nothing of ours, and with modules of its own that are called as some of Python's."""
    (tmp_path / "queue.py").write_text("raise ImportError('this one is not meant')")
    told = tmp_path / "told.json"
    root = str(Path(showing.paths.__file__).parent.parent)
    runner = f"import sys; sys.path.append({root!r})\n" + SCRIPT
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "TMPDIR": str(tmp_path), "TEMP": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", runner, str(told)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        check=True,
    )
    seconds, qt = done.stdout.split()
    assert float(seconds) < 5 and qt == "False"
    deadline = time.monotonic() + 60
    while not (told.exists() and told.read_text().endswith("\n")) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert json.loads(told.read_text())["N"] == [[0.25, 0.75], [1.0, 0.0]]
    assert not list(tmp_path.glob("attn_gui-*.attn")), "the window has taken the file"


STAYING = """
import sys
import numpy as np
import attn_gui
from attn_gui.files.script import showing
showing.START = "import time; time.sleep(120)"
real = showing.subprocess.Popen
def popen(*arguments, **options):
    started = real(*arguments, **options)
    open(sys.argv[1], "w").write(str(started.pid))
    return started
showing.subprocess.Popen = popen
attn_gui.show(np.array([[1.0]]))
"""


def test_whoever_reads_what_a_script_says_does_not_wait_for_the_window(tmp_path: Path) -> None:
    root = str(Path(showing.paths.__file__).parent.parent)
    pid = tmp_path / "pid"
    try:
        subprocess.run(
            [sys.executable, "-P", "-c", f"import sys; sys.path.append({root!r})\n{STAYING}", str(pid)],
            capture_output=True,
            timeout=60,
            env=os.environ | {"QT_QPA_PLATFORM": "offscreen", "TMPDIR": str(tmp_path), "TEMP": str(tmp_path)},
            check=True,
        )
    finally:
        os.kill(int(pid.read_text()), signal.SIGTERM)


PROMPT = """
import json, sys, time
from IPython.core.interactiveshell import InteractiveShell
from attn_gui.files.script import showing

showing.START = showing.START.replace("sys.exit(main())", "sys.argv.append('--smoke'); sys.exit(main())")
real = showing.subprocess.Popen

def popen(command, **options):
    options["stdout"] = open(f"{sys.argv[1]}/told.{popen.count}.json", "w")
    if sys.argv[2] == "apart":  # to be read by the test, and not told at the prompt
        options["stderr"] = open(f"{sys.argv[1]}/said.{popen.count}.txt", "w")
    popen.count += 1
    return real(command, **options)

popen.count = 0
showing.subprocess.Popen = popen
shell = InteractiveShell.instance(colors="NoColor", history_manager=None)
shell.showtraceback = lambda *args, **options: None
found = []
for line in json.load(sys.stdin):
    before = time.perf_counter()
    result = shell.run_cell(line)
    error = result.error_before_exec or result.error_in_exec
    found.append((time.perf_counter() - before, None if error is None else f"{type(error).__name__}: {error}"))
json.dump((found, "PySide6" in sys.modules), open(f"{sys.argv[1]}/found.json", "w"))
"""


def at_a_prompt(
    folder: Path, lines: list[str], platform: str, said: str = "here"
) -> tuple[list[tuple[float, str | None]], bool, str]:
    """Of each line how long the prompt was busy and what went wrong; whether Qt was needed; and what stderr got."""
    root = str(Path(showing.paths.__file__).parent.parent)
    places = {"TMPDIR": str(folder), "TEMP": str(folder), "IPYTHONDIR": str(folder / "ipython")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys; sys.path.append({root!r})\n{PROMPT}", str(folder), said],
        cwd=folder,
        input=json.dumps(lines),
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | places | {"QT_QPA_PLATFORM": platform},
        check=True,
    )
    found, qt = json.loads((folder / "found.json").read_text())
    return found, qt, done.stderr


def test_from_ipython_the_prompt_is_free_at_once_and_mistakes_are_raised_there(tmp_path: Path) -> None:
    given = [
        "import numpy as np, torch, attn_gui",
        "n = torch.full((1, 2, 2), 0.5, requires_grad=True)",
        "attn_gui.show(n)",
        "attn_gui.show((n[None], n[None]), tokens=['a', 'b'])",
        "q = torch.zeros(1, 2, 3)",
        "attn_gui.show(q=q, k=q, v=q)",
        "attn_gui.show(np.zeros(3))",
        "attn_gui.show('missing.npy')",
        "attn_gui.show(q=q)",
    ]
    found, qt, _ = at_a_prompt(tmp_path, given, "offscreen", "apart")
    assert not qt
    errors = [error for _, error in found]
    assert errors[:6] == [None] * 6
    assert errors[6] == "ExperimentError: array: expected axes ([[[layers,] batch,] heads,] queries, keys), " + (
        "received shape (3,)"
    )
    assert errors[7] is not None and errors[7].startswith("FileError: ") and "missing.npy" in errors[7]
    assert errors[8] is not None and errors[8].startswith("ExperimentError: ")
    assert max(seconds for seconds, _ in found[2:]) < 5
    told = [tmp_path / f"told.{place}.json" for place in range(3)]
    deadline = time.monotonic() + 90
    while not all(path.read_text().endswith("\n") for path in told) and time.monotonic() < deadline:
        time.sleep(0.1)
    said = [(tmp_path / f"said.{place}.txt").read_text() for place in range(3)]
    assert all(path.read_text() for path in told), said
    for path in told:
        assert json.loads(path.read_text())["N"] == [[0.5, 0.5], [0.5, 0.5]]
    assert not list(tmp_path.glob("attn_gui-*.attn"))


def test_a_window_that_does_not_open_is_told_at_the_prompt(tmp_path: Path) -> None:
    waiting = "import threading; [t.join() for t in threading.enumerate() if t.name == 'attn_gui window']"
    given = ["import numpy as np, attn_gui", "attn_gui.show(np.array([[1.0]]))", waiting]
    found, _, told = at_a_prompt(tmp_path, given, "nonsense")
    assert [error for _, error in found] == [None] * 3
    assert "nonsense" in told, "what the program says is seen"
    assert "attn_gui: the window has ended with an error (exit code " in told
    assert not list(tmp_path.glob("attn_gui-*.attn"))
