"""save: what a forward pass hands over comes back to the last bit, layer by layer, and no accident costs a file."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

import attn_gui
from attn_gui import save
from attn_gui.files import npy
from attn_gui.files.errors import FileError
from attn_gui.files.script import saving
from attn_gui.files.script.layers import Layer
from attn_gui.files.session import load
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.layer_place import LayerPlace
from attn_gui.model.masks import Causal, MaskRule
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.sources import GivenQKV, GivenScores, GivenWeights
from attn_gui.views.check.kept import _read

quick = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])

TORCH = {
    torch.float64: np.float64,
    torch.float32: np.float32,
    torch.float16: np.float16,
    torch.bfloat16: ml_dtypes.bfloat16,
}


def numbers(shape: tuple[int, ...], seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape)


def qkv(batch: int = 1, heads: int = 2, kv: int = 1, n_q: int = 4, n_k: int = 4, d: int = 3) -> dict[str, Any]:
    return {
        "q": numbers((batch, heads, n_q, d), 1),
        "k": numbers((batch, kv, n_k, d), 2),
        "v": numbers((batch, kv, n_k, d), 3),
    }


def test_layers_are_added_one_after_another_and_named(tmp_path: Path) -> None:
    path = tmp_path / "x.attn"
    for layer in (0, 1, None):
        save(path, **qkv(heads=8, n_q=30, n_k=30, d=16), layer=layer, module=f"blocks.{layer}.attn")
    save(path, weights=np.full((2, 3, 4), 0.25))
    found = load(path).experiments
    assert [n.name for n in found] == ["Layer 1", "Layer 2", "Layer 3", "Layer 4, cross"]
    assert [n.place for n in found[:2]] == [LayerPlace(0, "blocks.0.attn"), LayerPlace(1, "blocks.1.attn")]
    assert [n.place.layer for n in found if n.place] == [0, 1, 2, 3]
    assert isinstance(found[3].experiment.source, GivenWeights)
    for n in found[:3]:
        given_here = n.experiment.source
        assert isinstance(given_here, GivenQKV)
        for name, array in qkv(heads=8, n_q=30, n_k=30, d=16).items():
            np.testing.assert_array_equal(given_here.parts()[name.upper()], array[0])


def test_a_layer_that_is_there_is_added_once_more(tmp_path: Path) -> None:
    for _ in range(3):
        save(tmp_path / "x.attn", **qkv(), layer=4)
    assert [n.name for n in load(tmp_path / "x.attn").experiments] == ["Layer 5", "Layer 5 (2)", "Layer 5 (3)"]


@quick
@given(
    st.sampled_from(list(TORCH)),
    st.booleans(),
    st.sampled_from([2, 3, 4]),
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(1, 5),
    st.sampled_from(["as it is", "transposed", "every other", "with a gradient", "of a list"]),
)
def test_every_type_and_layout_reads_back_to_the_last_bit(
    tmp_path: Path, dtype: torch.dtype, as_torch: bool, axes: int, heads: int, n_q: int, n_k: int, layout: str
) -> None:
    path = tmp_path / "x.attn"
    path.unlink(missing_ok=True)
    lead = {2: (), 3: (heads,), 4: (1, heads)}[axes]
    arrays, expected = {}, {}
    for name, n in (("q", n_q), ("k", n_k), ("v", n_k)):
        tensor = torch.randn(*lead, 2 * n, 3).to(dtype)
        if layout == "transposed":
            tensor = tensor.mT.contiguous().mT
        tensor = tensor[..., ::2, :] if layout == "every other" else tensor[..., :n, :]
        plain = np.array(tensor.to(torch.float64).numpy()).astype(TORCH[dtype])
        expected[name] = plain.reshape(-1, n, 3)
        if layout == "with a gradient":
            tensor = tensor.clone().requires_grad_()
        if not as_torch:
            arrays[name] = plain.tolist() if layout == "of a list" else plain
        else:
            arrays[name] = list(tensor) if layout == "of a list" and axes > 2 else tensor
    save(path, **arrays)
    source = load(path).experiment.source
    assert isinstance(source, GivenQKV)
    for name, array in expected.items():
        found = source.parts()[name.upper()]
        assert found.shape == array.shape
        np.testing.assert_array_equal(found.astype(np.float64), array.astype(np.float64))
        if as_torch:
            assert found.dtype == array.dtype
    if as_torch:
        assert load(path).experiment.precision.value == str(dtype).removeprefix("torch.")


def test_tensors_of_an_inference_and_on_no_device(tmp_path: Path) -> None:
    with torch.inference_mode():
        q = torch.randn(2, 3, 4, dtype=torch.bfloat16)
        save(tmp_path / "x.attn", q=q, k=q, v=q)
    assert load(tmp_path / "x.attn").experiment.heads == 2
    with pytest.raises(ExperimentError, match="meta device"):
        save(tmp_path / "x.attn", q=q.to("meta"), k=q, v=q)
    sparse = torch.eye(3).to_sparse()
    save(tmp_path / "y.attn", weights=sparse)
    np.testing.assert_array_equal(load(tmp_path / "y.attn").experiment.source.parts()["N"][0], np.eye(3))


@quick
@given(
    st.integers(1, 3),
    st.sampled_from([(2, 1), (2, 2), (1, 1)]),
    st.integers(1, 4),
    st.integers(1, 4),
    st.sampled_from(["bool", "int", "additive", "lowest", "padding", "none"]),
    st.data(),
)
def test_what_is_computed_of_it_is_what_torch_computes(
    tmp_path: Path, batch: int, heads: tuple[int, int], n_q: int, n_k: int, kind: str, data: st.DataObject
) -> None:
    path = tmp_path / "x.attn"
    path.unlink(missing_ok=True)
    given_here = {k: torch.tensor(v) for k, v in qkv(batch, *heads, n_q, n_k).items()}
    flags: torch.Tensor | None = None
    shape = (batch, n_k) if kind == "padding" else data.draw(shapes_of_mask((batch, heads[0], n_q, n_k)))
    if kind != "none":
        flags = torch.tensor(np.random.default_rng(5).random(shape) < 0.7)
        flags[..., 0] = True  # torch makes NaN of a query that may attend to nothing
    handed: Any = flags
    whole = flags[:, None, None, :] if kind == "padding" and shape != (n_q, n_k) and flags is not None else flags
    used: Any = whole
    if kind == "int" and flags is not None:
        handed = flags.int()
    elif kind in ("additive", "lowest") and flags is not None:
        least = -np.inf if kind == "additive" else torch.finfo(torch.float64).min
        handed = used = torch.where(flags, torch.tensor(numbers(shape, 7)), torch.tensor(least))
    q, k, v = given_here.values()
    out = scaled_dot_product_attention(q, k, v, attn_mask=used, enable_gqa=True)
    save(path, **given_here, mask=handed, out=out)
    session = load(path)
    assert len(session.experiments) == batch
    for index, named in enumerate(session.experiments):
        assert named.place == LayerPlace(0, "", "cross" if n_q != n_k else "self", index if batch > 1 else None)
        found = attn_gui.trace(named.experiment).stage("head_output")
        np.testing.assert_allclose(found, out[index].numpy(), atol=1e-12)


@st.composite
def shapes_of_mask(draw: st.DrawFn, whole: tuple[int, int, int, int]) -> tuple[int, ...]:
    sides = tuple(draw(st.sampled_from([1, side])) for side in whole)
    axes = draw(st.integers(2, 4))
    shape = sides[4 - axes :]
    # two axes may be read as the padding of a batch
    return whole[2:] if axes == 2 else shape


def test_the_causal_mask_is_known_by_its_name(tmp_path: Path) -> None:
    for mask in (np.tri(4, dtype=bool), np.tri(4)[None, None] > 0, np.where(np.tri(4), 0, -np.inf)):
        save(tmp_path / "x.attn", **qkv(), mask=mask)
    assert {n.experiment.rule for n in load(tmp_path / "x.attn").experiments} == {Causal()}


@pytest.mark.parametrize("beside", ["keys", "raw scores"])
def test_causal_weights_are_a_mask_whatever_comes_beside(tmp_path: Path, beside: str) -> None:
    parts = qkv()
    scores = parts["q"] @ np.swapaxes(parts["k"], -1, -2) / np.sqrt(parts["q"].shape[-1])
    n = scores.shape[-1]
    masked = np.where(np.tri(n) > 0, scores, -np.inf)
    weights = np.exp(masked) / np.exp(masked).sum(-1, keepdims=True)
    more = {"mask": np.ones((1, n), int)} if beside == "keys" else {"scores": scores}
    save(tmp_path / "x.attn", **parts, weights=weights, **more)
    e = load(tmp_path / "x.attn").experiments[0].experiment
    assert np.array_equal(e.allowed(slice(0, n), slice(0, n)), np.tri(n) > 0)


def test_0_and_1_of_any_type_are_flags(tmp_path: Path) -> None:
    path = tmp_path / "x.attn"
    for dtype in (bool, np.uint8, np.int64, np.float16, np.float32, ml_dtypes.bfloat16):
        save(path, **qkv(), mask=np.tri(4).astype(dtype))
    save(path, **qkv(), mask=torch.tril(torch.ones(4, 4)))
    for named in load(path).experiments:
        assert named.experiment.rule == Causal()
        assert not named.experiment.scoring.biases
    # numbers that are all 0, and those with others among them, are added
    save(path, **qkv(), mask=np.zeros((4, 4)))
    assert load(path).experiments[-1].experiment.rule == MaskRule()
    save(path, **qkv(), mask=np.tri(4) / 2)
    assert load(path).experiments[-1].experiment.scoring.biases


def test_names_of_tokens(tmp_path: Path) -> None:
    path = tmp_path / "x.attn"
    save(path, **qkv(), tokens=["a", "b", "c", "d"])
    save(path, **qkv(batch=2), tokens=[["a", "b", "c", "d"], ["e", "f", "g", "h"]])
    save(path, **qkv(n_q=1), tokens=["a", "b", "c", "d"])
    save(path, **qkv(n_q=2), tokens=["x", "y"], key_tokens=["a", "b", "c", "d"])
    found = [(n.experiment.tokens.tokens, n.experiment.keys.tokens) for n in load(path).experiments]
    abcd = ("a", "b", "c", "d")
    assert found == [(abcd, abcd), (abcd, abcd), (tuple("efgh"), tuple("efgh")), (("d",), abcd), (("x", "y"), abcd)]


def test_what_comes_besides_is_kept_to_be_compared_with(tmp_path: Path) -> None:
    path = tmp_path / "x.attn"
    weights, scores = np.full((2, 4, 4), 0.25, np.float32), numbers((2, 4, 4))
    save(path, **qkv(), weights=weights)
    save(path, **qkv(), scores=scores)
    save(path, scores=scores, weights=weights)
    first, second, third = load(path).experiments
    assert first.original is not None and isinstance(first.original.source, GivenWeights)
    np.testing.assert_array_equal(first.original.source.N, weights)
    assert second.original is not None and isinstance(second.original.source, GivenScores)
    assert isinstance(third.experiment.source, GivenScores)
    assert third.original is not None and isinstance(third.original.source, GivenWeights)


@pytest.mark.parametrize("merged", [False, True])
def test_the_output_is_there_for_check_my_work(tmp_path: Path, merged: bool) -> None:
    out = numbers((1, 2, 4, 3), 9).astype(np.float32)
    handed = out.transpose(0, 2, 1, 3).reshape(1, 4, 6) if merged else out
    save(tmp_path / "x.attn", **qkv(), out=handed)
    session = load(tmp_path / "x.attn")
    tables = dict(_read(session.view["check"]))["Layer 1"]
    np.testing.assert_array_equal(tables["head_output", 0].printed().values.astype(np.float32), out[0, 0])


def test_of_many_large_outputs_the_beginning_is_kept_and_the_file_opens(tmp_path: Path) -> None:
    big = qkv(heads=1, n_q=64, n_k=64, d=64)
    for _ in range(14):
        save(tmp_path / "x.attn", **big, out=numbers((1, 1, 64, 64), 9))
    session = load(tmp_path / "x.attn")
    assert len(session.experiments) == 14
    assert 0 < len(session.view["check"]) < 14


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "arguments"),
        ({"out": numbers((1, 2))}, "arguments"),
        ({"q": numbers((2, 3)), "k": numbers((2, 3))}, "arguments"),
        ({"v": numbers((2, 3))}, "arguments"),
        ({**qkv(), "q": numbers((2, 2, 4, 3))}, "batch"),
        ({**qkv(), "q": numbers((1, 1, 2, 2, 4, 3))}, "q"),
        ({**qkv(), "k": numbers((1, 1, 0, 3))}, "k"),
        ({**qkv(), "q": [["a"]]}, "q"),
        ({**qkv(), "q": [[1.0], [1.0, 2.0]]}, "q"),
        ({**qkv(), "q": numbers((4, 3)) * 1j}, "q"),
        ({**qkv(), "mask": np.ones((5, 4), bool)}, "mask"),
        ({**qkv(), "mask": np.full((4, 4), 2)}, "mask"),
        ({**qkv(), "out": numbers((3, 3))}, "out"),
        ({"weights": np.eye(3), "out": numbers((3, 3))}, "out"),
        ({"weights": np.eye(3), "mask": np.eye(3) > 0}, "mask"),
        ({"weights": np.eye(3), "scale": 1.0}, "scale"),
        ({**qkv(), "weights": numbers((3, 4))}, "weights"),
        ({**qkv(), "scores": numbers((2, 4, 3))}, "scores"),
        ({"scores": np.eye(3), "weights": np.eye(4)}, "weights"),
        ({**qkv(), "tokens": ["a"]}, "tokens"),
        ({**qkv(), "tokens": "abcd"}, "tokens"),
        ({**qkv(batch=2), "tokens": [["a", "b", "c", "d"]]}, "tokens"),
        ({**qkv(), "layer": -1}, "layer"),
    ],
)
def test_what_does_not_fit_names_the_argument_and_leaves_the_file(
    tmp_path: Path, arguments: dict[str, Any], field: str
) -> None:
    path = tmp_path / "x.attn"
    save(path, **qkv())
    before = path.read_bytes()
    with pytest.raises(ExperimentError) as caught:
        save(path, **arguments)
    assert caught.value.field.startswith(field)
    assert path.read_bytes() == before
    assert not list(tmp_path.glob("*.tmp"))


class Gone:
    """An array of another library that is not there any more."""

    def __array__(self, *given: Any, **options: Any) -> Any:
        raise RuntimeError("deleted")


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_what_is_no_array_names_the_argument(tmp_path: Path) -> None:
    nested = torch.nested.nested_tensor([torch.rand(2, 2), torch.rand(3, 3)])
    weights = torch.eye(3)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"weights": nested}, "weights: expected a tensor whose rows are of one length, received a nested tensor"),
        ({"weights": [nested]}, "weights: expected a tensor whose rows"),
        ({"weights": (weights, nested)}, "weights: expected an array of real numbers, received a tuple that"),
        ({"weights": Gone()}, "weights: expected an array of real numbers, received a Gone that gives none"),
        ({"weights": torch.ones(2, 2).to(torch.complex64).conj()}, "weights: expected an array of real numbers"),
        ({"scores": weights, "mask": nested}, "mask: expected a tensor whose rows"),
        ({"weights": weights, "tokens": 5}, "tokens: expected a list of names, received 5"),
        (
            {"weights": torch.stack([weights[None], weights[None]]), "tokens": [7, 8, 9]},
            "tokens: expected names as texts, in one list or in one for each of 2 items, received ids of tokens: [7,",
        ),
        (
            {"weights": weights, "tokens": np.arange(3)},
            "tokens: expected names as texts, in one list, received ids of tokens",
        ),
        (
            {"weights": weights, "tokens": [None, "b", "c"]},
            "tokens: expected names as texts, in one list, received others: [None",
        ),
        ({"weights": weights, "module": 5}, "module: expected the name of a module, received 5"),
        ({"q": weights, "k": weights, "v": weights, "scale": "x"}, "scale: expected a number, received 'x'"),
    ]
    for arguments, said in cases:
        with pytest.raises(ExperimentError) as refused:
            save(tmp_path / "a.attn", **arguments)
        assert str(refused.value).startswith(said)
        assert not (tmp_path / "a.attn").exists()


@pytest.mark.parametrize("scale", [0.5, np.float32(0.5), torch.tensor(0.5), np.array(0.5)])
def test_a_scale_of_any_library(tmp_path: Path, scale: Any) -> None:
    save(tmp_path / "a.attn", q=np.eye(3), k=np.eye(3), v=np.eye(3), scale=scale)
    assert load(tmp_path / "a.attn").experiment.scoring.scale == 0.5


def test_another_file_is_not_taken_for_a_session(tmp_path: Path) -> None:
    path = tmp_path / "x.attn"
    path.write_bytes(b"not a session")
    with pytest.raises(FileError, match="to add to"):
        save(path, **qkv())
    assert path.read_bytes() == b"not a session"
    with pytest.raises(FileError):
        save(tmp_path / "nowhere" / "x.attn", **qkv())


def test_sessions_in_either_order_and_nothing_else(tmp_path: Path) -> None:
    session = Session((NamedExperiment("one", Experiment.from_tokens(["a"], [[1.0]])),))
    save(session, tmp_path / "a.attn")
    save(tmp_path / "b.attn", session)
    assert (tmp_path / "a.attn").read_bytes() == (tmp_path / "b.attn").read_bytes()
    save(tmp_path / "a.attn", **qkv())
    assert [n.name for n in load(tmp_path / "a.attn").experiments] == ["one", "Layer 1"]
    for wrong in ((session,), (tmp_path / "a.attn", tmp_path / "b.attn"), (5,)):
        with pytest.raises(TypeError, match="save takes"):
            save(*wrong)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="save takes"):
        save(session, tmp_path / "a.attn", q=1)  # type: ignore[call-overload]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("manifest_first", [True, False])
def test_what_somebody_packed_anew_is_added_to_as_well(tmp_path: Path, method: int, manifest_first: bool) -> None:
    path = tmp_path / "x.attn"
    save(path, **qkv(n_q=40, n_k=40, d=30))
    with zipfile.ZipFile(path) as zipped:
        parts = {name: zipped.read(name) for name in zipped.namelist()}
    with zipfile.ZipFile(path, "w", method) as zipped:
        for name in sorted(parts, key=lambda name: (name == "session.json") is not manifest_first):
            zipped.writestr(name, parts[name])
    save(path, **qkv(n_q=41, n_k=41, d=30))
    first, second = (n.experiment.source.parts()["Q"] for n in load(path).experiments)
    np.testing.assert_array_equal(first, qkv(n_q=40, n_k=40, d=30)["q"][0])
    np.testing.assert_array_equal(second, qkv(n_q=41, n_k=41, d=30)["q"][0])


BARE = """
import sys
import threading
import numpy as np
import attn_gui
a = np.random.default_rng(0).standard_normal((2, 40, 30))
attn_gui.save(sys.argv[1], q=a, k=a, v=a, mask=np.tri(40, dtype=bool), out=a, layer=int(sys.argv[2]))
heavy = [name for name in ("PySide6", "pyqtgraph", "transformers", "torch") if name in sys.modules]
print(heavy)
"""


def run(script: str, *arguments: str) -> subprocess.Popen[str]:
    root = str(Path(attn_gui.__file__).parent.parent)
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": root},
    )


def test_two_programs_one_after_the_other_need_neither_qt_nor_torch_nor_transformers(tmp_path: Path) -> None:
    path = tmp_path / "x.attn"
    for layer in (0, 1):
        out, _ = run(BARE, str(path), str(layer)).communicate(timeout=60)
        assert out.strip() == "[]"
    session = load(path)
    assert [n.name for n in session.experiments] == ["Layer 1", "Layer 2"]
    assert all(n.experiment.rule == Causal() for n in session.experiments)


def test_programs_that_add_at_once_take_turns_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.attn"
    several = BARE.replace("attn_gui.save(", "for _ in range(6): attn_gui.save(")
    processes = [run(several, str(path), str(layer)) for layer in range(3)]
    assert [process.communicate(timeout=60)[0].strip() for process in processes] == ["[]"] * 3
    numbers = [n.place.layer for n in load(path).experiments if n.place]
    assert sorted(numbers) == sorted([0, 1, 2] * 6)


STOPPED = """
import sys, time
import numpy as np
from attn_gui.files import atomic
from attn_gui.files.script import appending

