"""Sessions on disk: exact round trips, and hostile files refused before they cost anything."""

from __future__ import annotations

import errno
import io
import json
import os
import random
import struct
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from attn_gui.files import archive, atomic, session
from attn_gui.files.errors import FileError
from attn_gui.files.session import load, save
from attn_gui.model.biases.additive import Additive
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, Imported, Term
from attn_gui.model.masks.document import Document
from attn_gui.model.painted import Painted, Rectangle
from attn_gui.model.positions.learned import Learned
from attn_gui.model.rotary.imported import ImportedRotary
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.tokens import TokenSequence
from tests.files.strategies import differences, sessions

DATA = Path(__file__).parent / "data"
quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def large(n: int = 60, d: int = 20) -> Experiment:
    """An experiment whose embeddings are a member of their own."""
    X = np.random.RandomState(3).standard_normal((n, d))
    return Experiment.from_tokens([f"t{i}" for i in range(n)], X, rule=Causal())


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "a.attn"
    save(Session((NamedExperiment("one", large(), "note"),), 0, {"decimals": 4}), path)
    return path


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as zipped:
        return {name: zipped.read(name) for name in zipped.namelist()}


def rewrite(path: Path, parts: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", method) as zipped:
        for name, data in parts.items():
            zipped.writestr(name, data)


def refused(path: Path) -> FileError:
    with pytest.raises(FileError) as caught:
        load(path)
    assert caught.value.path == path
    return caught.value


@quick
@given(sessions())
def test_reads_back_to_the_last_bit(tmp_path: Path, stored: Session) -> None:
    save(stored, tmp_path / "a.attn")
    assert differences(load(tmp_path / "a.attn"), stored) == []


def test_large_arrays_read_back_to_the_last_bit(tmp_path: Path) -> None:
    rng = np.random.RandomState(1)
    Q, K, V = rng.standard_normal((2, 40, 30)), rng.standard_normal((2, 40, 30)), rng.standard_normal((2, 40, 17))
    Q[0, 0, :4] = [np.nan, np.inf, -np.inf, -0.0]
    wide = TokenSequence.of([f"t{i}" for i in range(2000)], rng.standard_normal((2000, 3)), pad=rng.rand(2000) < 0.5)
    stored = Session(
        (
            NamedExperiment("given", Experiment.from_qkv(Q, K, V)),
            NamedExperiment("long", Experiment.from_tokens(wide.tokens, np.zeros((2000, 3)), context=wide)),
        ),
        1,
    )
    save(stored, tmp_path / "a.attn")
    assert differences(load(tmp_path / "a.attn"), stored) == []


def with_large_parts() -> Experiment:
    """An experiment whose mask, bias, positions and columns are members of their own."""
    rng, n = np.random.RandomState(2), 1200
    cells = np.zeros((40, n), bool)
    cells[3, 5] = True
    return Experiment.from_tokens(
        [f"q{i}" for i in range(40)],
        rng.standard_normal((40, 2)),
        context=TokenSequence.of(
            [f"k{i}" for i in range(n)],
            np.zeros((n, 2)),
            pad=np.arange(n) % 2 == 0,
            segment=np.arange(n),
            parent=np.arange(n) - 1,
            position=np.arange(n)[::-1],
        ),
        rule=Combined((Term(Imported(cells)), Term(Document(), "or", heads=(0,)))),
        scoring=Scoring(
            biases=(Additive(rng.standard_normal((1, 40, n))),),
            position=Learned(rng.standard_normal((n, 2))),
            rotary=ImportedRotary(cos=np.ones((n, 1)), sin=np.zeros((n, 1))),
        ),
    )


def test_large_arrays_of_parts_and_columns_read_back_to_the_last_bit(tmp_path: Path) -> None:
    stored = Session((NamedExperiment("parts", with_large_parts()),))
    save(stored, tmp_path / "a.attn")
    assert differences(load(tmp_path / "a.attn"), stored) == []
    kinds = {np.load(io.BytesIO(data)).dtype for name, data in members(tmp_path / "a.attn").items() if "npy" in name}
    assert kinds == {np.dtype(bool), np.dtype(np.int64), np.dtype(np.float64)}


@pytest.mark.parametrize(
    ("keys", "other", "where", "words"),
    [
        (
            ("mask", "rule", "terms", 0, "rule", "cells"),
            ("scoring", "position", "table"),
            "experiments[0].mask.rule.terms[0].rule.cells",
            "bool numbers with 2 or 3 axes, received float64 of shape (1200, 2)",
        ),
        (
            ("scoring", "position", "table"),
            ("mask", "rule", "terms", 0, "rule", "cells"),
            "experiments[0].scoring.position.table",
            "float64 numbers with 2 axes, received bool of shape (40, 1200)",
        ),
        (
            ("context", "columns", "segment"),
            ("context", "columns", "pad"),
            "experiments[0].context.columns.segment",
            "int64 numbers with 1 axes, received bool of shape (1200,)",
        ),
    ],
)
def test_a_member_of_another_kind_is_refused(tmp_path: Path, keys: Any, other: Any, where: str, words: str) -> None:
    path = tmp_path / "a.attn"
    save(Session((NamedExperiment("parts", with_large_parts()),)), path)
    parts = members(path)
    manifest = json.loads(parts["session.json"])

    def found(*keys: Any) -> Any:
        at = manifest["experiments"][0]
        for key in keys:
            at = at[key]
        return at

    found(*keys[:-1])[keys[-1]] = found(*other)
    parts["session.json"] = json.dumps(manifest).encode()
    rewrite(path, parts)
    error = refused(path)
    assert error.where == where
    assert words in str(error)


def test_what_is_in_the_file(saved: Path) -> None:
    parts = members(saved)
    assert set(parts) == {"session.json", "arrays/1.npy"}
    manifest = json.loads(parts["session.json"])
    assert (manifest["format"], manifest["version"], manifest["current"]) == ("attn-session", 1, 0)
    assert manifest["view"] == {"decimals": 4}
    assert manifest["experiments"][0]["tokens"]["embeddings"] == {"npy": "arrays/1.npy"}
    array = np.load(io.BytesIO(parts["arrays/1.npy"]), allow_pickle=False)
    np.testing.assert_array_equal(array, large().tokens.embeddings.array())


def test_equal_arrays_are_stored_and_loaded_once(tmp_path: Path) -> None:
    save(Session((NamedExperiment("one", large()), NamedExperiment("two", large()))), tmp_path / "a.attn")
    assert set(members(tmp_path / "a.attn")) == {"session.json", "arrays/1.npy"}
    one, two = (named.experiment for named in load(tmp_path / "a.attn").experiments)
    assert one.tokens.embeddings is two.tokens.embeddings


def test_the_same_session_gives_the_same_bytes(saved: Path) -> None:
    before = saved.read_bytes()
    save(load(saved), saved)
    assert saved.read_bytes() == before


def test_version_1_opens() -> None:
    stored = load(DATA / "session_v1.attn")
    assert [named.name for named in stored.experiments] == ["Self", "Cross", "Given"]
    assert (stored.current, dict(stored.view)) == (1, {"decimals": 4, "stage": "N"})
    own, cross, given_qkv = (named.experiment for named in stored.experiments)
    assert own.tokens.tokens == ("karina", "=is", "שלום", "👩‍👩‍👧", "the", "the")
    assert own.tokens.dimensions == ("noun", None)
    assert own.tokens.pad.tolist() == [False] * 5 + [True]
    assert own.tokens.embeddings.array()[2].tolist() == [1e-7, -0.0]
    assert own.weights is not None
    assert own.weights.b_Q is not None
    assert own.weights.b_Q.array().tolist() == [[0.5, -0.25]]
    assert (own.rule.kind, own.painted.at(1, 0), own.painted.at(0, 1), own.painted.at(3, 3)) == (
        "padding",
        False,
        True,
        None,
    )
    assert (own.scoring.scale, own.scoring.softcap, own.precision) == (0.0, 30.0, "bfloat16")
    assert (cross.variant, cross.heads, cross.kv_heads, cross.n_q, cross.n_k) == ("multi_head_cross", 4, 2, 3, 40)
    assert cross.rule == Causal("bottom-right")
    np.testing.assert_array_equal(cross.keys.embeddings.array(), np.arange(40 * 30).reshape(40, 30) / 7)
    assert cross.weights is not None
    assert cross.weights.W_O is not None
    assert cross.weights.W_O.shape == (8, 5)
    assert (given_qkv.n_q, given_qkv.n_k, given_qkv.d_k, given_qkv.d_v) == (2, 1, 1, 2)
    assert repr(given_qkv.source.Q.tolist()) == "[[[nan], [-inf]]]"


def test_an_error_while_saving_keeps_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(FileError, match="a full disk"):
        save(load(saved), saved)
    with pytest.raises(ValueError, match="not JSON compliant"):
        save(Session((NamedExperiment("n", large()),), 0, {"zoom": float("nan")}), saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir() if path.is_file()] == ["a.attn"]


def test_a_file_cut_anywhere_is_refused(saved: Path) -> None:
    data = saved.read_bytes()
    for length in [*range(200), *range(200, len(data), 37), *range(len(data) - 200, len(data))]:
        saved.write_bytes(data[:length])
        refused(saved)


def test_a_damaged_file_is_refused_or_the_same(saved: Path) -> None:
    data, whole = saved.read_bytes(), load(saved)
    directory = data.find(b"PK\x01\x02")
    choose = random.Random(5)
    for _ in range(600):
        damaged = bytearray(data)
        at = choose.choice([choose.randrange(len(data)), choose.randrange(directory, len(data))])
        damaged[at] = choose.randrange(256)
        saved.write_bytes(damaged)
        try:
            found = load(saved)
        except FileError:
            continue
        assert differences(found, whole) == []


@pytest.mark.parametrize("data", [b"", b"PK", b"hello", b"\x80\x04\x95pickle", b"{}", bytes(1000)])
def test_what_is_not_a_zip_file(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.attn"
    path.write_bytes(data)
    assert refused(path).expected == "an attn_gui session (.attn)"


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert "does not exist" in str(refused(tmp_path / "none.attn"))
    assert "a folder" in str(refused(tmp_path))


def test_a_newer_version(saved: Path) -> None:
    parts = members(saved)
    parts["session.json"] = parts["session.json"].replace(b'"version": 1', b'"version": 7', 1)
    rewrite(saved, parts)
    assert "version 7, which a newer attn_gui wrote" in str(refused(saved))


def test_packed_anew_by_another_program(saved: Path) -> None:
    whole = load(saved)
    rewrite(saved, {"arrays/": b""} | members(saved), zipfile.ZIP_DEFLATED)
    assert differences(load(saved), whole) == []


@pytest.mark.parametrize(
    "name", ["../session.json", "/etc/passwd", "arrays/../x.npy", "C:\\a.npy", "arrays/a.npy", "a", "arrays/1.npy\n"]
)
def test_names_that_a_session_does_not_have(saved: Path, name: str) -> None:
    rewrite(saved, members(saved) | {name: b"x"})
    assert "no entries but session.json" in str(refused(saved))


def test_the_same_name_twice(saved: Path) -> None:
    parts = members(saved)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(saved, "a") as zipped:
            zipped.writestr("arrays/1.npy", parts["arrays/1.npy"])
    assert refused(saved).where == "arrays/1.npy"


def test_too_many_entries(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_ENTRIES", 1)
    assert "at most 1 entries" in str(refused(saved))


def test_a_missing_manifest_or_member(saved: Path) -> None:
    parts = members(saved)
    rewrite(saved, {"session.json": parts["session.json"]})
    error = refused(saved)
    assert error.where == "experiments[0].tokens.embeddings"
    assert "arrays/1.npy" in str(error)
    rewrite(saved, {"arrays/1.npy": parts["arrays/1.npy"]})
    assert "session.json" in str(refused(saved))


def test_other_methods_of_packing(saved: Path) -> None:
    rewrite(saved, members(saved), zipfile.ZIP_LZMA)
    assert "stored or deflated" in str(refused(saved))


def test_a_bomb_is_refused_before_it_is_unpacked(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "SMALL_BYTES", 1 << 16)
    rewrite(saved, members(saved) | {"arrays/2.npy": bytes(50 << 20)}, zipfile.ZIP_DEFLATED)
    assert saved.stat().st_size < 100_000
    monkeypatch.setattr(zipfile.ZipFile, "open", None)
    assert "100 times the size of the file" in str(refused(saved))


def test_a_bomb_in_the_manifest(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_MANIFEST_BYTES", 1 << 16)
    rewrite(saved, members(saved) | {"session.json": b" " * (1 << 20)}, zipfile.ZIP_DEFLATED)
    monkeypatch.setattr(zipfile.ZipFile, "open", None)
    assert refused(saved).where == "session.json"


def test_an_entry_larger_than_it_says(saved: Path) -> None:
    """The sizes of the directory are what is read, whatever the packed data would unpack to."""
    parts = members(saved)
    rewrite(saved, parts | {"session.json": parts["session.json"] + b" " * 9999}, zipfile.ZIP_DEFLATED)
    data = bytearray(saved.read_bytes())
    at = data.rfind(b"session.json") - 46
    size = struct.unpack_from("<I", data, at + 24)[0]
    struct.pack_into("<I", data, at + 24, size - 9999)
    saved.write_bytes(data)
    assert refused(saved).expected == "an attn_gui session (.attn)"


def npy(header: str, data: bytes, version: tuple[int, int] = (1, 0)) -> bytes:
    text = header.encode("latin-1").ljust(118 - 1) + b"\n"
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H", len(text)) + text + data


F8 = "{'descr': '<f8', 'fortran_order': False, 'shape': (60, 20), }"
NUMBERS = bytes(60 * 20 * 8)


@pytest.mark.parametrize(
    ("member", "words"),
    [
        (npy(F8, NUMBERS[:-8]), "9600 bytes of numbers, for shape (60, 20), received 9592"),
        (npy(F8, NUMBERS + b"12345678"), "received 9608"),
        (npy(F8.replace("60, 20", "999999999999999999, 999999999999999999"), NUMBERS), "bytes of numbers"),
        (npy(F8.replace("60, 20", "0, 999999999999999999, 999999999999999999"), b""), "a shape that numpy can hold"),
        (npy(F8.replace("60, 20", "-60, -20"), NUMBERS), "sides of 0 or more, received shape (-60, -20)"),
        (npy(F8.replace("60, 20", "60, 20.0"), NUMBERS), "another header"),
        (npy(F8.replace("60, 20", "__import__('os').getpid(), 20"), NUMBERS), "another header"),
        (npy(F8.replace("60, 20", "1" * 20_000), NUMBERS), "another header"),
        (npy(F8.replace("60, 20", "(" * 5000), NUMBERS), "another header"),
        (npy(F8.replace("<f8", "|O"), b"\x80\x04N."), "numpy type |O"),
        (npy(F8.replace("<f8", "<f4"), NUMBERS[: 60 * 20 * 4]), "float64 numbers with 2 axes, received float32"),
        (npy(F8.replace("'<f8'", "[('a', '<f8')]"), NUMBERS), "another header"),
        (npy(F8, NUMBERS, (3, 0)), "another header"),
        (npy(F8.replace("60, 20", "1200,"), NUMBERS), "float64 numbers with 2 axes"),
        (npy(F8.replace("<f8", "|b1"), NUMBERS[:1200]), "float64 numbers with 2 axes, received bool"),
        (npy(F8.replace("<f8", "|b1"), b"\x07" * 1200), "0 or 1"),
        (npy(F8.replace("60, 20", "20, 60"), NUMBERS), "one row for each of 60 tokens"),
        (b"", "another header"),
        (b"\x93NUMPY\x01\x00", "another header"),
        (b"\x80\x04\x95 not numpy", "another header"),
    ],
)
def test_arrays_that_are_not_what_they_say(saved: Path, member: bytes, words: str) -> None:
    rewrite(saved, members(saved) | {"arrays/1.npy": member})
    assert words in str(refused(saved))


@pytest.mark.parametrize("dtype", ["<f8", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_byte_order_and_layout(saved: Path, dtype: str, order: Any) -> None:
    expected = np.arange(1200.0).reshape(60, 20)
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(expected, dtype=dtype, order=order))
    rewrite(saved, members(saved) | {"arrays/1.npy": buffer.getvalue()})
    found = load(saved).experiment.tokens.embeddings.array()
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == np.float64


def test_a_pickled_array_is_never_unpickled(saved: Path, tmp_path: Path) -> None:
    class Harmful:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "ran",))

    buffer = io.BytesIO()
    np.save(buffer, np.array([Harmful()], dtype=object), allow_pickle=True)
    rewrite(saved, members(saved) | {"arrays/1.npy": buffer.getvalue()})
    assert "numpy type |O" in str(refused(saved))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("key", "value", "where", "words"),
    [
        ("format", "zip", "", "attn-session"),
        ("version", "1", "", "whole number"),
        ("current", 3, "current", "0 to 0"),
        ("current", -1, "current", "0 to 0"),
        ("view", [], "view", "an object"),
        ("experiments", [], "session", "at least 1 experiment"),
        ("experiments", {}, "experiments", "a list"),
        ("experiments", [None], "experiments[0]", "an object"),
        ("experiment", [], "", "received “experiment”"),
    ],
)
def test_wrong_values_in_the_manifest(saved: Path, key: str, value: Any, where: str, words: str) -> None:
    parts = members(saved)
    manifest = json.loads(parts["session.json"]) | {key: value}
    rewrite(saved, parts | {"session.json": json.dumps(manifest).encode()})
    error = refused(saved)
    assert error.where == where
    assert words in str(error)


@pytest.mark.parametrize(
    "value",
    [[0] * 70_000, "x" * 70_000, {"x" * 70_000: 1}, [[["x" * 100] * 100] * 10], [10**4000] * 30],
)
def test_a_view_of_many_values_is_refused(saved: Path, value: Any) -> None:
    parts = members(saved)
    manifest = json.loads(parts["session.json"]) | {"view": {"small": 1, "large": [value] * 5}}
    rewrite(saved, parts | {"session.json": json.dumps(manifest).encode()})
    error = refused(saved)
    assert error.where == "view"
    assert "65,536 values and characters" in str(error)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ({"npy": "session.json"}, "the member session.json"),
        ({"npy": 1}, "text"),
        ({"npy": "arrays/1.npy", "more": 1}, "only npy"),
        ({"kind": "normal", "seed": 0, "shape": [60, 20]}, "“npy”"),
    ],
)
def test_references_that_lead_nowhere(saved: Path, reference: Any, words: str) -> None:
    parts = members(saved)
    manifest = json.loads(parts["session.json"])
    manifest["experiments"][0]["tokens"]["embeddings"] = reference
    rewrite(saved, parts | {"session.json": json.dumps(manifest).encode()})
    error = refused(saved)
    assert error.where.startswith("experiments[0].tokens.embeddings")
    assert words in str(error)


