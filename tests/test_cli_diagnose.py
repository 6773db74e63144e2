"""``attn-gui diagnose``, as a person would run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from attn_gui import cli

Captured = pytest.CaptureFixture[str]
Floats = NDArray[np.float64]


@pytest.fixture
def arrays() -> dict[str, Floats]:
    random = np.random.RandomState(1)
    return dict(zip("QKV", random.standard_normal((3, 2, 5, 3)), strict=True))


def softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def test_a_match(arrays: dict[str, Floats], tmp_path: Path, capsys: Captured) -> None:
    weights = softmax(arrays["Q"] @ arrays["K"].swapaxes(1, 2))
    path = tmp_path / "theirs.npz"
    np.savez(path, **arrays, attn_weights=weights, Loss=np.ones(2))
    assert cli.main(["diagnose", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("One convention reproduces the weights (")
    assert lines[1:3] == ["1. no scale", "   Dot products are used as they are."]
    assert any(line.startswith("The standard first departs at scaled scores, head 1, query 1, key 1") for line in lines)
    assert lines[-1] == "- Not looked at: Loss."


def test_only_a_near_miss(arrays: dict[str, Floats], tmp_path: Path, capsys: Captured) -> None:
    output = softmax(arrays["Q"] @ arrays["K"].swapaxes(1, 2) / 3**0.5) @ arrays["V"]
    output[1, 2, 0] += 0.25
    path = tmp_path / "theirs.npz"
    np.savez(path, **arrays, output=output)
    assert cli.main(["diagnose", str(path)]) == 3
    out = capsys.readouterr().out
    assert "No convention reproduces the output (" in out
    assert "Nearest: the standard, with nothing changed" in out
    assert "head 2, query 3, dimension 1" in out
    assert "1 of 30 cells departs, by up to 0.25" in " ".join(out.split())


def test_what_an_array_is_can_be_said(arrays: dict[str, Floats], tmp_path: Path, capsys: Captured) -> None:
    weights = softmax(arrays["Q"] @ arrays["K"].swapaxes(1, 2))
    path = tmp_path / "theirs.npz"
    mine = {"mine": arrays["Q"], "Q": np.zeros(1), "K": arrays["K"], "V": arrays["V"], "p": weights}
    np.savez(path, **mine)
    for say in ([], ["--read", "Q=mine"], ["--read", "weights=p"]):
        assert cli.main(["diagnose", str(path), *say]) == 1
        assert capsys.readouterr().out == ""
    assert cli.main(["diagnose", str(path), "--read", "Q=mine", "--read", "weights=p"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "1. no scale" and lines[-1] == "- Not looked at: Q."
    for say, code, words in (
        ("Q=other", 1, "expected the name of an array (mine, Q, K, V, p), received 'other'"),
        ("hidden=mine", 2, "expected one of Q, K, V, mask"),
        ("Q", 2, "then =NAME"),
    ):
        assert cli.main(["diagnose", str(path), "--read", say]) == code
        assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        (["nothing=Q"], 1, "expected arrays called Q, received K, V, weights, Q (read as nothing), extra"),
        (["K=Q"], 1, "expected arrays called Q, received Q (read as K), V, weights, K (read as nothing), extra"),
        (["Q=Q", "K=Q"], 2, "expected once for each tensor, received twice of Q"),
        (["Q=Q", "Q=extra"], 2, "expected one array for Q, received Q and extra"),
    ],
)
def test_what_is_said_and_makes_no_sense(
    arrays: dict[str, Floats], tmp_path: Path, capsys: Captured, said: list[str], code: int, words: str
) -> None:
    np.savez(tmp_path / "a.npz", **arrays, weights=np.eye(5), extra=np.ones(2))
    options = [word for each in said for word in ("--read", each)]
    assert cli.main(["diagnose", str(tmp_path / "a.npz"), *options]) == code
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err


def test_settings(arrays: dict[str, Floats], tmp_path: Path, capsys: Captured) -> None:
    capped = 2 * np.tanh(arrays["Q"] @ arrays["K"].swapaxes(1, 2) / 3**0.5 / 2)
    path = tmp_path / "theirs.npz"
    np.savez(path, **arrays, output=softmax(capped) @ arrays["V"])
    assert cli.main(["diagnose", str(path), "--softcap", "2", "--base", "5e5", "--base", "1e6"]) == 0
    assert "1. the standard, with nothing changed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nowhere.npz"], 1, "a name that does not exist"),
        (["text.npz"], 1, "a zip file that is whole"),
        (["theirs.npz"], 1, "scores, weights or output"),
        (["whole.npz", "--device", "cuda:7"], 1, "cannot compute on cuda:7"),
        ([], 2, "FILE"),
        (["theirs.npz", "--softcap", "0"], 2, "above 0"),
        (["theirs.npz", "--base", "half"], 2, "'half'"),
        (["theirs.npz", "--base", "0.5"], 2, "1 or more"),
    ],
)
def test_what_cannot_be_done(
    arguments: list[str],
    code: int,
    words: str,
    arrays: dict[str, Floats],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "theirs.npz", **arrays)
    np.savez(tmp_path / "whole.npz", **arrays, output=arrays["V"])
    assert cli.main(["diagnose", *arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("attn-gui")
    assert err.count("\n") == 1
    assert words in err


def test_without_qt(arrays: dict[str, Floats], tmp_path: Path) -> None:
    path = tmp_path / "theirs.npz"
    np.savez(path, **arrays, output=arrays["V"])
    script = (
        "import sys\nfrom attn_gui.__main__ import main\nsys.argv = ['attn-gui', 'diagnose', sys.argv[1]]\n"
        "code = main()\nassert not [name for name in sys.modules if name.startswith('PySide6')]\nsys.exit(code)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, env=os.environ | {"COLUMNS": "80"}
    )
    assert (run.returncode, run.stderr) == (3, "")
    assert run.stdout.startswith("No convention reproduces the output")
