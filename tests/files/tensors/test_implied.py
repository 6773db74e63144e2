"""A file that stores what was masked, and no mask: the computed weights are the file's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import softmax

from attn_gui import save
from attn_gui.compute.trace import trace
from attn_gui.files.session import load
from attn_gui.files.tensors.implied import allowed_in_scores, allowed_in_weights, masked_by, with_mask
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, Imported, MaskRule, Padding
from attn_gui.model.session import NamedExperiment
from attn_gui.model.tensors.offers import offers
from attn_gui.model.tensors.proposals import propose
from tests.files.tensors.writing import looked, opened, write

CAUSAL = np.tri(5, dtype=bool)
PADDED = np.broadcast_to(np.arange(5) < 3, (5, 5))
BOTH = CAUSAL & PADDED
SCATTERED = np.random.default_rng(3).random((5, 5)) < 0.6
SCATTERED |= np.eye(5, dtype=bool)
FROM_SCORES = "The mask is taken from the scores of the file: a cell of −∞ is blocked"


def forward(allowed: Any, heads: int = 2) -> dict[str, Any]:
    """What a forward pass of torch leaves behind: [1, heads, 5, ..]."""
    q, k, v = (torch.randn(1, heads, 5, 4, generator=torch.Generator().manual_seed(seed)).double() for seed in range(3))
    scores = (q @ k.transpose(-1, -2) / 2).masked_fill(~torch.tensor(np.array(allowed)), -torch.inf)
    arrays = {"q": q, "k": k, "v": v, "scores": scores, "weights": softmax(scores, -1)}
    return {name: array.numpy() for name, array in arrays.items()}


def weights_of(e: Experiment) -> Any:
    return np.stack([trace(e).stage("N", head) for head in range(e.heads)])


def named(folder: Path, arrays: dict[str, Any]) -> tuple[NamedExperiment, list[str]]:
    contents = looked(write(folder, ".npz", arrays))
    reading = propose(contents)
    return opened(contents, reading).named, [offer.text for offer in offers(contents, reading)]


@pytest.mark.parametrize("allowed", [CAUSAL, PADDED, CAUSAL & PADDED, SCATTERED], ids=["causal", "pad", "both", "any"])
@pytest.mark.parametrize("saved", [False, True])
def test_infinite_scores_beside_queries_and_keys_are_the_mask(tmp_path: Path, allowed: Any, saved: bool) -> None:
    arrays = forward(allowed)
    if saved:
        save(tmp_path / "x.attn", **arrays)
        e = load(tmp_path / "x.attn").experiment
    else:
        found, told = named(tmp_path, arrays)
        e = found.experiment
        assert FROM_SCORES in told
    np.testing.assert_allclose(weights_of(e), arrays["weights"][0], atol=1e-12)


def test_a_rule_has_its_name(tmp_path: Path) -> None:
    assert named(tmp_path, forward(CAUSAL))[0].experiment.rule == Causal()
    padded = named(tmp_path, forward(PADDED))[0].experiment
    assert padded.rule == Padding()
    np.testing.assert_array_equal(padded.tokens.columns["pad"], [0, 0, 0, 1, 1])
    both = named(tmp_path, forward(BOTH))[0].experiment.rule
    assert isinstance(both, Combined) and [term.rule for term in both.terms] == [Causal(), Padding()]
    assert isinstance(named(tmp_path, forward(SCATTERED))[0].experiment.rule, Imported)


@pytest.mark.parametrize(("allowed", "rule"), [(CAUSAL, "causal"), (PADDED, "padding"), (CAUSAL & PADDED, "causal")])
@pytest.mark.parametrize("saved", [False, True])
def test_without_scores_zeros_of_the_weights_are(tmp_path: Path, allowed: Any, rule: str, saved: bool) -> None:
    arrays = forward(allowed)
    del arrays["scores"]
    if saved:
        save(tmp_path / "x.attn", **arrays)
        e = load(tmp_path / "x.attn").experiment
    else:
        found, told = named(tmp_path, arrays)
        e = found.experiment
        assert f"The mask ({rule}) is taken from the weights of the file, which are 0 where it forbids" in told
    np.testing.assert_allclose(weights_of(e), arrays["weights"][0], atol=1e-12)


def test_zeros_that_are_no_rule_are_no_mask(tmp_path: Path) -> None:
    arrays = forward(SCATTERED)
    del arrays["scores"]
    found, told = named(tmp_path, arrays)
    assert found.experiment.rule == MaskRule()
    assert not any("The mask" in text for text in told)


def beside_a_mask(allowed: Any, **mask: Any) -> dict[str, Any]:
    """Weights, as transformers hands them over, beside a mask that does not say all that they show."""
    arrays = forward(allowed)
    del arrays["scores"]
    return arrays | {name: np.asarray(cells) for name, cells in mask.items()}


@pytest.mark.parametrize(
    ("allowed", "mask"),
    [
        (CAUSAL, {"attention_mask": np.ones((1, 5), int)}),
        (BOTH, {"attention_mask": PADDED[:1].astype(int)}),
        (CAUSAL & (np.arange(5) > 1), {"attention_mask": (np.arange(5) > 1)[None].astype(int)}),
        (BOTH, {"attn_mask": np.where(PADDED, 0.0, -np.inf)}),
    ],
    ids=["ones", "right", "left", "added"],
)
def test_a_mask_of_keys_does_not_hide_that_the_weights_are_causal(tmp_path: Path, allowed: Any, mask: Any) -> None:
    arrays = beside_a_mask(allowed, **mask)
    found, told = named(tmp_path, arrays)
    np.testing.assert_allclose(weights_of(found.experiment), np.nan_to_num(arrays["weights"][0]), atol=1e-12)
    told_of = (
        "The mask (causal) is taken from the weights of the file, which are 0 where it forbids, besides its own mask"
    )
    assert told_of in told


def test_sequences_do_not_hide_that_the_weights_are_causal(tmp_path: Path) -> None:
    first = np.arange(5) < 2
    allowed = CAUSAL & (first[:, None] == first)
    arrays = {name: array[0] for name, array in forward(allowed).items() if name != "scores"}
    found, _ = named(tmp_path, arrays | {"cu_seqlens": np.array([0, 2, 5])})
    np.testing.assert_allclose(weights_of(found.experiment), arrays["weights"], atol=1e-12)


@pytest.mark.parametrize("queries", [True, False])
def test_scores_from_before_the_mask_leave_it_to_the_weights(tmp_path: Path, queries: bool) -> None:
    arrays = forward(CAUSAL)
    arrays["scores"] = forward(np.ones((5, 5), bool))["scores"]
    if not queries:
        arrays = {name: arrays[name] for name in ("scores", "weights")}
    found, told = named(tmp_path, arrays)
    assert found.experiment.rule == Causal()
    np.testing.assert_allclose(weights_of(found.experiment), arrays["weights"][0], atol=1e-12)
    assert "The mask (causal) is taken from the weights of the file, which are 0 where it forbids" in told


@pytest.mark.parametrize("low", [-1e3, -1e4, -65504, -7e4, -1e9, float(np.finfo(np.float32).min)])
@pytest.mark.parametrize("added", [True, False])
@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_what_is_told_of_the_scores_is_what_is_done(tmp_path: Path, low: float, added: bool, kind: Any) -> None:
    """Programs write, or add, another number in place of -inf."""
    arrays = forward(CAUSAL)
    raw, low = forward(np.ones((5, 5), bool))["scores"], max(low, float(np.finfo(kind).min))
    with np.errstate(over="ignore"):
        scores = np.where(CAUSAL, raw, low + raw * added).astype(kind)
    found, told = named(tmp_path, {**{name: arrays[name] for name in "qkv"}, "scores": scores})
    assert found.experiment.rule == Causal()
    np.testing.assert_allclose(weights_of(found.experiment), arrays["weights"][0], atol=1e-12)
    assert any(text.startswith("The mask is taken from the scores of the file: a cell of −") for text in told)


@pytest.mark.parametrize(
    ("shift", "told_of"),
    [
        (np.where(CAUSAL, 0.0, -300.0), False),  # weights of float64 are still above 0
        (-1000.0 * (np.arange(5)[:, None] - np.arange(5)).clip(0), True),  # positions, and not one number
        (np.where(PADDED, 0.0, -9e3), None),
    ],
)
def test_low_scores_that_are_not_one_number_are_no_mask_and_told_of(
    tmp_path: Path, shift: Any, told_of: bool | None
) -> None:
    arrays = forward(np.ones((5, 5), bool))
    found, told = named(
        tmp_path, {name: arrays[name] + (shift if name == "scores" else 0) for name in arrays if name != "weights"}
    )
    blocked = told_of is None
    assert (found.experiment.rule == Padding()) is blocked
    assert any(text == FROM_SCORES or "stands for −∞" in text for text in told) is blocked
    assert any("if a mask was added to them, choose it by hand" in text for text in told) is bool(told_of)


@pytest.mark.parametrize("layers_in_an_axis", [True, False])
def test_each_layer_has_the_mask_that_its_own_weights_show(tmp_path: Path, layers_in_an_axis: bool) -> None:
    layers = [forward(allowed) for allowed in (CAUSAL, np.ones((5, 5), bool), PADDED, CAUSAL)]
    arrays = {f"layers.{k}.{name}": each[name] for k, each in enumerate(layers) for name in ("q", "k", "v", "weights")}
    if layers_in_an_axis:
        arrays = {name: np.stack([each[name] for each in layers]) for name in ("q", "k", "v", "weights")}
    contents = looked(write(tmp_path, ".npz", arrays))
    reading = propose(contents)
    found = opened(contents, reading).experiments
    assert [each.experiment.rule for each in found] == [Causal(), MaskRule(), Padding(), Causal()]
    for each, layer in zip(found, layers, strict=True):
        np.testing.assert_allclose(weights_of(each.experiment), layer["weights"][0], atol=1e-12)
    told = (
        "The masks are taken from the weights of the file, which are 0 where it forbids: "
        "causal in layers 1 and 4, none in layer 2, padding in layer 3"
    )
    assert told in [offer.text for offer in offers(contents, reading)]
    only = [offer.text for offer in offers(contents, replace(reading, layers=(0,)))]
    assert "The mask (causal) is taken from the weights of the file, which are 0 where it forbids" in only


@pytest.mark.parametrize("allowed", [CAUSAL & (np.arange(5) > 1), BOTH, CAUSAL], ids=["left", "right", "causal"])
def test_rows_of_nan_say_nothing_of_the_mask(tmp_path: Path, allowed: Any) -> None:
    arrays = forward(allowed)
    assert np.isnan(arrays["weights"]).any() == (not allowed.any(1).all()), "as softmax leaves rows without a key"
    if allowed is CAUSAL:
        arrays["weights"][..., 1, :] = np.nan
    arrays.pop("scores")
    found, _ = named(tmp_path, arrays)
    given = arrays["weights"][0]
    np.testing.assert_allclose(
        np.where(np.isnan(given), 0, weights_of(found.experiment)), np.nan_to_num(given), atol=1e-12
    )
    np.testing.assert_array_equal(found.experiment.allowed(slice(0, 5), slice(0, 5), 0), allowed)


@pytest.mark.parametrize("allowed", [CAUSAL, PADDED, BOTH, SCATTERED], ids=["causal", "pad", "both", "any"])
def test_a_mask_besides_that_says_the_same_or_more_is_kept(tmp_path: Path, allowed: Any) -> None:
    arrays = forward(allowed)
    same = np.where(allowed, 0.0, -np.inf)
    found, _ = named(tmp_path, arrays | {"attn_mask": same})
    np.testing.assert_allclose(weights_of(found.experiment), arrays["weights"][0], atol=1e-12)
    assert isinstance(found.experiment.rule, Combined) == (allowed is BOTH), "one rule where both are the same"
    # a row that marks keys as padding, others than the scores do, is joined to it
    for pad in (np.arange(5) < 4, np.arange(5) > 0):
        e = named(tmp_path, arrays | {"attention_mask": pad[None].astype(int)})[0].experiment
        np.testing.assert_array_equal(e.allowed(slice(0, 5), slice(0, 5), 1), allowed & pad)
    wider = np.where(PADDED, 0.0, -np.inf)
    e = named(tmp_path, arrays | {"attn_mask": wider})[0].experiment
    cells = e.allowed(slice(0, 5), slice(0, 5), 0)
    np.testing.assert_array_equal(cells, allowed & PADDED)
    save(tmp_path / "x.attn", **arrays, mask=PADDED)
    e = load(tmp_path / "x.attn").experiment
    np.testing.assert_array_equal(e.allowed(slice(0, 5), slice(0, 5), 0), allowed & PADDED)


def test_transformer_lens(tmp_path: Path) -> None:
    """A cache of two layers as it is saved: [batch, position, head, size], scores with -inf, no mask."""
    path = tmp_path / "cache.pt"
    cache = {}
    for layer in range(2):
        arrays = forward(CAUSAL)
        for name in ("q", "k", "v"):
            cache[f"blocks.{layer}.attn.hook_{name}"] = torch.tensor(arrays[name]).transpose(1, 2).contiguous()
        cache[f"blocks.{layer}.attn.hook_attn_scores"] = torch.tensor(arrays["scores"])
        cache[f"blocks.{layer}.attn.hook_pattern"] = torch.tensor(arrays["weights"])
    torch.save(cache, path)
    contents = looked(path)
    for each in opened(contents, propose(contents)).experiments:
        assert each.experiment.rule == Causal()
        np.testing.assert_allclose(weights_of(each.experiment), arrays["weights"][0], atol=1e-12)


@settings(max_examples=30)
@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 1 << 16), st.floats(0, 1))
def test_what_is_infinite_and_nothing_else_is_blocked(n_q: int, n_k: int, seed: int, share: float) -> None:
    allowed = np.random.default_rng(seed).random((2, n_q, n_k)) >= share
    for lowest, stand_ins in ((-np.inf, False), (-np.inf, True), (float(np.finfo(np.float32).min), True)):
        found = allowed_in_scores(np.where(allowed, 1.5, lowest), stand_ins=stand_ins)
        if found is None:
            assert allowed.all()
            continue
        e = with_mask(Experiment.from_scores(np.zeros(allowed.shape)), masked_by(found))
        cells = np.stack([e.allowed(slice(0, n_q), slice(0, n_k), head) for head in range(2)])
        np.testing.assert_array_equal(cells, allowed)


def test_a_zero_of_one_head_or_of_few_bits_is_no_mask_and_does_not_hide_one() -> None:
    weights = np.where(CAUSAL, 0.25, 0.0)[None].repeat(2, 0)
    weights[0, 3, 1] = 0
    np.testing.assert_array_equal(allowed_in_weights(weights), CAUSAL)
    weights[1, 3, 1] = 0
    np.testing.assert_array_equal(allowed_in_weights(weights), CAUSAL)
    assert allowed_in_weights(np.where(SCATTERED, 0.5, 0.0)[None]) is None
    assert allowed_in_weights(np.full((1, 2, 2), 0.5)) is None
