"""smoke.py and start.py, on programs that are in order and on programs that are not."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import smoke
import start

from attn_gui.compute.trace import trace
from attn_gui.files import session

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in programs are scripts")

GOOD = 'echo \'{"first_paint_ms": 1.0, "first_result_ms": 2.0, "N": NUMBERS}\''


def stand_in(folder: Path, body: str) -> Path:
    """A folder whose program is a script."""
    folder.mkdir(exist_ok=True)
    program = folder / "attn-gui"
    program.write_text(f"#!/bin/sh\n{body.replace('NUMBERS', str(smoke.weights(smoke.KARINA)))}\n", "utf-8")
    program.chmod(0o755)
    return folder


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """The program of the source tree in the place of a built one."""
    return stand_in(tmp_path / "ours", f'cd "{ROOT}" && exec "{sys.executable}" -m attn_gui "$@"')


def test_the_reference_and_the_session_are_what_they_say(tmp_path: Path) -> None:
    smoke.make_session(tmp_path / "probe.attn")
    (named,) = session.load(tmp_path / "probe.attn").experiments
    embeddings = named.experiment.tokens.embeddings
    assert [[embeddings[i, j] for j in range(2)] for i in range(3)] == smoke.SESSION
    found = trace(named.experiment).stage("N")[0]
    assert np.allclose(found, smoke.weights(smoke.SESSION), rtol=0, atol=1e-7)


def test_the_program_passes(ours: Path) -> None:
    smoke.smoke(ours, smoke.offscreen())
    smoke.session(ours)
    smoke.export(ours)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (GOOD.replace("NUMBERS", "[[1.0]]"), "N has 1 rows, expected 5"),
        (GOOD.replace("NUMBERS", str([[0.2] * 5] * 5)), "N is off by 0"),
        (f"{GOOD}; exit 3", "exit 3"),
        (f"{GOOD}; echo 'QFont: missing' >&2", "QFont: missing"),
        ("sleep 9", "no end within 1 s"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, words: str) -> None:
    monkeypatch.setattr(smoke, "PATIENCE_S", 1)
    body = body.replace("sleep", "/bin/sleep")
    with pytest.raises(smoke.Failure, match=words):
        smoke.smoke(stand_in(tmp_path / "wrong", body), smoke.offscreen())


def test_words_that_do_no_harm(tmp_path: Path) -> None:
    body = f"{GOOD}; echo 'This plugin does not support raise()' >&2; echo >&2"
    smoke.smoke(stand_in(tmp_path / "good", body), smoke.offscreen())


def test_there_is_no_python_and_no_home_of_ours(tmp_path: Path) -> None:
    folder = stand_in(tmp_path / "good", f'[ -z "$(command -v python3)" ] && [ "$HOME" != "{Path.home()}" ] && {GOOD}')
    smoke.smoke(folder, smoke.offscreen())


def test_another_place_and_a_folder_that_stays_as_it_was(tmp_path: Path) -> None:
    folder = stand_in(tmp_path / "good", f'case "$0" in *ü*ñ*注*) exit 5;; esac; {GOOD}')
    smoke.read_only(folder)
    assert (folder / "attn-gui").stat().st_mode & 0o200
    with pytest.raises(smoke.Failure, match="exit 5"):
        smoke.elsewhere(folder)


def test_a_program_that_writes_beside_itself(tmp_path: Path) -> None:
    # as root it may, whatever the folder's mode
    body = f'here="${{0%/*}}"; /bin/chmod u+w "$here"; echo > "$here/left"; {GOOD}'
    with pytest.raises(smoke.Failure, match=r"1 places were written, among them .*left"):
        smoke.read_only(stand_in(tmp_path / "writer", body))


def test_self_tests_that_fail_or_are_none(tmp_path: Path) -> None:
    smoke.self_test(stand_in(tmp_path / "good", "echo '12 passed in 1.00s'"))
    for index, said in enumerate(("1 failed, 12 passed", "no tests ran")):
        with pytest.raises(smoke.Failure, match=said):
            smoke.self_test(stand_in(tmp_path / str(index), f"echo '{said}'"))


def test_usage_and_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert smoke.main([]) == start.main([]) == 2
    assert smoke.main([str(stand_in(tmp_path / "wrong", "exit 1"))]) == 1
    out = capsys.readouterr().out
    assert out.count("FAILED") == 6 and "ok" not in out


@pytest.mark.parametrize(("torch_ms", "code"), [(60_000, 0), (0, 1)])
def test_start_holds_to_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], torch_ms: int, code: int
) -> None:
    monkeypatch.setattr(start, "ROUNDS", 1)
    monkeypatch.setattr(start, "PEERS", tmp_path / "peers")
    peers = tmp_path / "peers"
    for name, body in (("bare-window", "/bin/sleep 1; echo 900"), ("bare-torch", f"echo {torch_ms}")):
        (stand_in(peers, body) / "attn-gui").rename(peers / name)
    paint = '/bin/sleep 1; echo \'{"first_paint_ms": 100.0, "first_result_ms": 600.0}\''
    folder = stand_in(tmp_path / "built", f"/bin/sleep 0.5; {paint}")
    assert start.main([str(folder)]) == code
    assert [path.name for path in folder.iterdir()] == ["attn-gui"]
    out = capsys.readouterr().out
    assert f"import torch {torch_ms} ms" in out and "first paint" in out