def test_more_memory_than_there_is(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_much(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(session.npy, "read", too_much)
    assert "arrays that fit in memory" in str(refused(saved))


def test_a_damaged_packing_is_said(saved: Path) -> None:
    rewrite(saved, members(saved), zipfile.ZIP_DEFLATED)
    data = bytearray(saved.read_bytes())
    at = data.find(b"arrays/1.npy") + len("arrays/1.npy") + 8
    data[at : at + 64] = bytes(64)
    saved.write_bytes(data)
    with pytest.raises(zlib.error), zipfile.ZipFile(saved) as zipped:
        zipped.read("arrays/1.npy")
    assert "damaged or cut off" in str(refused(saved))


def test_painted_cells_stay_rectangles(tmp_path: Path) -> None:
    e = Experiment.from_tokens(["a", "b"], np.eye(2), painted=Painted().with_cells([(0, 1), (1, 1)], False))
    save(Session((NamedExperiment("n", e),)), tmp_path / "a.attn")
    manifest = json.loads(members(tmp_path / "a.attn")["session.json"])
    assert manifest["experiments"][0]["mask"]["painted"] == [[0, 2, 1, 2, False]]


@pytest.mark.parametrize("value", ["1e999", "[1e999]", '{"a": -1e999}', "[" * 900 + "]" * 900])
def test_a_view_choice_that_cannot_be_written_is_left_out(saved: Path, value: str) -> None:
    parts = members(saved)
    text = parts["session.json"].replace(b'{"decimals": 4}', b'{"decimals": 4, "odd": ' + value.encode() + b"}")
    assert value.encode() in text
    rewrite(saved, parts | {"session.json": text})
    stored = load(saved)
    assert stored.view == {"decimals": 4}
    save(stored, saved)


def test_more_experiments_than_can_be_worked_with(saved: Path) -> None:
    one = load(saved).named
    save(Session((one,) * 1000), saved)
    assert len(load(saved).experiments) == 1000
    with pytest.raises(FileError, match="experiments: expected at most 1,000, received 1,001"):
        save(Session((one,) * 1001), saved)
    assert len(load(saved).experiments) == 1000
    parts = members(saved)
    manifest = json.loads(parts["session.json"])
    manifest["experiments"] = ["not even looked at"] * 20_000
    rewrite(saved, parts | {"session.json": json.dumps(manifest).encode()})
    assert "at most 1,000, received 20,000" in str(refused(saved))


def test_more_rectangles_than_can_be_worked_with(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    e = Experiment.from_tokens(["a", "b"], np.eye(2), painted=Painted((Rectangle(0, 1, 0, 1, False),) * 6))
    many = Session((NamedExperiment("one", e), NamedExperiment("two", e)))
    save(many, saved)
    assert len(load(saved).experiments) == 2
    monkeypatch.setattr(session, "MAX_RECTANGLES", 10)
    assert "experiments: expected at most 10 rectangles painted by hand, received 12" in str(refused(saved))
    with pytest.raises(FileError, match="received 12"):
        save(many, saved)
