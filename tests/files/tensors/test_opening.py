"""What a file of tensors becomes: experiments, their names, and what they are compared with."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attn_gui.files.errors import FileError
from attn_gui.files.tensors import stored
from attn_gui.files.tensors.looking import look
from attn_gui.files.tensors.peeking import peek
from attn_gui.model.mapped import MappedFile
from attn_gui.model.precision import Precision
from attn_gui.model.session import Session
from attn_gui.model.sources import FromTokens, GivenQKV, GivenScores, GivenWeights
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.checks import doubts
from attn_gui.model.tensors.offers import offers
from attn_gui.model.tensors.proposals import propose
from attn_gui.model.tensors.reading import Reading
from tests.files.tensors.writing import looked, opened, write

RNG = np.random.default_rng(0)
Q, K, V = (RNG.random((2, 3, 5, 4)).astype(np.float32) for _ in range(3))
N = RNG.random((2, 3, 5, 5)).astype(np.float32)
N /= N.sum(-1, keepdims=True)


def session(path: Path, **reading: Any) -> Session:
    contents = looked(path)
    return opened(contents, replace(propose(contents), **reading))


def test_stored_weights_are_what_computed_ones_are_compared_with(tmp_path: Path) -> None:
    named = session(write(tmp_path, ".npz", {"q": Q, "k": K, "v": V, "attn": N}), batch=1).named
    assert isinstance(named.experiment.source, GivenQKV)
    assert named.original is not None and isinstance(named.original.source, GivenWeights)
    np.testing.assert_array_equal(named.original.source.N, N[1])
    np.testing.assert_array_equal(named.original.source.V, V[1])  # type: ignore[arg-type]
    assert named.place is not None and named.place.batch == 1
    assert named.experiment.precision is Precision.FLOAT32


def test_scores_and_weights(tmp_path: Path) -> None:
    named = session(
        write(tmp_path, ".npz", {"scores": Q[0, :, :, :1] @ K[0, :, :, :1].swapaxes(1, 2), "attn": N[0]})
    ).named
    assert isinstance(named.experiment.source, GivenScores)
    assert named.original is not None and isinstance(named.original.source, GivenWeights)


def test_queries_and_keys_without_values(tmp_path: Path) -> None:
    contents = looked(write(tmp_path, ".npz", {"q": Q, "k": K}))
    e = opened(contents, propose(contents)).experiment
    assert isinstance(e.source, GivenQKV) and not e.has_values
    assert "V is not there: the output cannot be computed" in [o.text for o in offers(contents, propose(contents))]


def test_hidden_states_are_embeddings(tmp_path: Path) -> None:
    hidden = RNG.random((3, 1, 5, 8)).astype(np.float16)
    torch.save({"hidden_states": tuple(map(torch.from_numpy, hidden))}, tmp_path / "a.pt")
    made = session(tmp_path / "a.pt")
    assert len(made.experiments) == 3
    for layer, named in enumerate(made.experiments):
        assert isinstance(named.experiment.source, FromTokens)
        np.testing.assert_array_equal(named.experiment.tokens.embeddings.array(), hidden[layer, 0].astype(float))
        assert named.origin is None


def test_layers_can_be_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, ".npz", {"attn": np.stack([N[0]] * 12)})
    made = session(path, layers=(3, 7))
    assert [named.name for named in made.experiments] == ["Layer 4", "Layer 8"]
    assert [named.place.layer for named in made.experiments if named.place is not None] == [3, 7]


def test_encoder_decoder(tmp_path: Path) -> None:
    def some(n_q: int, n_k: int) -> Any:
        return tuple(torch.full((1, 2, n_q, n_k), 1 / n_k) for _ in range(2))

    outputs = {
        "encoder_attentions": some(6, 6),
        "decoder_attentions": some(4, 4),
        "cross_attentions": some(4, 6),
        "tokens": ["a", "b", "c", "d"],
        "source": ["u", "v", "w", "x", "y", "z"],
    }
    torch.save(outputs, tmp_path / "t5.pt")
    made = session(tmp_path / "t5.pt")
    assert [named.name for named in made.experiments] == [
        *(
            "Encoder layer 1",
            "Encoder layer 2",
            "Decoder layer 1",
            "Decoder layer 2",
            "Decoder layer 1, cross",
            "Decoder layer 2, cross",
        )
    ]
    encoder, decoder, cross = (made.experiments[index].experiment for index in (0, 2, 4))
    assert encoder.tokens.tokens == tuple("uvwxyz")
    assert decoder.tokens.tokens == tuple("abcd")
    assert (cross.tokens.tokens, cross.present_keys.tokens) == (tuple("abcd"), tuple("uvwxyz"))
    assert cross.variant.is_cross and not encoder.variant.is_cross
    torch.save({"cross_attentions": some(4, 6)}, tmp_path / "cross.pt")
    assert [named.name for named in session(tmp_path / "cross.pt").experiments] == ["Layer 1, cross", "Layer 2, cross"]
    assert made.experiments[4].place is not None and made.experiments[4].place.kind == "cross"


def test_modules_are_named(tmp_path: Path) -> None:
    torch.save({f"blocks.{layer}.attn.hook_pattern": torch.from_numpy(N) for layer in range(2)}, tmp_path / "tl.pt")
    places = [named.place for named in session(tmp_path / "tl.pt").experiments]
    assert [place and place.module for place in places] == ["blocks.0.attn", "blocks.1.attn"]


def test_several_files_of_a_folder(tmp_path: Path) -> None:
    for name, array in (("q", Q[0]), ("k", K[0]), ("v", V[0]), ("unwanted", N[0])):
        np.save(tmp_path / f"{name}.npy", array)
    contents = looked(*(tmp_path / f"{name}.npy" for name in "qkv"))
    e = opened(contents, propose(contents)).experiment
    assert isinstance(e.source, GivenQKV)
    np.testing.assert_array_equal(e.source.K, K[0])
    (tmp_path / "other").mkdir()
    np.save(tmp_path / "other" / "k.npy", K[0])
    with pytest.raises(FileError, match="files of one folder"):
        looked(tmp_path / "q.npy", tmp_path / "other" / "k.npy")


def test_a_folder_leaves_out_what_is_no_tensor(tmp_path: Path) -> None:
    np.save(tmp_path / "attn.npy", N[0])
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "readme.md").write_text("hello")
    contents = looked(tmp_path)
    assert [tensor.name for tensor in contents.tensors] == ["attn"]
    assert [remark.partition(" ")[0] for remark in contents.remarks] == ["broken.json"]
    (tmp_path / "attn.csv").write_text("1,0\n0,1\n")
    assert [tensor.name for tensor in looked(tmp_path).tensors] == ["attn.csv", "attn.npy"]


def test_weights_are_as_they_are_and_it_is_said(tmp_path: Path) -> None:
    halves = N[0] / 2
    contents = looked(write(tmp_path, ".npz", {"attn": halves, "mask": np.tri(5, dtype=bool)}))
    reading = propose(contents)
    e = opened(contents, reading).experiment
    assert isinstance(e.source, GivenWeights)
    np.testing.assert_array_equal(e.source.N, halves)
    texts = [offer.text for offer in offers(contents, reading)]
    assert "Not all rows of the weights sum to 1: they sum to 0.5" in texts
    assert any(text.startswith("The mask is left out") for text in texts)


def test_eight_bits_become_sixteen(tmp_path: Path) -> None:
    values = torch.tensor([[0.25, 0.75], [1.0, 0.0]]).to(torch.float8_e4m3fn)
    torch.save({"attn": values}, tmp_path / "a.pt")
    e = session(tmp_path / "a.pt").experiment
    assert isinstance(e.source, GivenWeights)
    assert e.source.N.dtype == np.float16
    np.testing.assert_array_equal(e.source.N[0], [[0.25, 0.75], [1, 0]])


def test_bfloat16_of_numpy(tmp_path: Path) -> None:
    import ml_dtypes

    np.save(tmp_path / "attn.npy", N[0].astype(ml_dtypes.bfloat16))
    contents = looked(tmp_path / "attn.npy")
    assert contents.tensors[0].dtype == "bfloat16"
    assert "read as that" in contents.remarks[0]
    e = opened(contents, propose(contents)).experiment
    assert e.precision is Precision.BFLOAT16


def test_views_of_one_storage(tmp_path: Path) -> None:
    whole = torch.arange(24.0).reshape(2, 3, 4)
    torch.save({"a": whole.transpose(1, 2), "b": whole[:, 1:, ::2], "c": whole[1, 1]}, tmp_path / "a.pt")
    from attn_gui.files.tensors.looking import open_file

    found = {stored.key: stored for stored in open_file(tmp_path / "a.pt").tensors}
    for mapped in (True, False):
        np.testing.assert_array_equal(found["a"].get(mapped), whole.transpose(1, 2).numpy())
        np.testing.assert_array_equal(found["b"].get(mapped), whole[:, 1:, ::2].numpy())
        np.testing.assert_array_equal(found["c"].get(mapped), whole[1, 1].numpy())


def test_looking_tells_how_far_it_is(tmp_path: Path) -> None:
    parts = list(look([write(tmp_path, ".npz", {"a": N, "b": N})]))
    assert parts == sorted(parts) and parts[0] >= 0 and parts[-1] == 1


def test_a_look_at_much_is_a_look_at_some(tmp_path: Path) -> None:
    """A sparse file of 8 GiB is looked at in a moment, and little of it is read."""
    path = tmp_path / "attn.npy"
    shape = (32, 32, 2048, 2048)
    np.lib.format.open_memmap(path, "w+", np.float16, shape)[5, 6, 7] = 1 / 2048
    contents = looked(path)
    found = contents.tensors[0].peek
    assert found is not None and not found.whole and found.low == 0
    reading = propose(contents)
    assert reading.parts[0].axes == (Axis.LAYER, Axis.HEAD, Axis.QUERY, Axis.KEY)
    # from which session_of makes 32 experiments without reading them
    made = finished_in_little(contents, replace(reading, layers=(5, 31)))
    assert [named.name for named in made.experiments] == ["Layer 6", "Layer 32"]
    np.testing.assert_array_equal(
        made.experiments[0].experiment.source.parts()["N"][6, 7], np.full(2048, 1 / 2048, "f2")
    )


@pytest.mark.parametrize("shape", [(200_000, 8000), (40_000, 40_000)])
def test_lines_that_lie_apart_are_summed_as_far_as_is_quick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int]
) -> None:
    """Columns of a long table are places on the disk as many as it has rows: no look takes a minute."""
    reads = 0

    class Counted(MappedFile):
        def fetch(self, start: int, into: memoryview) -> None:
            nonlocal reads
            reads += 1
            assert reads < 70_000
            super().fetch(start, into)

    monkeypatch.setattr(stored, "MappedFile", Counted)
    path = tmp_path / "attn.npy"
    np.lib.format.open_memmap(path, "w+", np.float64, shape)
    assert looked(path).tensors[0].peek is not None and reads


def finished_in_little(contents: Any, reading: Reading) -> Session:
    import tracemalloc

    tracemalloc.start()
    try:
        made = opened(contents, reading)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
        return made
    finally:
        tracemalloc.stop()


def test_peeks() -> None:
    weights = np.full((3, 4, 5), 0.25)
    weights[..., 4] = 0
    assert peek(weights) == peek(weights.astype(">f4")) == peek(weights.astype(np.float16))
    found = peek(weights)
    assert found is not None and found.sums == (False, False, True) and (found.low, found.high) == (0, 0.25)
    assert not found.flags
    found = peek(np.array([0, 4, 9], np.int32))
    assert found is not None and found.rising and found.high == 9
    for array, rising in (
        ([1, 4, 9], False),
        ([0, 4, 3], False),
        ([[0, 1]], False),
        ([0.0, 1.0], True),
        ([0.0, 1.5], False),
        ([0.0, -3.4028235e38, 0.0], False),
    ):
        found = peek(np.array(array))
        assert found is not None and found.rising is rising
    found = peek(np.array([True, False]))
    assert found is not None and found.flags and (found.low, found.high) == (0, 1)
    found = peek(np.array([np.nan, np.inf, -np.inf]))
    assert found is not None and (found.low, found.high) == (None, None)
    assert (found.nan, found.inf, found.minus_inf, found.flags) == (True, True, True, False)
    assert peek(np.zeros((0, 3))) is None
    assert peek(np.array([1j])) is None


def test_torch_is_not_needed(tmp_path: Path) -> None:
    import subprocess

    torch.save({"attn": torch.from_numpy(N)}, tmp_path / "a.pt")
    write(tmp_path, ".safetensors", {"attn": N})
    code = """