def wait(*_):
    print("there", flush=True)
    time.sleep(60)

if sys.argv[2] == "before the manifest":
    appending.dumps = wait
else:
    atomic.os.fsync = wait
a = np.random.default_rng(0).standard_normal((2, 40, 30))
import attn_gui
attn_gui.save(sys.argv[1], q=a, k=a, v=a)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no signal there ends a process without a word")
@pytest.mark.parametrize("moment", ["before the manifest", "before it takes the old one's place"])
def test_killed_in_the_middle_the_old_file_is_whole(tmp_path: Path, moment: str) -> None:
    path = tmp_path / "x.attn"
    save(path, **qkv())
    before = path.read_bytes()
    process = run(STOPPED, str(path), moment)
    assert process.stdout is not None and process.stdout.readline() == "there\n"
    assert len(list(tmp_path.glob("*.tmp"))) == 1
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert path.read_bytes() == before
    save(path, **qkv())
    assert len(load(path).experiments) == 2


def test_what_is_there_is_copied_as_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.attn"
    big = qkv(heads=4, kv=4, n_q=64, n_k=64, d=32)
    save(path, **big)
    before = path.read_bytes()
    monkeypatch.setattr(npy, "read", None)  # no array of the file is looked at
    for layer in range(1, 12):
        save(path, **big, layer=layer)
    monkeypatch.undo()
    start = before.index(b"session.json")
    assert path.read_bytes()[: start - 30] == before[: start - 30]
    assert [n.place and n.place.layer for n in load(path).experiments] == list(range(12))


