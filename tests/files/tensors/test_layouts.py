"""Whatever layout, type of number and kind of file arrays come in, they open to the same experiment."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.files.tensors.again import arrays_of
from attn_gui.model.experiment import Experiment
from attn_gui.model.sources import GivenQKV, GivenScores, GivenWeights
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.checks import problems
from attn_gui.model.tensors.reading import Part, Reading
from tests.files.tensors.writing import BFLOAT16, looked, opened, write

FORMS = (".npz", ".packed.npz", ".safetensors", ".pt", ".json", "folder")
DTYPES = (np.dtype("f8"), np.dtype("f4"), np.dtype(">f4"), np.dtype("f2"), BFLOAT16)
L, B, H, Q, K, S, W, P, F, ONE = (
    Axis.LAYER,
    Axis.BATCH,
    Axis.HEAD,
    Axis.QUERY,
    Axis.KEY,
    Axis.SIZE,
    Axis.WIDTH,
    Axis.PART,
    Axis.FUSED,
    Axis.SINGLE,
)
# the file's order of [layer, batch, head, row, size], and how it is read; T stands for the rows
T = Q
ROWS = [(L, B, H, T, S), (B, L, T, H, S), (B, H, T, S), (B, T, H, S), (H, T, S), (T, H, S), (L, B, T, W), (T, W)]
ROWS += [(T, S), (S, H, T), (L, H, S, T), (B, ONE, H, T, S)]
SQUARES = [
    (L, B, H, Q, K),
    (B, L, H, Q, K),
    (B, H, Q, K),
    (L, H, K, Q),
    (H, Q, K),
    (Q, K, H),
    (K, Q),
    (Q, K),
    (B, Q, K),
]
FUSED = [(T, F), (B, T, F), (L, B, T, F), (B, T, P, H, S), (P, B, H, T, S), (T, P, W)]


@st.composite
def numbers(draw: st.DrawFn) -> dict[str, Any]:
    kv_heads, shared = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    return {
        "layers": draw(st.integers(1, 3)),
        "batch": draw(st.integers(1, 3)),
        "kv_heads": kv_heads,
        "heads": kv_heads * shared,
        "n_q": draw(st.integers(1, 4)),
        "n_k": draw(st.integers(1, 4)),
        "size": draw(st.integers(1, 3)),
        "dtype": draw(st.sampled_from(DTYPES)),
        "form": draw(st.sampled_from(FORMS)),
        "seed": draw(st.integers(0, 1 << 16)),
    }


def made(n: dict[str, Any], rng: np.random.Generator, *shape: int) -> Any:
    """Numbers that every type holds exactly."""
    return (rng.integers(-64, 65, (n["layers"], n["batch"], *shape)) / 32.0).astype(n["dtype"])


def laid_out(array: Any, axes: tuple[Axis, ...], rows: Axis, columns: Axis) -> Any:
    """``array`` [layer, batch, head, row, column] as a file with ``axes`` holds it."""
    names = [L, B, H, rows, columns]
    for axis in (L, B, H):
        if axis not in axes and not (axis is H and W in axes):
            array = array.take([0], axis=names.index(axis)).squeeze(names.index(axis))
            names.remove(axis)
    if W in axes:  # heads side by side
        at = names.index(H)
        array = np.moveaxis(array, at, -2)
        names.remove(H)
        array = array.reshape(*array.shape[:-2], -1)
        names[-1] = W
    if ONE in axes:
        array = array[np.newaxis]
        names.insert(0, ONE)
    return np.ascontiguousarray(array.transpose([names.index(axis) for axis in axes]))


def chosen(n: dict[str, Any], axes: tuple[Axis, ...]) -> tuple[int, int]:
    """The last layer and item that the file has."""
    return (n["layers"] - 1 if L in axes else 0), (n["batch"] - 1 if B in axes else 0)


def open_it(n: dict[str, Any], arrays: dict[str, Any], parts: list[Part], **reading: Any) -> Experiment:
    """The experiment of the last layer, after what its origin finds again was seen to be the same."""
    with tempfile.TemporaryDirectory() as folder:
        contents = looked(write(Path(folder), n["form"], arrays))
        how = Reading(tuple(parts), **reading)
        assert not problems(contents, how)
        named = opened(contents, how).experiments[-1]
        assert named.origin is not None
        for letter, array in arrays_of(named.origin).items():
            np.testing.assert_array_equal(np.array(array), np.array(named.opened[letter]))
        return named.experiment


def same(n: dict[str, Any], array: Any, expected: Any) -> None:
    exact = n["dtype"] if n["form"] != ".json" else np.dtype("f8")
    assert array.dtype.name == exact.name
    np.testing.assert_array_equal(array.astype(float), expected.astype(float))


@settings(max_examples=60, deadline=None)
@given(numbers(), st.sampled_from(ROWS), st.sampled_from(ROWS))
def test_queries_keys_and_values(n: dict[str, Any], q_axes: tuple[Axis, ...], k_axes: tuple[Axis, ...]) -> None:
    if H not in q_axes and W not in q_axes:
        n["heads"] = n["kv_heads"] = 1
    if H not in k_axes and W not in k_axes:
        n["kv_heads"] = 1
    if (L in q_axes) != (L in k_axes):
        n["layers"] = 1
    if (B in q_axes) != (B in k_axes):
        n["batch"] = 1
    rng = np.random.default_rng(n["seed"])
    q = made(n, rng, n["heads"], n["n_q"], n["size"])
    k, v = (made(n, rng, n["kv_heads"], n["n_k"], n["size"]) for _ in "kv")
    of_keys = tuple(K if axis is Q else axis for axis in k_axes)
    arrays = {"q": laid_out(q, q_axes, Q, S), "k": laid_out(k, of_keys, K, S), "v": laid_out(v, of_keys, K, S)}
    if n["form"] == "folder":
        n["form"] = ".npz" if n["dtype"] == BFLOAT16 else "folder"
    parts = [Part(Role.Q, ("q",), q_axes), Part(Role.K, ("k",), of_keys), Part(Role.V, ("v",), of_keys)]
    layer, item = chosen(n, (*q_axes, *k_axes))
    e = open_it(n, arrays, parts, batch=item, heads=n["heads"], kv_heads=n["kv_heads"])
    assert isinstance(e.source, GivenQKV)
    for array, expected in zip((e.source.Q, e.source.K, e.source.V), (q, k, v), strict=True):
        same(n, array, expected[layer, item])
    assert (e.heads, e.kv_heads, e.n_q, e.n_k) == (n["heads"], n["kv_heads"], n["n_q"], n["n_k"])


@settings(max_examples=60, deadline=None)
@given(numbers(), st.sampled_from(SQUARES), st.sampled_from((Role.WEIGHTS, Role.SCORES)))
def test_weights_and_scores(n: dict[str, Any], axes: tuple[Axis, ...], role: Role) -> None:
    if H not in axes:
        n["heads"] = 1
    numbers = made(n, np.random.default_rng(n["seed"]), n["heads"], n["n_q"], n["n_k"])
    layer, item = chosen(n, axes)
    e = open_it(n, {"x": laid_out(numbers, axes, Q, K)}, [Part(role, ("x",), axes)], batch=item)
    if role is Role.WEIGHTS:
        assert isinstance(e.source, GivenWeights)
        same(n, e.source.N, numbers[layer, item])
    else:
        assert isinstance(e.source, GivenScores)
        same(n, e.source.A, numbers[layer, item])


@settings(max_examples=60, deadline=None)
@given(numbers(), st.sampled_from(FUSED), st.sampled_from(("parts", "heads")))
def test_fused(n: dict[str, Any], axes: tuple[Axis, ...], order: Any) -> None:
    if F not in axes:
        n["kv_heads"] = n["heads"]
    n["n_k"] = n["n_q"]
    rng = np.random.default_rng(n["seed"])
    q = made(n, rng, n["heads"], n["n_q"], n["size"])
    k, v = (made(n, rng, n["kv_heads"], n["n_q"], n["size"]) for _ in "kv")
    if F in axes:
        if order == "parts":
            joined = np.concatenate([np.moveaxis(x, 2, 3).reshape(*x.shape[:2], n["n_q"], -1) for x in (q, k, v)], -1)
        else:
            shared = n["heads"] // n["kv_heads"]
            groups = q.reshape(*q.shape[:2], n["kv_heads"], shared, *q.shape[3:])
            each = np.concatenate([groups, k[:, :, :, None], v[:, :, :, None]], 3)
            joined = np.moveaxis(each, 4, 2).reshape(*q.shape[:2], n["n_q"], -1)
        for axis, place in ((B, 1), (L, 0)):
            if axis not in axes:
                joined = joined.take(0, axis=place)
    else:
        without = tuple(axis for axis in axes if axis is not P)
        joined = np.stack([laid_out(x, without, Q, S) for x in (q, k, v)], axes.index(P))
    layer, item = chosen(n, axes)
    e = open_it(
        n,
        {"x": joined},
        [Part(Role.QKV, ("x",), axes, order=order)],
        batch=item,
        heads=n["heads"],
        kv_heads=n["kv_heads"],
    )
    assert isinstance(e.source, GivenQKV)
    for array, expected in zip((e.source.Q, e.source.K, e.source.V), (q, k, v), strict=True):
        same(n, array, expected[layer, item])


@pytest.mark.parametrize("form", FORMS)
def test_a_layer_a_tensor_is_a_layer_an_experiment(tmp_path: Path, form: str) -> None:
    rng = np.random.default_rng(0)
    layers = {f"layer_{layer}": rng.random((2, 3, 4)) for layer in range(1, 12)}
    contents = looked(write(tmp_path, form, layers))
    reading = Reading((Part(Role.SCORES, tuple(t.name for t in contents.tensors), (H, Q, K), tuple(range(11))),))
    session = opened(contents, reading)
    assert [named.name for named in session.experiments] == [f"Layer {layer}" for layer in range(1, 12)]
    names = [tensor.name for tensor in contents.tensors]
    for name, named in zip(names, session.experiments, strict=True):
        assert isinstance(named.experiment.source, GivenScores)
        np.testing.assert_array_equal(named.experiment.source.A, layers[name])
        assert name in named.note


def test_a_big_file_stays_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attn_gui.files.tensors.layer_arrays.IN_MEMORY", 100)
    from attn_gui.model.mapped import is_mapped

    for form in (".npz", ".safetensors", ".pt", "folder"):
        path = write(tmp_path, form, {"a": np.arange(60.0).reshape(3, 4, 5)})
        contents = looked(path)
        e = opened(contents, Reading((Part(Role.SCORES, ("a",), (H, Q, K)),))).experiment
        assert isinstance(e.source, GivenScores)
        assert is_mapped(e.source.A)
        np.testing.assert_array_equal(e.source.A, np.arange(60.0).reshape(3, 4, 5))
        assert not e.source.A.flags.writeable
