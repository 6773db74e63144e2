"""Exports through the worker: what is shown is what is written, and what is given up leaves nothing half done."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.control.exports import Exports, Order, _write
from attn_gui.control.feed import Feed
from attn_gui.control.worker import Worker
from attn_gui.files import csv_reader
from attn_gui.files.errors import FileError
from attn_gui.files.experiment_json import read
from attn_gui.files.export import FORMS
from attn_gui.files.layout import distinct_stages_of
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.precision import Precision
from attn_gui.model.session import NamedExperiment

TOKENS = ("is", "=1+1", 'say "hi"', "a,b", "é\n2")


def experiment(n: int = 5, heads: int = 2, **fields: object) -> Experiment:
    rng = np.random.default_rng(7)
    tokens = [*TOKENS, *(f"t{i}" for i in range(n))][:n]
    return Experiment.from_tokens(tokens, rng.standard_normal((n, 4)), heads=heads, rule=Causal(), **fields)


class Bench:
    """A feed that shows the trace of an experiment, and exports from it."""

    def __init__(self) -> None:
        self.worker = Worker()
        self.feed = Feed(self.worker)
        self.exports = Exports(self.worker, self.feed)
        self.named = NamedExperiment("Named", experiment(), "a note")

    def show(self, shown: Experiment) -> None:
        self.feed.trace = trace(shown)

    def stage(self, name: str, head: int | None = None) -> np.ndarray:
        assert self.feed.trace is not None
        return self.feed.trace.stage(name, head)


class FullDisk(io.FileIO):
    """A file on a disk that has room for 100 bytes more."""

    def write(self, data: bytes) -> int:
        if self.tell() + len(data) > 100:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


def fill_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fdopen", lambda descriptor, mode: io.BufferedWriter(FullDisk(descriptor, mode)))


@pytest.fixture
def bench(qtbot: QtBot) -> Iterator[Bench]:
    made = Bench()
    made.show(made.named.experiment)
    yield made
    made.worker.close()


def run(bench: Bench, qtbot: QtBot, order: Order, path: Path) -> None:
    with qtbot.waitSignal(bench.exports.finished) as finished:
        bench.exports.export(order, bench.named, path)
        assert bench.exports.running
    assert finished.args == [path]
    assert not bench.exports.running


def test_one_head_as_a_matrix(bench: Bench, qtbot: QtBot, tmp_path: Path) -> None:
    run(bench, qtbot, Order("csv", "N", 1), tmp_path / "N.csv")
    table = csv_reader.read(tmp_path / "N.csv")
    assert (table.rows, table.columns) == (TOKENS, TOKENS)
    np.testing.assert_array_equal(table.values.astype(np.float32), bench.stage("N", 1))


def test_every_head_in_long_form_is_one_file(bench: Bench, qtbot: QtBot, tmp_path: Path) -> None:
    order = Order("csv-long", "A_masked")
    assert not order.in_folder(bench.named.experiment)
    run(bench, qtbot, order, tmp_path / "A.csv")
    table = csv_reader.read(tmp_path / "A.csv")
    assert table.heads == ("1", "2")
    np.testing.assert_array_equal(table.values.astype(np.float32), bench.stage("A_masked"))


def test_every_head_as_matrices_is_a_folder(bench: Bench, qtbot: QtBot, tmp_path: Path) -> None:
    order = Order("csv", "N")
    assert order.in_folder(bench.named.experiment)
    run(bench, qtbot, order, tmp_path / "new" / "heads")
    written = sorted((tmp_path / "new" / "heads").iterdir())
    assert [path.name for path in written] == ["N_head1.csv", "N_head2.csv"]
    for head, path in enumerate(written):
        np.testing.assert_array_equal(csv_reader.read(path).values.astype(np.float32), bench.stage("N", head))


def test_the_mean_over_heads(bench: Bench, qtbot: QtBot, tmp_path: Path) -> None:
    run(bench, qtbot, Order("csv", "N", "mean"), tmp_path / "mean.csv")
    expected = bench.stage("N").astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(csv_reader.read(tmp_path / "mean.csv").values, expected, atol=1e-7)


def test_npz_holds_every_head(bench: Bench, qtbot: QtBot, tmp_path: Path) -> None:
    run(bench, qtbot, Order("npz", "N"), tmp_path / "N.npz")
    with np.load(tmp_path / "N.npz", allow_pickle=False) as arrays:
        assert list(arrays) == ["N/head1", "N/head2"]
        np.testing.assert_array_equal(arrays["N/head2"], bench.stage("N", 1))


@pytest.mark.parametrize("form", FORMS)
def test_the_whole_experiment(bench: Bench, qtbot: QtBot, tmp_path: Path, form: str) -> None:
    order = Order(form)
    folder = tmp_path / "everything"
    run(bench, qtbot, order, folder)
    names = {name for _, _, name in order.files(bench.named.experiment)}
    assert {path.name for path in folder.iterdir()} == names | {"experiment.json", "export.json"}
    assert {stage for stage, _, _ in order.files(bench.named.experiment)} == set(
        distinct_stages_of(bench.named.experiment)
    )
    again = read(folder / "experiment.json")
    assert (again.name, again.note) == ("Named", "a note")
    np.testing.assert_array_equal(trace(again.experiment).stage("output"), bench.stage("output"))


def test_what_is_shown_is_written_and_not_what_is_being_edited(bench: Bench, qtbot: QtBot, tmp_path: Path) -> None:
    shown = experiment(n=4)
    bench.show(shown)
    run(bench, qtbot, Order("csv"), tmp_path / "shown")
    assert read(tmp_path / "shown" / "experiment.json").experiment.tokens.tokens == shown.tokens.tokens
    assert csv_reader.read(tmp_path / "shown" / "N_head1.csv").rows == shown.tokens.tokens


def test_progress_comes_in_order(bench: Bench, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attn_gui.control.worker.PROGRESS_S", 0.0)
    parts: list[float] = []
    bench.exports.progressed.connect(parts.append)
    run(bench, qtbot, Order("csv"), tmp_path / "all")
    assert len(parts) >= len(Order("csv").files(bench.named.experiment))
    assert parts == sorted(parts)
    assert parts[-1] == pytest.approx(1)


@pytest.mark.parametrize("form", FORMS)
def test_cancelling_leaves_no_part_of_a_file(bench: Bench, qtbot: QtBot, tmp_path: Path, form: str) -> None:
    bench.show(experiment(n=1500, heads=1))
    path = tmp_path / "N"
    path.write_bytes(b"what was there")
    changes: list[bool] = []
    bench.exports.running_changed.connect(changes.append)
    with qtbot.assertNotEmitted(bench.exports.finished, wait=100), qtbot.waitSignal(bench.exports.cancelled):
        bench.exports.progressed.connect(lambda part: bench.exports.cancel())
        bench.exports.export(Order(form, "N", 0), bench.named, path)
    qtbot.waitUntil(lambda: list(tmp_path.glob("*.tmp")) == [])
    assert path.read_bytes() == b"what was there"
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["N"]
    assert changes == [True, False]
    # and another can follow
    bench.exports.progressed.disconnect()
    run(bench, qtbot, Order("npz", "X"), tmp_path / "X.npz")


def test_cancelling_a_folder_keeps_whole_files_only(bench: Bench, qtbot: QtBot, tmp_path: Path) -> None:
    bench.show(experiment(n=600, heads=2))
    folder = tmp_path / "all"
    with qtbot.waitSignal(bench.exports.cancelled):
        bench.exports.progressed.connect(lambda part: part > 0.5 and bench.exports.cancel())
        bench.exports.export(Order("csv"), bench.named, folder)
    qtbot.waitUntil(lambda: list(folder.glob("*.tmp")) == [])
    written = [path for path in folder.iterdir() if path.suffix == ".csv"]
    assert 0 < len(written) < len(Order("csv").files(experiment(n=600, heads=2)))
    for path in written:
        assert len(csv_reader.read(path).rows) == 600


def test_one_at_a_time(bench: Bench, qtbot: QtBot, tmp_path: Path) -> None:
    with qtbot.waitSignal(bench.exports.finished):
        bench.exports.export(Order("csv", "N", 0), bench.named, tmp_path / "one.csv")
        with pytest.raises(RuntimeError, match="an export is running"):
            bench.exports.export(Order("csv", "N", 0), bench.named, tmp_path / "two.csv")
    assert not (tmp_path / "two.csv").exists()


def test_nothing_to_write_before_the_first_trace(bench: Bench, tmp_path: Path) -> None:
    bench.feed.trace = None
    with pytest.raises(RuntimeError, match="nothing has been computed"):
        bench.exports.export(Order("csv", "N", 0), bench.named, tmp_path / "N.csv")
    with pytest.raises(RuntimeError, match="nothing has been computed"):
        bench.exports.copy("N", 0)


def fail(bench: Bench, qtbot: QtBot, order: Order, path: Path) -> str:
    with qtbot.waitSignal(bench.exports.failed) as failed:
        bench.exports.export(order, bench.named, path)
    assert failed.args is not None
    assert isinstance(failed.args[0], FileError)
    assert not bench.exports.running
    return str(failed.args[0])


@pytest.mark.parametrize("order", [Order("csv", "N", 0), Order("npz", "N"), Order("csv")], ids=str)
def test_a_full_disk(bench: Bench, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: Order) -> None:
    fill_disk(monkeypatch)
    assert "a full disk" in fail(bench, qtbot, order, tmp_path / "out")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_targets_that_cannot_be_written(bench: Bench, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    assert "a folder that exists" in fail(bench, qtbot, Order("csv", "N", 0), tmp_path / "missing" / "N.csv")
    assert "the name of a folder" in fail(bench, qtbot, Order("csv", "N", 0), tmp_path)
    assert "the name of a folder" in fail(bench, qtbot, Order("csv"), tmp_path / "file")
    assert "not a folder" in fail(bench, qtbot, Order("csv", "N"), tmp_path / "file" / "heads")
    assert (tmp_path / "file").read_text() == "a file"


def test_a_fault_of_the_program_is_not_swallowed(
    bench: Bench, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object) -> None:
        raise AttributeError("a mistake in the code")

    monkeypatch.setattr("attn_gui.control.exports.export_stage", broken)
    with qtbot.captureExceptions() as caught, qtbot.waitSignal(bench.exports.failed):
        bench.exports.export(Order("csv", "N", 0), bench.named, tmp_path / "N.csv")
    assert [kind for kind, _, _ in caught] == [AttributeError]


@settings(max_examples=25)
@given(
    n=st.integers(1, 40),
    heads=st.sampled_from([1, 2, 4]),
    precision=st.sampled_from(list(Precision)),
    form=st.sampled_from(FORMS),
    stage=st.sampled_from([None, "X", "N", "A", "concat"]),
)
def test_the_estimate_is_near(n: int, heads: int, precision: Precision, form: str, stage: str | None) -> None:
    order = Order(form, stage)
    e = experiment(n, heads, precision=precision)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out"
        for _ in _write(trace(e), order, NamedExperiment("n", e), target):
            pass
        written = [path for path in Path(folder).rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in written if path.suffix != ".json")
        files = [path for path in written if path.suffix != ".json"]
    assert len(files) == len(order.files(e))
    assert size < 1.2 * order.bytes(e) + 200 * len(files)
    if n >= 20:
        assert order.bytes(e) < 6 * size + 10_000


def copied(bench: Bench, qtbot: QtBot, stage: str, head: int | str) -> list[list[str]]:
    with qtbot.waitSignal(bench.exports.copied):
        bench.exports.copy(stage, head)
    return [line.split("\t") for line in QGuiApplication.clipboard().text().split("\n")]


def test_a_stage_on_the_clipboard(bench: Bench, qtbot: QtBot) -> None:
    bench.show(experiment(n=4))
    header, *rows = copied(bench, qtbot, "N", 1)
    assert header == ["query", "is", "'=1+1", 'say "hi"', "a,b"]
    assert [row[0] for row in rows] == header[1:]
    values = np.array([[np.float32(cell) for cell in row[1:]] for row in rows])
    np.testing.assert_array_equal(values, bench.stage("N", 1))
    header, *rows = copied(bench, qtbot, "output", 0)
    assert header == ["query", "o1", "o2", "o3", "o4"]
    np.testing.assert_array_equal(np.array([r[1:] for r in rows], np.float32), bench.stage("output"))


def test_a_label_with_a_line_end_stays_one_cell(bench: Bench, qtbot: QtBot) -> None:
    with qtbot.waitSignal(bench.exports.copied):
        bench.exports.copy("N", 0)
    assert QGuiApplication.clipboard().text().endswith("\n" + "\t".join(['"é\n2"', *_text(bench.stage("N", 0)[4])]))


def _text(row: np.ndarray) -> list[str]:
    return [np.format_float_positional(v, unique=True, trim="-") if v else "0" for v in row]


def test_too_much_for_the_clipboard_says_so(bench: Bench, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attn_gui.control.exports.MAX_COPIED_CELLS", 24)
    QGuiApplication.clipboard().setText("before")
    with qtbot.waitSignal(bench.exports.copy_failed) as failed:
        bench.exports.copy("N", 0)
    assert failed.args is not None
    assert "at most 24 cells, received 25" in str(failed.args[0])
    assert QGuiApplication.clipboard().text() == "before"