import sys
from pathlib import Path
from attn_gui.files.tensors.headless import Choices, session_from
for name in ("a.pt", "tensors.safetensors"):
    steps = session_from(Path(name), Choices())
    try:
        while True:
            next(steps)
    except StopIteration as end:
        print(end.value.experiment.heads, "torch" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=_paths())
    assert run.stdout.split() == ["3", "False", "3", "False"], run.stderr


def _paths() -> dict[str, str]:
    import os

    import attn_gui

    return os.environ | {"PYTHONPATH": str(Path(attn_gui.__file__).parents[1])}


def untitled(path: Path, array: Any) -> tuple[Role | None, list[str], list[str]]:
    """What the only array of a file is read as, what is doubted, and what is told."""
    np.save(path / "untitled.npy", array)
    contents = looked(path / "untitled.npy")
    reading = propose(contents)
    texts = [offer.text for offer in offers(contents, reading)]
    return reading.parts[0].role, [doubt.text for doubt in doubts(contents, reading)], texts


def test_weights_after_dropout_padding_and_a_fault_are_still_weights(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    kept = rng.random((4, 6, 6)) > 0.1
    weights = rng.random((4, 6, 6))
    weights /= weights.sum(-1, keepdims=True)
    dropped = weights * kept / 0.9
    role, asked, told = untitled(tmp_path, dropped.astype(np.float32))
    low, high = dropped.sum(-1).min(), dropped.sum(-1).max()
    assert role is Role.WEIGHTS
    assert any(f"rows sum to {low:.2f} to {high:.2f}" in text for text in asked)
    assert f"Not all rows of the weights sum to 1: they sum to {low:.3g} to {high:.3g}" in told
    padded = weights.copy()
    padded[:, 4:] = 0  # queries that are padding
    role, asked, told = untitled(tmp_path, padded)
    assert (role, asked) == (Role.WEIGHTS, [])
    assert "Not all rows of the weights sum to 1: they sum to 0 to 1" in told
    faulty = weights.copy()
    faulty[2, 3, 1] = np.nan
    assert untitled(tmp_path, faulty)[:2] == (Role.WEIGHTS, [])
    role, asked, _ = untitled(tmp_path, 1 / (1 + np.exp(-rng.standard_normal((4, 6, 6)))))  # a sigmoid
    assert role is Role.WEIGHTS and len(asked) == 1
    assert untitled(tmp_path, rng.standard_normal((4, 6, 6)))[0] is Role.SCORES
