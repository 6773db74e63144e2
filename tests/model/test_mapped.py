"""A mapped file that another program writes to is told of, and never ends the process."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attn_gui.model import mapped
from attn_gui.model.mapped import ChangedFile, MappedFile, fetched, file_of, unchanged

# every way in which what lies in a file is read: each says how it ended
READING = """
import sys
from dataclasses import replace
from pathlib import Path
import numpy as np
from attn_gui.compute.layer_traces import LayerTraces
from attn_gui.compute.trace import trace
from attn_gui.files import session
from attn_gui.files.tensors import layer_arrays
from attn_gui.model.given import rearranged
from attn_gui.model.mapped import MappedFile, is_mapped
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.tables import tables_of
from attn_gui.model.tensors.proposals import propose
from tests.files.tensors.writing import looked, opened

layer_arrays.IN_MEMORY = 0
path, how = Path(sys.argv[1]), sys.argv[2]
contents = looked(path)
named = opened(contents, propose(contents)).named
e = named.experiment
N = e.source.N
assert is_mapped(N)
if how == "shortened":
    np.save(path, np.full((1, 2, 2), 0.5, np.float32))
elif how == "emptied":
    path.open("wb").close()
elif how == "rewritten":
    other = np.load(path)[:, ::-1]
    np.save(path, other)
elif how == "replaced":
    np.save(path.with_name("new.npy"), np.full((1, 2, 2), 0.5, np.float32))
    path.with_name("new.npy").replace(path)

if len(sys.argv) > 3:  # cut off after it was asked about
    MappedFile.is_changed = False

def looked_at(head, name="N"):
    steps = LayerTraces("cpu").of(e)
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            matrix = ended.value.matrix(name, head)
            break
    for _ in matrix.begun("max"):
        pass
    return matrix.pooled(slice(0, e.n_q), slice(0, e.n_k), (2, 2), "max")[0].sum() + matrix.extent()[1]

def saved():
    plain = Session((NamedExperiment("kept", e),))
    session.save(plain, path.with_name("kept.attn"))
    return session.load(path.with_name("kept.attn")).experiment.source.N.sum()

ways = {
    "head": lambda: looked_at(0),
    "mean": lambda: looked_at("mean"),
    "trace": lambda: trace(e).stage("N").sum(),
    "order": lambda: rearranged(N, 1, list(range(e.n_q))[::-1], "N").sum(),
    "tables": lambda: sum(table.table.array().sum() for table in tables_of(e)),
    "save": saved,
}
for way, read in ways.items():
    try:
        print(way, "read", round(float(read()), 3))
    except Exception as error:
        print(way, type(error).__name__, error)
