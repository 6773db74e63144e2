"""The commands without a window, as a person would run them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attn_gui import __version__, app, cli
from attn_gui.compute import devices
from attn_gui.compute import trace as trace_module
from attn_gui.compute.devices import Device
from attn_gui.compute.trace import trace
from attn_gui.files import csv_reader, examples
from attn_gui.files.errors import FileError
from attn_gui.files.session import load, save
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import SlidingWindow
from attn_gui.model.painted import Painted
from attn_gui.model.session import NamedExperiment, Session

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A session of two experiments, the second of which is current."""
    first = Experiment.from_tokens(["a", "b"], np.eye(2))
    second = Experiment.from_tokens(
        ["long", "name\n\x1b[31m", *["t"] * 20],
        np.random.RandomState(0).standard_normal((22, 4)),
        heads=2,
        rule=SlidingWindow(3),
        painted=Painted().with_cells([(0, 5)], True),
    )
    path = tmp_path / "two.attn"
    save(Session((NamedExperiment("First", first), NamedExperiment("Second", second, "A note.")), 1), path)
    return path


def complaint(capsys: Captured) -> str:
    """What stands on stderr, which is one line, and nothing on stdout."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("attn-gui")
    return err


def test_export_of_a_session(stored: Path, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "out"
    assert cli.main(["export", str(stored), "--out", str(out), "--stage", "A,N,output"]) == 0
    assert {path.name for path in out.iterdir()} == {
        *(f"{stage}_head{head}.csv" for stage in "AN" for head in (1, 2)),
        "output.csv",
        "experiment.json",
        "export.json",
    }
    assert capsys.readouterr().out == f"Second: A, N, output written to {out}\n"
    stage = trace(load(stored).experiment).stage("N", 1)
    np.testing.assert_array_equal(csv_reader.read(out / "N_head2.csv").values.astype(np.float32), stage)


def test_export_of_an_example_in_every_format(tmp_path: Path) -> None:
    expected = trace(examples.load("Karina").experiment).stage("N", 0)
    for form, name in (("csv", "N_head1.csv"), ("csv-long", "N_long.csv"), ("npz", "N.npz")):
        assert cli.main(["export", "--example", "karina", "--out", str(tmp_path / form), "--format", form]) == 0
        path = tmp_path / form / name
        found = np.load(path)["N/head1"] if form == "npz" else csv_reader.read(path).values
        np.testing.assert_array_equal(found.astype(np.float32).reshape(5, 5), expected)


def test_precision_can_be_chosen(tmp_path: Path) -> None:
    command = ["export", "--example", "KARINA", "--out", str(tmp_path), "--stage", "N", "--precision", "float64"]
    assert cli.main(command) == 0
    N = csv_reader.read(tmp_path / "N_head1.csv").values
    np.testing.assert_allclose(N.sum(axis=1), 1, rtol=0, atol=4 * np.finfo(np.float64).eps)
    assert json.loads((tmp_path / "experiment.json").read_bytes())["precision"] == "float64"


def test_info(stored: Path, capsys: Captured) -> None:
    assert cli.main(["info", str(stored)]) == 0
    out = capsys.readouterr().out
    assert "First\n" in out
    assert "Second (current)\n" in out
    assert "  variant    Multi-head self\n" in out
    assert "  tokens     22: long name\\n\\x1b[31m t t t t t t t t t t … and 10 more\n" in out
    assert "  sizes      d_model 4, d_k 2, d_v 2\n" in out
    assert "  mask       Sliding window (window 3, two sided no), 1 rectangle painted by hand\n" in out
    assert "  note       A note.\n" in out
    assert "\x1b" not in out


def test_info_of_an_example(capsys: Captured) -> None:
    assert cli.main(["info", "--example", "translation"]) == 0
    out = capsys.readouterr().out
    assert "context    4: the black cat sleeps" in out
    assert "scale      0.5" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "COMMAND"),
        (["print"], "print"),
        (["export"], "--out"),
        (["export", "--out", "x"], "FILE --example"),
        (["export", "a.attn", "--example", "karina", "--out", "x"], "not allowed"),
        (["export", "--example", "nobody", "--out", "x"], "karina, animal"),
        (["export", "--example", "karina", "--out", "x", "--stage", "A,B"], "received 'B'"),
        (["export", "--example", "karina", "--out", "x", "--stage", ""], "received ''"),
        (["export", "--example", "karina", "--out", "x", "--format", "xls"], "'csv-long'"),
        (["export", "--example", "karina", "--out", ""], "the name of a folder, received nothing"),
        (["export", "--example", "karina", "--out", " "], "the name of a folder, received nothing"),
        (["export", "--example", "karina", "--out", "x", "--precision", "float8"], "'bfloat16'"),
        (["info"], "FILE --example"),
        (["info", "a.attn", "b.attn"], "b.attn"),
        (["info", "--colour", "a.attn"], "--colour"),
    ],
)
def test_arguments_that_make_no_sense(
    arguments: list[str], words: str, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(arguments) == 2
    assert words in complaint(capsys)
    assert not (tmp_path / "x").exists()


def test_files_that_cannot_be_read(stored: Path, tmp_path: Path, capsys: Captured) -> None:
    assert cli.main(["info", str(tmp_path / "none.attn")]) == 1
    assert "none.attn: expected a file, received a name that does not exist" in complaint(capsys)
    stored.write_bytes(stored.read_bytes()[:-30])
    assert cli.main(["export", str(stored), "--out", str(tmp_path / "out")]) == 1
    assert "damaged or cut off" in complaint(capsys)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert cli.main(["export", "--example", "karina", "--out", str(tmp_path / "file" / "out")]) == 1
    assert "a folder to write into" in complaint(capsys)


def test_a_stage_that_this_experiment_has_not(tmp_path: Path, capsys: Captured) -> None:
    assert cli.main(["export", "--example", "karina", "--out", str(tmp_path / "out"), "--stage", "context"]) == 1
    assert "“Karina” has no stage context; it has X, Q" in complaint(capsys)


@pytest.mark.parametrize("device", ["nonsense", "cuda:99", "cuda:x", "meta", "cpu:3", ""])
def test_a_device_that_is_not_there(tmp_path: Path, capsys: Captured, device: str) -> None:
    assert cli.main(["export", "--example", "karina", "--out", str(tmp_path / "out"), "--device", device]) == 1
    said = complaint(capsys)
    assert f"cannot compute on {device}: " in said
    assert "there is cpu" in said
    assert not (tmp_path / "out").exists()


def test_a_device_that_is_there_by_either_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(devices, "devices", lambda: [Device("cpu", "CPU"), Device("cuda:0", "CUDA 0")])
    monkeypatch.setattr(trace_module, "trace", lambda e, device: asked.append(device) or trace(e))
    for device in ("cuda", "cuda:0"):
        assert cli.main(["export", "--example", "karina", "--out", str(tmp_path), "--device", device]) == 0
    assert asked == ["cuda:0", "cuda:0"]


def test_more_memory_than_there_is(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attn_gui.compute.budget.TRIFLE", 0)
    monkeypatch.setattr("attn_gui.compute.budget.available", lambda device: 100)
    assert cli.main(["export", "--example", "karina", "--out", str(tmp_path / "out")]) == 1
    assert "100 bytes may be used" in complaint(capsys)


def test_stopped_by_the_keyboard(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("attn_gui.cli.exporting.export_folder", stop)
    assert cli.main(["export", "--example", "karina", "--out", str(tmp_path / "out")]) == 130
    assert "stopped" in complaint(capsys)


def test_progress_where_a_person_is_looking(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert cli.main(["export", "--example", "karina", "--out", str(tmp_path / "out"), "--stage", "N"]) == 0
    assert "\rwriting 100% " in capsys.readouterr().err


def test_version_and_help(capsys: Captured) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"attn_gui {__version__}\n"
    for arguments in (["--help"], ["export", "--help"], ["info", "--help"]):
        assert cli.main(arguments) == 0
        assert "usage: attn-gui" in capsys.readouterr().out


def test_as_a_process_with_a_narrow_console(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "attn_gui", "info", "--example", "animal"]
    environment = {"PYTHONIOENCODING": "ascii", "PATH": "", "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(command, capture_output=True, env=environment, check=True, cwd=tmp_path)
    assert b"The animal ? it was too tired (3 heads)" in done.stdout
    assert done.stderr == b""


EXPORT = ["export", "--example", "karina", "--out", "out", "--stage", "N"]
posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices of POSIX")


def process(arguments: list[str], folder: Path, redirected: str, **variables: str) -> tuple[int, str]:
    """The exit code and stderr of the program whose stdout is redirected by a shell, or a pipe that nobody reads."""
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent), "PATH": os.environ["PATH"]}
    environment |= {"QT_QPA_PLATFORM": "offscreen", "ATTN_GUI_PROFILE": str(folder / "profile")} | variables
    command = [sys.executable, "-m", "attn_gui", *arguments]
    read, write = os.pipe()
    os.close(read)
    if redirected:
        command = ["sh", "-c", f'exec "$@" {redirected}', "sh", *command]
    started = subprocess.Popen(command, stdout=write, stderr=subprocess.PIPE, text=True, env=environment, cwd=folder)
    os.close(write)
    _, err = started.communicate(timeout=100)
    return started.returncode, err


@posix
@pytest.mark.parametrize("arguments", [["info", "--example", "karina"], ["info", "--help"], EXPORT])
@pytest.mark.parametrize(
    ("redirected", "words"), [("", None), (">/dev/full", "No space left"), (">&-", "Bad file descriptor")]
)
def test_a_standard_output_that_takes_nothing(
    arguments: list[str], redirected: str, words: str | None, tmp_path: Path
) -> None:
    code, err = process(arguments, tmp_path, redirected)
    if arguments[-1] == "--help" and redirected == ">&-":
        assert "usage" in err  # argparse turns to stderr
        return
    assert code == 1
    assert (words in err and err.count("\n") == 1) if words else err == ""


@posix
def test_nowhere_to_complain_to(tmp_path: Path) -> None:
    assert process(["info", "--example", "karina"], tmp_path, ">&- 2>&-") == (1, "")
    assert process(["info", "none.attn"], tmp_path, "2>&-") == (1, "")


@posix
@pytest.mark.parametrize(("redirected", "words"), [("", ""), (">/dev/full", "No space left")])
def test_a_smoke_test_that_cannot_print_ends_at_once(redirected: str, words: str, tmp_path: Path) -> None:
    code, err = process(["--smoke"], tmp_path, redirected)
    assert code == 1
    assert words in err
    assert "Traceback" not in err
    assert err.count("\n") == (1 if words else 0)


@posix
@pytest.mark.parametrize("command", ["info", "export"])
def test_a_pipe_is_no_session(command: str, tmp_path: Path, capsys: Captured) -> None:
    os.mkfifo(tmp_path / "pipe")
    rest = [] if command == "info" else ["--out", str(tmp_path / "out")]
    assert cli.main([command, str(tmp_path / "pipe"), *rest]) == 1
    assert "pipe: expected a file, received a pipe" in complaint(capsys)


@pytest.mark.parametrize("command", [["info"], ["export", "--out", "x"], []])
@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_of_a_file(command: list[str], name: str, tmp_path: Path, capsys: Captured) -> None:
    run = cli.main if command else lambda arguments: app.main(arguments, 0.0)
    assert run([*command, name]) == 2
    assert "expected the name of a file, received nothing" in complaint(capsys)


@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_of_a_profile(
    name: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert app.main(["--profile-dir", name], 0.0) == 2
    assert "expected the name of a folder, received nothing" in complaint(capsys)
    assert list(tmp_path.iterdir()) == []


@posix
@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["info", "--help"]])
@pytest.mark.parametrize("buffering", [{}, {"PYTHONUNBUFFERED": "1"}])
def test_help_that_cannot_be_written(arguments: list[str], buffering: dict[str, str], tmp_path: Path) -> None:
    code, err = process(arguments, tmp_path, ">/dev/full", **buffering)
    assert (code, err.count("\n")) == (1, 1)
    assert "standard output cannot be written: No space left" in err


def test_a_full_disk_leaves_nothing_new(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Path] = []

    def write(path: Path, data: bytes) -> None:
        if len(written) == 1:
            raise FileError(path, "writing", "enough free space on the disk", "a full disk; nothing was changed")
        written.append(path)
        path.write_bytes(data)

    monkeypatch.setattr("attn_gui.files.export.write_bytes", write)
    command = ["export", "--example", "karina", "--out", str(tmp_path / "a" / "b")]
    assert cli.main(command) == 1
    assert "a full disk" in complaint(capsys)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "notes.txt").write_text("mine")
    written.clear()
    assert cli.main(command) == 1
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["notes.txt"]


def smoke(arguments: list[str], folder: Path) -> tuple[int, str, str]:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "attn_gui", "--smoke", "--profile-dir", str(folder / "profile"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, timeout=100)
    return done.returncode, done.stdout, done.stderr


def test_a_smoke_test_of_a_file(stored: Path, tmp_path: Path) -> None:
    code, out, err = smoke([str(stored)], tmp_path)
    assert (code, err) == (0, "")
    assert np.shape(json.loads(out)["N"]) == (22, 22)
    stored.write_bytes(b"no zip")
    for path, words in ((stored, "an attn_gui session"), (tmp_path / "nosuch.attn", "a name that does not exist")):
        code, out, err = smoke([str(path)], tmp_path)
        assert (code, out) == (1, "")
        assert path.name in err
        assert words in err
        assert err.count("\n") == 1


@posix
def test_what_is_no_lock_does_not_hold_the_program_up(tmp_path: Path) -> None:
    for name, make in (("pipe", os.mkfifo), ("device", lambda path: os.symlink("/dev/zero", path))):
        folder = tmp_path / "profile" / "recovery" / name
        folder.mkdir(parents=True)
        save(Session((examples.load("karina"),)), folder / "unsaved.attn")
        make(f"{folder}.lock")
    code, out, err = smoke([], tmp_path)
    assert (code, err) == (0, "")
    assert np.shape(json.loads(out)["N"]) == (5, 5)
    assert (tmp_path / "profile" / "recovery" / "pipe" / "unsaved.attn").exists()


@posix
def test_an_idle_window_ends_at_ctrl_c(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent), "QT_QPA_PLATFORM": "offscreen"}
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from attn_gui import app\n"
        "from attn_gui.views.main_window import MainWindow\n"
        "def show(window):\n"
        "    window.setVisible(True)\n"
        "    window.first_painted.connect(lambda: print('up', flush=True))\n"
        "MainWindow.show = show\n"
        "app.main(['--profile-dir', sys.argv[1]], time.perf_counter())\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert started.stdout is not None
        assert started.stdout.readline() == "up\n"
        started.send_signal(signal.SIGINT)
        assert started.wait(timeout=10) == -signal.SIGINT
    finally:
        started.kill()
        started.communicate()


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        (["--top", "2"], ["N_head1_top2.csv"]),
        (["--stage", "A,N", "--head", "mean", "--pooled", "3"], ["A_mean_pooled3_max.csv", "N_mean_pooled3_max.csv"]),
        (["--window", "2:3, 1:5", "--format", "csv-long"], ["N_head1_window.csv"]),
    ],
)
def test_parts_of_a_matrix(tmp_path: Path, capsys: Captured, arguments: list[str], files: list[str]) -> None:
    assert cli.main(["export", "--example", "karina", "--out", str(tmp_path / "out"), *arguments]) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == files
    said = capsys.readouterr().out
    assert all(name in said for name in files)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--top", "0"], 2, "expected how many, 1 or more, received '0'"),
        (["--window", "1:2"], 2, "expected queries and keys as 1:200,1:300"),
        (["--window", "1:9,1:2"], 1, "expected some of the queries 1 to 5, received 1 to 9"),
        (["--top", "2", "--head", "3"], 1, "has 1 head, and no head 3"),
        (["--top", "2", "--stage", "Q"], 1, "Q has no parts"),
        (["--top", "2", "--format", "npz"], 1, "parts are written as CSV"),
        (["--head", "1"], 1, "--head is of a part"),
    ],
)
def test_parts_that_make_no_sense(
    tmp_path: Path, capsys: Captured, arguments: list[str], code: int, words: str
) -> None:
    assert cli.main(["export", "--example", "karina", "--out", str(tmp_path / "out"), *arguments]) == code
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments", [["--top", "2"], ["--stage", "N", "--format", "npz"]])
def test_the_size_of_large_files_is_told_beforehand(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    out = tmp_path / "out"
    assert cli.main(["export", "--example", "karina", "--out", str(out), *arguments]) == 0
    assert "to be written" not in capsys.readouterr().err
    monkeypatch.setattr("attn_gui.cli.exporting.LARGE", 1)
    assert cli.main(["export", "--example", "karina", "--out", str(out), *arguments]) == 0
    told = re.search(r"about ([\d.]+) \w+ are to be written", capsys.readouterr().err)
    assert told is not None
    assert float(told[1]) > 0


def test_a_file_that_changes_while_it_is_exported_is_told_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from attn_gui.cli import running
    from attn_gui.model.mapped import ChangedFile

    def changed(options: object) -> int:
        raise ChangedFile(Path("c.npy"))

    monkeypatch.setitem(running.RUN, "export", changed)
    assert running.run(["export", "c.npy", "--out", "x"]) == 1
    assert capsys.readouterr().err == "attn-gui: c.npy was changed since it was opened; open it again\n"
