"""Given scores and weights, places, origins and originals in files: each bit comes back, and nothing is kept twice."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from attn_gui.files import experiment_json
from attn_gui.files.errors import FileError
from attn_gui.files.experiment_json import from_place, to_plain
from attn_gui.files.json_text import dumps
from attn_gui.files.lost import LostFile
from attn_gui.files.places import Place, parsed
from attn_gui.files.session import load, save
from attn_gui.files.summary import summary
from attn_gui.files.tensors.looking import look
from attn_gui.files.tensors.opening import session_of
from attn_gui.model.captured import CapturedModel
from attn_gui.model.edits import delete_tokens
from attn_gui.model.experiment import Experiment
from attn_gui.model.layer_place import LayerPlace
from attn_gui.model.mapped import is_mapped
from attn_gui.model.masks import Causal
from attn_gui.model.session import NamedExperiment, Session, given_parts
from attn_gui.model.tensors.proposals import propose

DATA = Path(__file__).parent / "data"
HERE = Path("here.json")
TYPES = (np.float16, np.float32, np.float64, ml_dtypes.bfloat16, np.int32, np.bool_)
quick = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


def bits(array: NDArray[Any]) -> tuple[str, tuple[int, ...], bytes]:
    return array.dtype.name, array.shape, np.ascontiguousarray(array).tobytes()


@st.composite
def experiments(draw: st.DrawFn) -> Experiment:
    """Of any given kind, in any types of number, some of them not finite; small enough for JSON, or too large."""
    heads, n_q, n_k = draw(st.integers(1, 3)), draw(st.integers(1, 40)), draw(st.integers(1, 40))
    random = np.random.RandomState(draw(st.integers(0, 1 << 16)))

    def numbers(*shape: int) -> NDArray[Any]:
        dtype = draw(st.sampled_from(TYPES))
        array = random.normal(0, 2, shape).astype(dtype)
        if np.dtype(dtype).kind == "f" and draw(st.booleans()):
            array.flat[0] = draw(st.sampled_from([np.nan, np.inf, -np.inf, -0.0]))
        return array

    V = numbers(heads, n_k, 2) if draw(st.booleans()) else None
    kind = draw(st.sampled_from(("qkv", "scores", "weights")))
    if kind == "qkv":
        return Experiment.from_qkv(numbers(heads, n_q, 3), numbers(heads, n_k, 3), numbers(heads, n_k, 2))
    if kind == "scores":
        return Experiment.from_scores(numbers(heads, n_q, n_k), V, rule=Causal())
    return Experiment.from_weights(numbers(heads, n_q, n_k), V)


@quick
@given(experiments(), st.booleans())
def test_what_was_given_comes_back_bit_by_bit(tmp_path: Path, e: Experiment, compared: bool) -> None:
    place = LayerPlace(3, "encoder.layer.3.attention.self", "cross", 1)
    original = replace(e) if compared else None
    model = CapturedModel("/models/bert", "BertModel")
    named = NamedExperiment("given", e, place=place, original=original)
    save(Session((named,), model=model), tmp_path / "a.attn")
    found = load(tmp_path / "a.attn")
    assert found.model == model and found.named.place == place
    assert type(found.experiment.source) is type(e.source)
    assert (found.experiment.precision, found.experiment.rule) == (e.precision, e.rule)
    for part, array in given_parts(e).items():
        assert bits(given_parts(found.experiment)[part]) == bits(array)
        if found.named.original is not None:
            assert bits(given_parts(found.named.original)[part]) == bits(array)
    assert (found.named.original is not None) is compared
    with zipfile.ZipFile(tmp_path / "a.attn") as zipped:
        members = [name for name in zipped.namelist() if name.startswith("arrays/")]
    distinct = {bits(array) for array in given_parts(e).values() if array.size > 1000}
    assert len(members) == len(distinct)
    # what was already written before there were such things is written as it was
    plain = to_plain(NamedExperiment("plain", Experiment.from_tokens(["a"], [[1.0]])))
    assert plain["version"] == 2 and not {"place", "origin", "original"} & plain.keys()


@quick
@given(experiments())
def test_it_comes_back_from_json_alone(e: Experiment) -> None:
    text = dumps(to_plain(NamedExperiment("given", e)))
    found = from_place(Place(parsed(HERE, "", text), HERE))
    for part, array in given_parts(e).items():
        assert bits(given_parts(found.experiment)[part]) == bits(array)


@pytest.fixture
def opened(tmp_path: Path) -> Session:
    """A session of a file of weights of two layers."""
    random = np.random.RandomState(1)
    N = random.rand(2, 3, 8, 8).astype(np.float16)
    np.save(tmp_path / "attn.npy", N / N.sum(axis=-1, keepdims=True))
    return _opened(tmp_path / "attn.npy")


def _opened(path: Path) -> Session:
    contents = _result(look([path]))
    session: Session = _result(session_of(contents, propose(contents)))
    return session


def _result(steps: Any) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as stopped:
            return stopped.value


def test_a_session_says_where_the_arrays_lie_and_finds_them_again(opened: Session, tmp_path: Path) -> None:
    assert len(opened.experiments) == 2 and all(named.origin is not None for named in opened.experiments)
    save(opened, tmp_path / "a.attn")
    with zipfile.ZipFile(tmp_path / "a.attn") as zipped:
        assert zipped.namelist() == ["session.json"]
        assert b'"beside": "attn.npy"' in zipped.read("session.json")
    found = load(tmp_path / "a.attn")
    for before, after in zip(opened.experiments, found.experiments, strict=True):
        assert bits(given_parts(after.experiment)["N"]) == bits(given_parts(before.experiment)["N"])
        assert after.origin is not None and before.origin is not None
        assert (after.origin.digest, after.place) == (before.origin.digest, before.place)
    # and again from there, as from another place with the file beside it
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    save(found, tmp_path / "b.attn")
    for name in ("b.attn", "attn.npy"):
        (tmp_path / name).rename(elsewhere / name)
    moved = load(elsewhere / "b.attn")
    assert moved.named.origin is not None and Path(moved.named.origin.path) == elsewhere / "attn.npy"
    assert "attn.npy" in "\n".join(summary(moved))


def test_an_array_that_was_edited_is_stored_and_the_others_are_not(opened: Session, tmp_path: Path) -> None:
    edited = opened.with_experiment(delete_tokens(opened.experiment, "tokens", [3]))
    save(edited, tmp_path / "a.attn")
    found = load(tmp_path / "a.attn")
    assert found.experiment.n_q == 7
    assert bits(given_parts(found.experiment)["N"]) == bits(given_parts(edited.experiment)["N"])
    assert found.experiments[1].origin is not None


def test_a_file_that_is_missing_or_another_is_told_by_name(opened: Session, tmp_path: Path) -> None:
    save(opened, tmp_path / "a.attn")
    before = (tmp_path / "a.attn").read_bytes()
    content = (tmp_path / "attn.npy").read_bytes()
    (tmp_path / "attn.npy").unlink()
    with pytest.raises(FileError) as missing:
        load(tmp_path / "a.attn")
    assert "attn.npy" in str(missing.value) and "put it back" in str(missing.value)
    (tmp_path / "attn.npy").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(FileError) as changed:
        load(tmp_path / "a.attn")
    assert "attn.npy" in str(changed.value)
    (tmp_path / "attn.npy").write_bytes(content)
    assert len(load(tmp_path / "a.attn").experiments) == 2
    assert (tmp_path / "a.attn").read_bytes() == before


def test_a_file_that_is_elsewhere_is_found_where_it_is_said_to_be_and_others_beside_it(tmp_path: Path) -> None:
    was, now = tmp_path / "was", tmp_path / "now"
    for folder in (was, now, tmp_path / "sessions"):
        folder.mkdir()
    random = np.random.RandomState(2)
    opened = []
    for name in ("one.npy", "two.npy"):
        N = random.rand(2, 3, 8, 8)
        np.save(was / name, N / N.sum(axis=-1, keepdims=True))
        opened += _opened(was / name).experiments
    before, path = Session(tuple(opened)), tmp_path / "sessions" / "a.attn"
    save(before, path)
    for name in ("one.npy", "two.npy"):
        (was / name).rename(now / name)
    with pytest.raises(LostFile) as lost:
        load(path)
    assert (lost.value.name, lost.value.lost, lost.value.is_folder) == ("one.npy", str(was / "one.npy"), False)
    assert "experiments[" not in str(lost.value) and "origin" not in str(lost.value) + lost.value.told
    # what is said to be it and is another is asked for again, by the place that the session knows
    with pytest.raises(LostFile) as another:
        load(path, {lost.value.lost: now / "two.npy"})
    assert another.value.lost == lost.value.lost and "another" in another.value.told
    assert another.value.located == {lost.value.lost: now / "two.npy"}
    found = load(path, {lost.value.lost: now / "one.npy"})
    assert [Path(n.origin.path) for n in found.experiments if n.origin] == [now / "one.npy"] * 2 + [now / "two.npy"] * 2
    for each, other in zip(found.experiments, before.experiments, strict=True):
        assert bits(given_parts(each.experiment)["N"]) == bits(given_parts(other.experiment)["N"])
    save(found, path)
    assert len(load(path).experiments) == 4, "it is known from now on"
    # one that is still where it was stays there, whatever is called like it beside the other
    (now / "two.npy").rename(was / "two.npy")
    (now / "two.npy").write_bytes(b"another")
    (now / "one.npy").rename(now / "renamed.npy")
    save(before, path)
    again = load(path, {str(was / "one.npy"): now / "renamed.npy"})
    assert again.experiments[3].origin is not None and again.experiments[3].origin.path == str(was / "two.npy")


def test_a_folder_that_is_elsewhere_is_asked_for_as_one(tmp_path: Path) -> None:
    (tmp_path / "was").mkdir()
    for layer in range(2):
        np.save(tmp_path / "was" / f"layer{layer}.npy", np.full((3, 8, 8), 1 / 8))
    save(_opened(tmp_path / "was"), tmp_path / "a.attn")
    (tmp_path / "was").rename(tmp_path / "now")
    with pytest.raises(LostFile) as lost:
        load(tmp_path / "a.attn")
    assert lost.value.is_folder and lost.value.name == "was"
    assert len(load(tmp_path / "a.attn", {lost.value.lost: tmp_path / "now"}).experiments) == 2


def test_dropping_the_origin_embeds_the_arrays(opened: Session, tmp_path: Path) -> None:
    save(opened.with_current(replace(opened.named, origin=None)), tmp_path / "a.attn")
    (tmp_path / "attn.npy").rename(tmp_path / "gone.npy")
    with pytest.raises(FileError):
        load(tmp_path / "a.attn")  # the other layer still lies in the file
    alone = Session((replace(opened.named, origin=None),))
    save(alone, tmp_path / "b.attn")
    assert bits(given_parts(load(tmp_path / "b.attn").experiment)["N"]) == bits(given_parts(alone.experiment)["N"])


def test_a_large_array_stays_in_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attn_gui.files.tensors.layer_arrays.IN_MEMORY", 1_000)
    np.save(tmp_path / "attn.npy", np.full((4, 300, 300), 1 / 300, np.float32))
    session = _opened(tmp_path / "attn.npy")
    save(session, tmp_path / "a.attn")
    assert (tmp_path / "a.attn").stat().st_size < 50_000
    assert is_mapped(given_parts(load(tmp_path / "a.attn").experiment)["N"])


@pytest.mark.parametrize(
    ("path", "value", "where", "words"),
    [
        (("source", "kind"), "given", "source.kind", "“given_scores”"),
        (("source", "N"), [[[1.0, "x"]]], "source.N[0][0][1]", "a number"),
        (("source", "N"), [[1.0]], "source.N[0][0]", "a list"),
        (("source", "N"), {"origin": "N"}, "source.N", "a list, received an object"),
        (("source", "dtypes"), {"N": "float128"}, "source.dtypes.N", "“float16”"),
        (("source", "dtypes"), [], "source.dtypes", "an object"),
        (("source", "V"), [[[1.0]]], "V", "shape (1, 2, size)"),
        (("mask",), {"rule": {"kind": "causal"}}, "mask", "none where weights were given"),
        (("scoring",), {"scale": 2.0}, "scale", "none where weights were given"),
        (("place",), {"layer": -1}, "place: layer", "0 or more"),
        (("place",), {"layer": 0, "kind": "odd"}, "place.kind", "“self” or “cross”"),
        (("place",), {"layer": 0, "batch": "1"}, "place.batch", "a whole number"),
        (("origin",), {"path": "a.npy"}, "origin", "“digest”"),
        (("original",), {"variant": "self"}, "original", "“tokens”"),
    ],
)
def test_a_fault_is_named_by_its_place(path: tuple[str, ...], value: Any, where: str, words: str) -> None:
    plain = parsed(HERE, "", dumps(to_plain(NamedExperiment("w", Experiment.from_weights(np.full((1, 2, 2), 0.5))))))
    at = plain
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = value
    with pytest.raises(FileError) as caught:
        from_place(Place(plain, HERE))
    assert caught.value.where == where and words in str(caught.value)


def test_a_session_of_the_format_before_this_one_opens() -> None:
    found = load(DATA / "session_v2.attn")
    weights, scores = found.experiments
    assert found.model == CapturedModel("/models/tiny", "TinyModel", texts=("one two",))
    assert weights.place == LayerPlace(0, "blocks.0.attn", "self", None)
    N = given_parts(weights.experiment)["N"]
    assert (N.dtype, N.tolist()) == (np.float16, [[[1.0, 0.0], [0.25, 0.75]]])
    assert weights.original is not None and weights.original.scoring.temperature == 2
    A = given_parts(scores.experiment)["A"]
    assert (A.dtype.name, A.shape, float(A[0, 1, 1])) == ("bfloat16", (1, 40, 40), 41.0)
    assert experiment_json.read(DATA / "experiment_v3.json").experiment.has_values is False


def test_a_path_beyond_measure_is_shortened(tmp_path: Path) -> None:
    long = "/nowhere/" + "a" * 2000 + "/" + "b" * 1000 + ".npy"
    np.save(tmp_path / "a.npy", np.full((2, 3, 3), 1 / 3))
    save(_opened(tmp_path / "a.npy"), tmp_path / "a.attn")
    with zipfile.ZipFile(tmp_path / "a.attn") as stored:
        manifest = json.loads(stored.read("session.json"))
    manifest["experiments"][0]["origin"] |= {"path": long, "beside": None}
    with zipfile.ZipFile(tmp_path / "b.attn", "w") as stored:
        stored.writestr("session.json", json.dumps(manifest))
    with pytest.raises(LostFile) as lost:
        load(tmp_path / "b.attn")
    error = lost.value
    assert error.lost == long, "it can be located all the same"
    assert len(error.name) == 80 and error.name.startswith("bbb") and error.name.endswith(".npy")
    assert len(error.told) < 800 and "/nowhere/aaa" in error.told and len(str(error)) < 1200
    (tmp_path / "now").mkdir()
    (tmp_path / "a.npy").rename(tmp_path / "now" / "c.npy")
    assert load(tmp_path / "b.attn", {long: tmp_path / "now" / "c.npy"}).experiment.n_q == 3