def test_the_arguments_are_told_to_tools() -> None:
    names = list(inspect.signature(save).parameters)[2:]
    assert names == [*inspect.signature(Layer).parameters, "layer", "module"]
    assert all(f"{name} [" in str(save.__doc__) or f"{name}:" in str(save.__doc__) for name in ("q", "mask", "layer"))


@pytest.mark.parametrize(
    "layer",
    [
        pytest.param(1 << 20_000, id="long"),
        1.5,
        2.0,
        True,
        np.True_,
        torch.tensor(True),
        2**63,
        10**30,
        -1,
        "x",
        "3",
        float("nan"),
        [1],
        b"1",
    ],
)
def test_what_is_no_layers_number_is_refused_before_anything_is_written(tmp_path: Path, layer: Any) -> None:
    path = tmp_path / "x.attn"
    with pytest.raises(ExperimentError, match="layer: expected a whole number from 0 to") as caught:
        save(path, **qkv(), layer=layer)
    assert caught.value.field == "layer" and len(str(caught.value)) < 200
    assert list(tmp_path.iterdir()) == []
    save(path, **qkv())
    before = path.read_bytes()
    with pytest.raises(ExperimentError, match="layer"):
        save(path, **qkv(), layer=layer)
    assert path.read_bytes() == before


@pytest.mark.parametrize("layer", [3, np.int64(3), np.uint8(3), np.array(3), torch.tensor(3), torch.tensor([3])])
def test_layers_are_counted_by_any_library(tmp_path: Path, layer: Any) -> None:
    save(tmp_path / "x.attn", **qkv(), layer=layer)
    place = load(tmp_path / "x.attn").named.place
    assert place is not None and (type(place.layer), place.layer) == (int, 3)


