"""Files that are broken or mean harm: refused in words, nothing run, nothing large allocated."""

from __future__ import annotations

import io
import json
import os
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from attn_gui.files.errors import FileError
from attn_gui.files.tensors.torch_reader import open_torch
from attn_gui.model.tensors.checks import problems
from attn_gui.model.tensors.proposals import propose
from tests.files.tensors.writing import looked, opened

MOST_ALLOCATED = 20_000_000
ENDINGS = (".npy", ".npz", ".packed.npz", ".safetensors", ".pt", ".csv", ".json")


def good(ending: str) -> bytes:
    """An honest file of weights, 2 heads x 3 x 3."""
    weights = np.full((2, 3, 3), 1 / 3, np.float32)
    file = io.BytesIO()
    if ending == ".npy":
        np.save(file, weights)
    elif ending == ".npz":
        np.savez(file, attn=weights, mask=np.tri(3, dtype=bool))
    elif ending == ".packed.npz":
        np.savez_compressed(file, attn=weights, mask=np.tri(3, dtype=bool))
    elif ending == ".safetensors":
        from safetensors.numpy import save

        return save({"attn": weights})
    elif ending == ".pt":
        torch.save({"attn": torch.from_numpy(weights), "tokens": ["a", "b", "c"]}, file)
    elif ending == ".csv":
        return b"0.5,0.25,0.25\n0,1,0\n0.5,0,0.5\n"
    else:
        return json.dumps({"attn": weights.tolist(), "tokens": ["a", "b", "c"]}).encode()
    return file.getvalue()


def tried(path: Path) -> str | None:
    """What is said of a file that is opened as far as it goes; None where it opens. Nothing large is allocated."""
    tracemalloc.start()
    try:
        contents = looked(path)
        reading = propose(contents)
        found = problems(contents, reading)
        if found:
            assert found[0].text
            return found[0].text
        opened(contents, reading)
        return None
    except FileError as error:
        return str(error) if error.expected and error.received and path.name in str(error) else None
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < MOST_ALLOCATED


def written(folder: Path, ending: str, data: bytes) -> Path:
    path = folder / f"bad{ending}"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_honest_file_opens(tmp_path: Path, ending: str) -> None:
    assert tried(written(tmp_path, ending, good(ending))) is None


