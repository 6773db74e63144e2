"""Masks of files: each meaning previewed, and what they come to in an experiment."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attn_gui.files.errors import FileError
from attn_gui.files.tensors.masking import mask_alone
from attn_gui.files.tensors.previewing import previews, proposed
from attn_gui.model.experiment import Experiment
from attn_gui.model.mask_import import Meaning
from attn_gui.model.masks import Causal, Imported, MaskRule, Padding
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.proposals import propose
from attn_gui.model.tensors.reading import Part, Reading
from tests.files.tensors.writing import looked, opened, write

B, H, Q, K = Axis.BATCH, Axis.HEAD, Axis.QUERY, Axis.KEY
SCORES = np.zeros((2, 3, 4, 5))


def experiment(folder: Path, mask: Any, axes: tuple[Axis, ...], meaning: Meaning | None, batch: int = 0) -> Experiment:
    path = write(folder, ".npz", {"a": SCORES, "m": mask})
    parts = (Part(Role.SCORES, ("a",), (B, H, Q, K)), Part(Role.MASK, ("m",), axes))
    return opened(looked(path), Reading(parts, batch=batch, meaning=meaning)).experiment


def allowed(e: Experiment) -> Any:
    """[heads, n_q, n_k]"""
    return np.stack([e.allowed(slice(0, e.n_q), slice(0, e.n_k), head) for head in range(e.heads)])


SHAPES = [
    ((5,), (K,)),
    ((4, 5), (Q, K)),
    ((2, 5), (B, K)),
    ((1, 5), (B, K)),
    ((2, 1, 1, 5), (B, H, Q, K)),
    ((1, 3, 4, 5), (B, H, Q, K)),
    ((2, 1, 4, 5), (B, H, Q, K)),
    ((5, 4), (K, Q)),
    ((4, 1), (Q, K)),
    ((3, 1, 5), (H, Q, K)),
    ((1, 1), (Q, K)),
]


def in_full(mask: Any, axes: tuple[Axis, ...]) -> Any:
    """``mask`` broadcast to [batch, heads, n_q, n_k] by hand."""
    shape = {B: 2, H: 3, Q: 4, K: 5}
    full = np.empty((2, 3, 4, 5), mask.dtype)
    for b, h, q, k in np.ndindex(full.shape):
        at = {B: b, H: h, Q: q, K: k}
        full[b, h, q, k] = mask[tuple(at[axis] if mask.shape[i] == shape[axis] else 0 for i, axis in enumerate(axes))]
    return full


@given(st.sampled_from(SHAPES), st.data(), st.sampled_from(("allowed", "blocked", "additive")))
def test_any_mask_is_what_it_says(
    tmp_path_factory: pytest.TempPathFactory, of: Any, data: st.DataObject, meaning: Meaning
) -> None:
    shape, axes = of
    if meaning == "additive":
        numbers = st.sampled_from((0.0, 0.0, 0.5, -2.0, -np.inf, float(np.finfo(np.float32).min)))
        mask = data.draw(hnp.arrays(np.float32, shape, elements=numbers))
        full = in_full(mask, axes)
        cells, bias = full > -1e9, np.where(full > -1e9, full, 0)
    else:
        mask = data.draw(
            hnp.arrays(data.draw(st.sampled_from((np.bool_, np.int64, np.float32))), shape, elements=st.integers(0, 1))
        )
        full = in_full(mask, axes)
        cells, bias = (full != 0) == (meaning == "allowed"), np.zeros(full.shape)
    item = data.draw(st.integers(0, 1))
    e = experiment(tmp_path_factory.mktemp("mask"), mask, axes, meaning, item)
    np.testing.assert_array_equal(allowed(e), cells[item])
    added = np.zeros((3, 4, 5))
    for each in e.scoring.biases:
        added = added + np.broadcast_to(each.cells, added.shape)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(added, bias[item])


def test_a_mask_that_has_a_name_gets_it(tmp_path: Path) -> None:
    path = write(tmp_path, ".npz", {"a": np.zeros((3, 5, 5)), "m": np.tri(5, dtype=bool)})
    contents = looked(path)
    e = opened(contents, replace(propose(contents), meaning="allowed")).experiment
    assert isinstance(e.rule, Causal)


def test_keys_that_are_padding_are_marked_as_such(tmp_path: Path) -> None:
    e = experiment(tmp_path, np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]), (B, K), "allowed", 1)
    assert isinstance(e.rule, Padding)
    assert e.present_keys.pad.tolist() == [False, False, False, True, True]
    assert experiment(tmp_path, np.ones((2, 5), bool), (B, K), "allowed", 1).rule == MaskRule()


def test_both_meanings_are_previewed(tmp_path: Path) -> None:
    mask = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1]], bool)
    contents = looked(write(tmp_path, ".npz", {"mask": mask, "scores": np.zeros((2, 4, 3))}))
    first, second = previews(contents, propose(contents))
    assert (first.meaning, second.meaning) == ("allowed", "blocked")
    assert first.per_row.tolist() == [1, 2, 0, 3]
    assert second.per_row.tolist() == [2, 1, 3, 0]
    assert (first.empty, second.empty) == (1, 1)
    np.testing.assert_array_equal(first.allowed[0], mask)
    np.testing.assert_array_equal(second.allowed[0], ~mask)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_lowest_number_of_a_type_forbids(tmp_path: Path, dtype: Any) -> None:
    mask = np.where(np.tri(5, dtype=bool), 0, np.finfo(dtype).min).astype(dtype)
    contents = looked(write(tmp_path, ".npz", {"mask": mask, "scores": np.zeros((2, 5, 5))}))
    reading = propose(contents)
    assert reading.meaning == "additive"
    (only,) = previews(contents, reading)
    assert (only.meaning, only.empty, only.biased) == ("additive", 0, False)
    assert only.per_row.tolist() == [1, 2, 3, 4, 5]
    assert isinstance(opened(contents, reading).experiment.rule, Causal)


def test_numbers_that_are_all_0_block_nothing(tmp_path: Path) -> None:
    contents = looked(write(tmp_path, ".npz", {"mask": np.zeros((5, 5)), "scores": np.zeros((2, 5, 5))}))
    (only,) = previews(contents, propose(contents))
    assert (only.meaning, only.empty) == ("additive", 0)


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("blocked", [False, True])
def test_a_mask_is_counted_and_meant_as_the_zeros_beside_it_have_it(tmp_path: Path, left: bool, blocked: bool) -> None:
    """Causal weights of a text with padding, whose mask may mean the one or the other by itself."""
    rng = np.random.default_rng(5)
    q, k, v = rng.standard_normal((3, 2, 5, 4))
    live = np.arange(5) > 1 if left else np.arange(5) < 3
    cells = np.tri(5, dtype=bool) & live
    weights = np.exp(q @ k.swapaxes(1, 2) / 2) * cells
    weights /= np.maximum(weights.sum(-1, keepdims=True), 1e-9)
    weights[:, ~cells.any(-1)] = 0.2  # as programs have it that add a low number and not -inf
    mask = live ^ blocked
    contents = looked(write(tmp_path, ".npz", {"q": q, "k": k, "v": v, "attentions": weights, "mask": mask[None]}))
    reading = propose(contents)
    found = previews(contents, reading)
    for preview in found:
        e = opened(contents, replace(reading, meaning=preview.meaning)).experiment
        np.testing.assert_array_equal(np.broadcast_to(preview.allowed, (2, 5, 5)), allowed(e))
        assert preview.empty == (~allowed(e).any(-1)).sum() / (2 if len(preview.allowed) == 1 else 1)
    assert proposed(found) == ("blocked" if blocked else "allowed")


def test_a_meaning_that_the_weights_speak_against_both_times_is_asked(tmp_path: Path) -> None:
    arrays = {name: np.ones((2, 5, 4)) for name in "qkv"} | {"attentions": np.full((2, 5, 5), 0.2)}
    mask = np.arange(5) < 3
    contents = looked(write(tmp_path, ".npz", arrays | {"mask": mask[None]}))
    assert proposed(previews(contents, propose(contents))) is None


def test_a_large_mask_is_previewed_in_part(tmp_path: Path) -> None:
    contents = looked(write(tmp_path, ".npz", {"mask": np.tri(600, dtype=bool), "scores": np.zeros((1, 600, 600))}))
    first, _ = previews(contents, propose(contents))
    assert first.allowed.shape == (1, 512, 512)
    assert first.per_row.tolist() == list(range(1, 601))


def test_a_mask_alone(tmp_path: Path) -> None:
    contents = looked(write(tmp_path, ".npz", {"mask": np.tri(4, dtype=bool)}))
    reading = propose(contents)
    found = mask_alone(contents, replace(reading, meaning="allowed"), 2, 4, 4)
    assert isinstance(found.rule, Causal)
    assert (found.bias, found.pad) == (None, None)
    with pytest.raises(FileError, match="2 heads, 5 queries, 5 keys"):
        mask_alone(contents, replace(reading, meaning="allowed"), 2, 5, 5)
    with pytest.raises(FileError, match="what True means"):
        mask_alone(contents, reading, 2, 4, 4)


def test_numbers_that_no_mask_has(tmp_path: Path) -> None:
    contents = looked(write(tmp_path, ".npz", {"mask": np.array([[0, np.nan], [1, 0]]), "scores": np.zeros((1, 2, 2))}))
    with pytest.raises(FileError, match=r"mask cell 1, 2: expected a finite number or -inf, received nan"):
        opened(contents, replace(propose(contents), meaning="additive"))
    contents = looked(write(tmp_path, ".npz", {"mask": np.array([[0, 2], [1, 0]]), "scores": np.zeros((1, 2, 2))}))
    with pytest.raises(FileError, match=r"mask cell 1, 2: expected true or false"):
        opened(contents, replace(propose(contents), meaning="allowed"))


def test_ends_of_sequences_are_documents(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    q, k, v = (rng.random((10, 2, 4)) for _ in range(3))
    ends = np.array([0, 4, 4, 10], np.int32)
    contents = looked(write(tmp_path, ".safetensors", {"q": q, "k": k, "v": v, "cu_seqlens": ends}))
    reading = propose(contents)
    e = opened(contents, reading).experiment
    sequence = np.array([0] * 4 + [2] * 6)
    np.testing.assert_array_equal(allowed(e), np.broadcast_to(sequence[:, None] == sequence, (2, 10, 10)))
    bad = np.array([0, 4, 9], np.int32)
    contents = looked(write(tmp_path, ".safetensors", {"q": q, "k": k, "v": v, "cu_seqlens": bad}))
    with pytest.raises(FileError, match="the ends of sequences reach 9, and there are 10 tokens"):
        opened(contents, reading)


def test_queries_and_keys_with_ends_of_their_own(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    q, k, v = rng.random((5, 2, 4)), rng.random((8, 2, 4)), rng.random((8, 2, 4))
    ends = {"cu_seqlens_q": np.array([0, 2, 5]), "cu_seqlens_k": np.array([0, 7, 8])}
    contents = looked(write(tmp_path, ".npz", {"q": q, "k": k, "v": v, **ends}))
    e = opened(contents, propose(contents)).experiment
    expected = np.array([0] * 2 + [1] * 3)[:, None] == np.array([0] * 7 + [1])
    np.testing.assert_array_equal(allowed(e)[1], expected)


def test_scores_of_minus_infinity_are_masked(tmp_path: Path) -> None:
    scores = np.where(np.tri(5, dtype=bool), 1.0, -np.inf)[np.newaxis].repeat(2, 0)
    contents = looked(write(tmp_path, ".pt", {"attn_scores": scores}))
    e = opened(contents, propose(contents)).experiment
    assert isinstance(e.rule, Causal)
    scores[1, 4, 0] = -np.inf
    contents = looked(write(tmp_path, ".pt", {"attn_scores": scores}))
    e = opened(contents, propose(contents)).experiment
    assert isinstance(e.rule, Imported)
    np.testing.assert_array_equal(allowed(e), scores > -np.inf)