def test_after_the_last_number_there_is_no_next_layer(tmp_path: Path) -> None:
    save(tmp_path / "x.attn", **qkv(), layer=saving.MOST_LAYER)
    with pytest.raises(ExperimentError, match="layer"):
        save(tmp_path / "x.attn", **qkv())
    assert len(load(tmp_path / "x.attn").experiments) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices of POSIX")
@pytest.mark.parametrize("kind", ["a pipe", "a device", "a folder"])
def test_what_is_no_file_is_not_saved_to(tmp_path: Path, kind: str) -> None:
    path = {"a pipe": tmp_path / "pipe", "a device": Path("/dev/null"), "a folder": tmp_path}[kind]
    if kind == "a pipe":
        os.mkfifo(path)
    caught: list[BaseException] = []

    def work() -> None:
        try:
            save(path, **qkv())
        except FileError as error:
            caught.append(error)

    thread = threading.Thread(target=work, daemon=True)  # what waits for a pipe would wait for good
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    assert kind in str(caught[0])
    assert path.exists()


@pytest.mark.parametrize("name", ["n" * 5000, "a\0b"])
def test_names_that_no_file_can_have_are_not_saved_to(name: str) -> None:
    with pytest.raises(FileError):
        save(name, **qkv())


def test_what_is_wider_than_float64_is_saved_as_float64(tmp_path: Path) -> None:
    path = tmp_path / "x.attn"
    q = np.linspace(0, 1, 1200, dtype=np.longdouble).reshape(1, 1, 300, 4)
    attn_gui.save(path, q=q, k=q, v=q)
    attn_gui.save(path, scores=np.eye(3, dtype=np.longdouble))
    first, second = (named.experiment for named in load(path).experiments)
    assert np.array_equal(first.source.Q, q[0].astype(np.float64))
    assert second.source.A.dtype == np.float64


def test_masked_cells_are_no_numbers(tmp_path: Path) -> None:
    q = np.ma.masked_greater(np.ones((1, 1, 3, 4)), 0.5)
    k = np.ones((1, 1, 3, 4))
    with pytest.raises(ExperimentError, match=r"q: expected an array without masked cells, received 12 of them"):
        attn_gui.save(tmp_path / "x.attn", q=q, k=k, v=k)
    attn_gui.save(tmp_path / "x.attn", q=np.ma.array(k), k=k, v=k)