@pytest.mark.parametrize("ending", ENDINGS)
def test_cut_off_anywhere(tmp_path: Path, ending: str) -> None:
    data = good(ending)
    for part in range(12):
        said = tried(written(tmp_path, ending, data[: len(data) * part // 12]))
        # a table without its last lines is a table
        assert said is not None or ending == ".csv", part


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("seed", range(3))
def test_bytes_that_were_changed(tmp_path: Path, ending: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = good(ending)
    for _ in range(8):
        changed = bytearray(data)
        for _ in range(1 + seed):
            # headers stand in the first bytes and, in zip files, in the last
            at = int(rng.integers(min(len(data), 250))) * (1 if rng.random() < 0.6 else -1)
            changed[at] = int(rng.integers(256))
        tried(written(tmp_path, ending, bytes(changed)))


def header(shape: str, descr: str = "'<f4'", order: str = "False") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


NPY = {
    "giant shape": (header("(1000000, 1000000, 1000)"), "bytes of numbers"),
    "shape beyond 64 bits": (header("(9223372036854775807, 9223372036854775807)"), ""),
    "product that wraps to what is there": (header("(4294967296, 4294967296)"), "bytes of numbers"),
    "negative shape": (header("(-1, 4)") + b"\0" * 16, "sides of 0 or more"),
    "negative shapes whose product fits": (header("(-2, -2)") + b"\0" * 16, "sides of 0 or more"),
    "many axes": (header("(" + "1," * 200 + ")") + b"\0" * 4, "a shape that numpy can hold"),
    "python objects": (header("(2,)", "'|O'") + b"\x80\x04K\x01." * 2, "Python objects, which are not unpickled"),
    "a structure": (header("(2,)", "[('a', '<f4')]") + b"\0" * 8, "a numpy array"),
    "code for a header": (header("(2,)", "__import__('os').mkdir('harmed')") + b"\0" * 8, "a numpy array"),
    "a call for a shape": (header("(2, exit())") + b"\0" * 8, "a numpy array"),
    "twice a shape": (header("(2,), 'shape': (3,)") + b"\0" * 8, "a numpy array"),
    "no such type": (header("(2,)", "'<f3'") + b"\0" * 6, "numpy type <f3"),
    "long double": (header("(2,)", "'<f16'") + b"\0" * 32, "numpy type <f16"),
    "dates": (header("(2,)", "'<M8[s]'") + b"\0" * 16, "numpy type <M8[s]"),
    "complex weights": (header("(2, 2)", "'<c8'") + b"\0" * 32, "real numbers"),
    "a later format": (header("(2,)").replace(b"\x01\x00", b"\x09\x00", 1) + b"\0" * 8, "a numpy array"),
    "a header without end": (b"\x93NUMPY\x02\x00\xff\xff\xff\x7f{", "a numpy array"),
    "bytes after the end": (header("(2,)") + b"\0" * 9, "bytes of numbers"),
    "no numbers": (header("(0, 3)"), ""),
    "a lone number": (header("()") + b"\0" * 4, ""),
    "flags of 7": (header("(2, 2)", "'|b1'") + b"\7" * 4, "0 or 1"),
    "text": (b"hello", "a numpy array"),
    "nothing": (b"", "a numpy array"),
    "a zip file": (b"PK\x03\x04" + b"\0" * 60, "a numpy array"),
    "a pickle": (b"\x80\x04cos\nsystem\n.", "a numpy array"),
    "words": (header("(2,)", "'<U2'") + b"\0" * 16, "numpy type <U2"),
}


@pytest.mark.parametrize("name", NPY)
def test_headers_of_npy(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data, message = NPY[name]
    said = tried(written(tmp_path, ".npy", data))
    assert said is not None and message in said
    assert not (tmp_path / "harmed").exists()


@pytest.mark.parametrize("name", NPY)
def test_the_same_in_npz(tmp_path: Path, name: str) -> None:
    for method in (ZIP_STORED, ZIP_DEFLATED):
        with ZipFile(tmp_path / "bad.npz", "w", method) as zipped:
            zipped.writestr("attn.npy", NPY[name][0])
        if name != "words":  # which are the names of tokens
            assert tried(tmp_path / "bad.npz") is not None


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_byte_order_is_that_of_the_header(tmp_path: Path, order: str) -> None:
    weights = np.array([[0.25, 0.75], [1, 0]], f"{order}f8")
    np.save(tmp_path / "a.npy", weights)
    contents = looked(tmp_path / "a.npy")
    np.testing.assert_array_equal(opened(contents, propose(contents)).experiment.source.parts()["N"][0], weights)


def zipped_with(folder: Path, *members: tuple[str, bytes], method: int = ZIP_STORED) -> Path:
    with ZipFile(folder / "bad.npz", "w", method) as archive:
        for name, data in members:
            archive.writestr(ZipInfo(name), data, method)
    return folder / "bad.npz"


NAMES = ("../../../tmp/x.npy", "/etc/x.npy", "..\\x.npy", "C:\\x.npy", "a/../../x.npy", "a\nb.npy", "\x1b[2Jx.npy")


@pytest.mark.parametrize("name", NAMES)
def test_names_that_lead_elsewhere(tmp_path: Path, name: str) -> None:
    said = tried(zipped_with(tmp_path, (name, good(".npy"))))
    assert said is not None and "plain names" in said


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_zip_files_that_mean_harm(tmp_path: Path) -> None:
    npy = good(".npy")
    said = tried(zipped_with(tmp_path, ("attn.npy", npy), ("attn.npy", npy)))
    assert said is not None and "one array of this name" in said
    said = tried(zipped_with(tmp_path, ("attn.npy", npy), method=ZIP_BZIP2))
    assert said is not None and "stored or deflated" in said
    said = tried(zipped_with(tmp_path, ("readme.txt", b"hello")))
    assert said is not None and "arrays (.npy)" in said
    # 100 MB of zeros in 100 kB, and an honest header
    bomb = header("(25, 1000, 1000)") + bytes(100_000_000)
    path = zipped_with(tmp_path, ("attn.npy", bomb), method=ZIP_DEFLATED)
    del bomb
    assert path.stat().st_size < 200_000
    said = tried(path)
    assert said is not None and "times the size of the file" in said


def test_entries_that_overlap(tmp_path: Path) -> None:
    """Two entries of the directory over the same bytes, as bombs of stored entries are made."""
    path = zipped_with(tmp_path, ("a.npy", good(".npy")), ("b.npy", good(".npy")))
    data = bytearray(path.read_bytes())
    second = data.rindex(b"PK\x01\x02")
    data[second + 42 : second + 46] = (0).to_bytes(4, "little")
    path.write_bytes(data)
    assert tried(path) is not None


def safetensors(entries: Any, numbers: bytes = b"", length: int | None = None) -> bytes:
    text = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + numbers


def entry(shape: Any, offsets: Any, dtype: str = "F32") -> dict[str, Any]:
    return {"attn": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


SAFETENSORS: dict[str, bytes] = {
    "a giant header": safetensors(b"{}", length=1 << 62),
    "a header longer than the file": safetensors(b"{}", length=100),
    "no header": b"\0" * 8,
    "nothing": b"",
    "a giant shape": safetensors(entry([1 << 40, 1 << 40], [0, 1 << 62])),
    "a negative shape": safetensors(entry([-2, -2], [0, 16]), b"\0" * 16),
    "sides that are no numbers": safetensors(entry([2.5, 2], [0, 16]), b"\0" * 16),
    "offsets backwards": safetensors(entry([2, 2], [16, 0]), b"\0" * 16),
    "offsets beyond the file": safetensors(entry([2, 2], [0, 16]), b"\0" * 8),
    "a gap": safetensors(entry([2, 2], [4, 20]), b"\0" * 20),
    "numbers of nobody": safetensors(entry([2, 2], [0, 16]), b"\0" * 32),
    "no such type": safetensors(entry([2, 2], [0, 16], "F128"), b"\0" * 16),
    "a name twice": safetensors(
        b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}',
        b"\0" * 4,
    ),
    "two over the same bytes": safetensors(entry([2, 2], [0, 16]) | {"b": entry([2, 2], [0, 16])["attn"]}, b"\0" * 16),
    "brackets without end": safetensors(b"[" * 100_000),
    "not UTF-8": safetensors(b'{"\xff": 1}'),
    "a number of many digits": safetensors(b'{"a": ' + b"9" * 10_000 + b"}"),
    "a list": safetensors([1, 2]),
    "no tensors": safetensors({}),
    "complex numbers": safetensors(entry([2, 2], [0, 32], "C64"), b"\0" * 32),
}


@pytest.mark.parametrize("name", SAFETENSORS)
def test_headers_of_safetensors(tmp_path: Path, name: str) -> None:
    assert tried(written(tmp_path, ".safetensors", SAFETENSORS[name])) is not None


class Harm:
    """Unpickling it makes a folder."""

    def __init__(self, trace: Path, through: Any = os.mkdir) -> None:
        self._trace, self._through = trace, through

    def __reduce__(self) -> Any:
        return self._through, (str(self._trace),)


def pickles(harm: Path) -> Iterator[tuple[str, Callable[[Path], None]]]:
    weights = torch.full((2, 3, 3), 1 / 3)
    yield "code", lambda path: torch.save({"attn": weights, "x": Harm(harm)}, path)
    yield "code of protocol 4", lambda path: torch.save({"x": Harm(harm)}, path, pickle_protocol=4)
    yield "code alone", lambda path: torch.save(Harm(harm), path)
    yield "code in a list", lambda path: torch.save([weights, Harm(harm)], path)
    yield "eval", lambda path: torch.save(Harm(harm, eval), path)
    yield "the old form", lambda path: torch.save({"x": Harm(harm)}, path, _use_new_zipfile_serialization=False)
    yield "a module", lambda path: torch.save(torch.nn.Linear(2, 2), path)
    yield "a size", lambda path: torch.save(torch.Size([2]), path)
    yield "an expanded tensor", lambda path: torch.save(torch.ones(1).expand(10_000, 10_000, 10_000), path)
    yield "no tensors", lambda path: torch.save({"lr": 0.1}, path)
    yield "a sparse tensor", lambda path: torch.save(torch.eye(3).to_sparse(), path)
    yield "numbers of nothing", lambda path: torch.save(torch.empty(0, 3, 3), path)
    yield "complex numbers", lambda path: torch.save(torch.ones(2, 2, dtype=torch.complex64), path)


@pytest.mark.parametrize("name", [name for name, _ in pickles(Path())])
def test_pickles(tmp_path: Path, name: str) -> None:
    harm = tmp_path / "harmed"
    dict(pickles(harm))[name](tmp_path / "bad.pt")
    assert tried(tmp_path / "bad.pt") is not None
    assert not harm.exists()


@pytest.mark.parametrize("member", ["data.pkl", "data/0", "byteorder"])
@pytest.mark.parametrize("data", [b"", b"\x80\x02.", b"x" * 100, b"\x80\x02}q\x00" * 1000])
def test_members_that_are_others(tmp_path: Path, member: str, data: bytes) -> None:
    honest = written(tmp_path, ".pt", good(".pt"))
    with ZipFile(honest) as before, ZipFile(tmp_path / "other.pt", "w") as after:
        for info in before.infolist():
            own = info.filename.partition("/")[2]
            after.writestr(info.filename, data if own == member else before.read(info))
    assert tried(tmp_path / "other.pt") is not None


def test_tensors_of_another_byte_order(tmp_path: Path) -> None:
    honest = written(tmp_path, ".pt", good(".pt"))
    with ZipFile(honest) as before, ZipFile(tmp_path / "other.pt", "w") as after:
        for info in before.infolist():
            own, data = info.filename.partition("/")[2], before.read(info)
            if own == "byteorder":
                data = b"big"
            elif own == "data/0":
                data = np.frombuffer(data, "<f4").astype(">f4").tobytes()
            after.writestr(info.filename, data)
    contents = looked(tmp_path / "other.pt")
    weights = opened(contents, propose(contents)).experiment.source.parts()["N"]
    np.testing.assert_array_equal(weights, np.full((2, 3, 3), 1 / 3, np.float32))


TEXT: dict[str, tuple[str, bytes]] = {
    "nothing": (".json", b""),
    "cut": (".json", b'{"attn": [[1, 2], [3'),
    "no numbers": (".json", b"{}"),
    "null": (".json", b"null"),
    "ragged": (".json", b"[[1, 2], [3]]"),
    "deeper in places": (".json", b"[[1, 2], [[3], 4]]"),
    "a name twice": (".json", b'{"a": [[1]], "a": [[2]]}'),
    "words among numbers": (".json", b'[[1, "x"], [2, 3]]'),
    "null among numbers": (".json", b"[[1, null], [2, 3]]"),
    "an object among numbers": (".json", b"[[1, {}], [2, 3]]"),
    "brackets without end": (".json", b"[" * 1_000_000),
    "many axes": (".json", b"[" * 100 + b"1" + b"]" * 100),
    "a number of many digits": (".json", b"[[" + b"9" * 10_000 + b"]]"),
    "a number beyond float64": (".json", b"[[" + b"9" * 400 + b", 1]]"),
    "not UTF-8": (".json", b'["\xff\xfe"]'),
    "bytes of nothing": (".json", b"\0" * 100),
    "empty rows": (".json", b"[[], []]"),
    "nothing at all": (".csv", b""),
    "blank lines": (".csv", b"\n\n\n"),
    "a name": (".csv", b"hello\n"),
    "names": (".csv", b"a,b\nc,d\n"),
    "ragged rows": (".csv", b"1,2\n3\n"),
    "a formula": (".csv", b"1,2\n=cmd|' /C calc'!A0,3\n"),
    "a zero byte": (".csv", b"1,2\n3,\0\n"),
    "no UTF-8": (".csv", b"1,2\n\xff,3\n"),
    "a quote that never ends": (".csv", b'1,"2\n' + b"3,4\n" * 100),
    "a field without end": (".tsv", b"1\t" + b"9" * 200_000 + b"\n"),
    "numbers beyond float64": (".tsv", b"1\t1e999\n2\t3\n"),
    "hexadecimal": (".tsv", b"1\t0x10\n2\t3\n"),
    "another kind": (".exe", b"MZ"),
    "no ending": ("", b"hello"),
}


@pytest.mark.parametrize("name", TEXT)
def test_text(tmp_path: Path, name: str) -> None:
    ending, data = TEXT[name]
    assert tried(written(tmp_path, ending, data)) is not None


def test_nan_and_infinity_are_numbers_and_are_told(tmp_path: Path) -> None:
    numbers = np.array([[np.nan, 1], [np.inf, -np.inf]])
    np.save(tmp_path / "scores.npy", numbers)
    (tmp_path / "scores.json").write_text(json.dumps(numbers.tolist()))
    (tmp_path / "scores.csv").write_text("nan,1\ninf,-inf\n")
    for name in ("scores.npy", "scores.json", "scores.csv"):
        contents = looked(tmp_path / name)
        peek = contents.tensors[0].peek
        assert peek is not None and (peek.nan, peek.inf, peek.minus_inf, peek.low, peek.high) == (
            True,
            True,
            True,
            1,
            1,
        )
        found = opened(contents, propose(contents)).experiment.source.parts()["A"][0]
        np.testing.assert_array_equal(found, numbers)


def test_places_that_are_no_files(tmp_path: Path) -> None:
    assert "does not exist" in str(tried(tmp_path / "gone.npy"))
    assert "a folder with files" in str(tried(tmp_path))
    (tmp_path / "loop.npy").symlink_to(tmp_path / "loop.npy")
    assert tried(tmp_path / "loop.npy") is not None
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.npy")
        assert "a pipe" in str(tried(tmp_path / "pipe.npy"))
        # in a folder it is no file, and nobody waits for it
        np.save(tmp_path / "attn.npy", np.eye(3))
        assert tried(tmp_path) is None
    with pytest.raises(FileError, match="a name that no file can have"):
        looked(tmp_path / "a\0.npy")


def test_a_file_that_is_cut_off_after_it_was_looked_at(tmp_path: Path) -> None:
    np.save(tmp_path / "attn.npy", np.full((2, 4, 4), 0.25))
    contents = looked(tmp_path / "attn.npy")
    data = (tmp_path / "attn.npy").read_bytes()
    (tmp_path / "attn.npy").write_bytes(data[:-8])
    with pytest.raises(FileError, match="bytes of numbers"):
        opened(contents, propose(contents))
    np.save(tmp_path / "attn.npy", np.full((4, 2, 4), 0.25))
    with pytest.raises(FileError, match=r"shape \(2, 4, 4\), as before"):
        opened(contents, propose(contents))


def test_many_names_in_little_room(tmp_path: Path) -> None:
    save_file({f"t{k}": np.zeros(1, np.float32) for k in range(1_200)}, tmp_path / "many.safetensors")
    assert "Nothing is chosen" in str(tried(tmp_path / "many.safetensors"))


def test_an_output_of_transformers_is_refused_with_what_to_save_instead(tmp_path: Path) -> None:
    """As torch.save writes a ModelOutput: a call of its class, by its name alone."""
    outputs = pytest.importorskip("transformers.modeling_outputs")
    path = tmp_path / "out.pt"
    out = outputs.BaseModelOutput(last_hidden_state=torch.zeros(1, 3, 4), attentions=(torch.ones(1, 2, 3, 3) / 3,))
    torch.save(out, path)
    with pytest.raises(FileError) as refused:
        open_torch(path)
    assert "save out.attentions or dict(out) in its place" in refused.value.received
    assert "state_dict" not in str(refused.value)
    for instead in (out.attentions, dict(out)):
        torch.save(instead, path)
        assert any(tensor.shape == (1, 2, 3, 3) for tensor in open_torch(path).tensors)
    torch.save({"a": torch.zeros(2), "b": Path("x")}, path)
    with pytest.raises(FileError, match="save its tensors in a dict, by their names"):
        open_torch(path)