"""


def read_after(path: Path, *how: str) -> dict[str, str]:
    command = [sys.executable, "-c", READING, str(path), *how]
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": str(root)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, env=environment, timeout=120, check=False)
    assert done.returncode == 0, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    numbers = np.random.default_rng(0).random((4, 150, 150)).astype(np.float32)
    np.save(tmp_path / "attn.npy", numbers / numbers.sum(-1, keepdims=True))
    return tmp_path / "attn.npy"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets nobody write to a mapped file")
@pytest.mark.parametrize("how", ["shortened", "emptied", "rewritten"])
def test_a_file_that_was_written_to_is_named_by_whatever_reads_it(weights: Path, how: str) -> None:
    ended = read_after(weights, how)
    assert ended.pop("tables") == "read 0.0"  # what cannot be read any more is no table
    expected = "ChangedFile attn.npy was changed since it was opened; open it again"
    assert ended.pop("save").startswith("FileError ")
    assert set(ended.values()) == {expected}, ended
    assert not weights.with_name("kept.attn").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets nobody write to a mapped file")
@pytest.mark.parametrize("how", ["shortened", "emptied"])
def test_a_file_that_is_cut_off_between_question_and_look_ends_nothing(weights: Path, how: str) -> None:
    ended = read_after(weights, how, "unseen")
    assert ended.pop("save").startswith("FileError ")
    assert {line.split()[0] for line in ended.values()} == {"ChangedFile"}, ended


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets nobody replace a mapped file")
def test_a_file_in_whose_place_another_was_put_is_read_on(weights: Path) -> None:
    before = read_after(weights, "left")
    assert all(line.startswith("read ") for line in before.values())
    assert read_after(weights, "replaced") == before


def test_arrays_know_their_file(weights: Path) -> None:
    file = MappedFile(weights)
    whole = np.frombuffer(file, np.uint8)
    view = whole[128:].view(np.float32)[::2]
    assert file_of(view) is file
    assert file_of(view.copy()) is None
    assert unchanged(view) is view
    assert not view.flags.writeable


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets nobody write to a mapped file")
def test_the_times_of_a_file_tell_as_well_as_its_size(weights: Path) -> None:
    whole = np.frombuffer(MappedFile(weights), np.uint8)
    os.utime(weights, ns=(1, 1))
    with pytest.raises(ChangedFile, match=r"attn\.npy was changed since it was opened; open it again") as caught:
        unchanged(whole)
    assert caught.value.path == weights


@pytest.mark.parametrize("near", [1 << 14, 1])
@pytest.mark.parametrize("kind", ["<f4", ">f2", "u1", "c16"])
def test_what_is_fetched_is_what_lies_there(
    tmp_path: Path, near: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapped, "NEAR", near)
    monkeypatch.setattr(mapped, "SPAN", 40)
    numbers = np.random.default_rng(0).integers(0, 100, 3 * 4 * 5 * 6).astype(kind).reshape(3, 4, 5, 6)
    path = tmp_path / "numbers.bin"
    path.write_bytes(b"before" + numbers.tobytes())
    whole = np.frombuffer(MappedFile(path), np.uint8)[6:].view(kind).reshape(numbers.shape)
    cuts: list[Any] = [
        (),
        (1,),
        (..., 2),
        (slice(None), 1),
        (slice(None, None, -1), ..., slice(None, None, 2)),
        (2, 3, 4, 5),
    ]
    for order in permutations(range(4)):
        for cut in cuts:
            cut = cut if len(cut) < 4 else (*(cut[axis] for axis in order), ...)
            found = fetched(whole.transpose(order)[cut])
            assert file_of(found) is None and found.dtype == np.dtype(kind)
            np.testing.assert_array_equal(found, numbers.transpose(order)[cut])
    assert fetched(numbers) is numbers


def test_what_is_expanded_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.arange(24.0)
    path = tmp_path / "numbers.bin"
    path.write_bytes(b"before!!" + numbers.tobytes())
    whole = np.frombuffer(MappedFile(path), np.uint8)
    counted: list[int] = []
    read = MappedFile.fetched

    def counting(file: MappedFile, start: int, count: int) -> bytearray:
        counted.append(count)
        return read(file, start, count)

    monkeypatch.setattr(MappedFile, "fetched", counting)
    for first, shape, strides in (
        (0, (3000, 5), (0, 8)),
        (0, (7, 4, 6), (0, 48, 8)),
        (2, (20, 3), (8, 8)),
        (20, (20, 9), (0, -16)),
    ):
        view: Any = np.ndarray(shape, np.float64, whole, 8 + first * 8, strides)
        expected: Any = np.ndarray(shape, np.float64, numbers, first * 8, strides)
        counted.clear()
        found = fetched(view)
        np.testing.assert_array_equal(found, expected)
        assert file_of(found) is None and not found.flags.writeable
        assert len(counted) == 1 and counted[0] <= numbers.nbytes


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets nobody cut a mapped file off")
def test_what_was_cut_off_is_not_fetched(weights: Path) -> None:
    whole = np.frombuffer(MappedFile(weights), np.uint8)
    os.truncate(weights, 1000)
    for part in (whole, whole[::7], whole[:10]):
        with pytest.raises(ChangedFile, match=r"attn\.npy was changed since it was opened"):
            fetched(part)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts what is open")
def test_a_file_is_closed_with_the_last_array(weights: Path) -> None:
    def is_open() -> bool:
        links = [Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd")]
        return any(os.path.realpath(link) == str(weights.resolve()) for link in links)

    array = np.frombuffer(MappedFile(weights), np.uint8)[1:]
    assert is_open()
    del array
    assert not is_open()
