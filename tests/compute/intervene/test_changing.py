"""Changes to one attention, against formulas written out in numpy and against the program's own trace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from attn_gui.compute.capture.interface import Call
from attn_gui.compute.intervene.changing import changed
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.intervention import (
    Action,
    Change,
    ChangeMask,
    ChangeTemperature,
    Forbid,
    ReplaceBy,
    Site,
    SwitchOff,
)
from attn_gui.model.masks import Causal, MaskRule, Padding

SITE = Site("block.attn")
TEXTS, HEADS, KV, N, D = 2, 4, 2, 5, 3


def nothing(*arguments: Any, **options: Any) -> Any:
    raise AssertionError("the model's own function has no part in this")


def call(seed: int = 0, mask: torch.Tensor | None = None, by: str = "eager", **options: Any) -> Call:
    make = torch.Generator().manual_seed(seed)
    query = torch.randn(TEXTS, HEADS, N, D, generator=make)
    key, value = (torch.randn(TEXTS, KV, N, D, generator=make) for _ in range(2))
    given = {"scaling": 0.5, **options}
    return Call("block.attn", nn.Module(), 0, 0, False, query, key, value, mask, given, by, nothing)


def numpy_output(c: Call, allowed: np.ndarray, scale: float = 0.5, added: Any = 0.0) -> np.ndarray:
    """softmax(q k^T scale + added over allowed cells) v in float64: [texts, n_q, heads, d]."""
    q, k, v = (t.double().numpy() for t in (c.query, c.key, c.value))
    k, v = np.repeat(k, HEADS // KV, axis=1), np.repeat(v, HEADS // KV, axis=1)
    A = np.where(allowed, np.einsum("bhid,bhjd->bhij", q, k) * scale + added, -np.inf)
    top = A.max(axis=-1, keepdims=True)
    E = np.exp(A - np.where(np.isfinite(top), top, 0))
    total = E.sum(axis=-1, keepdims=True)
    return np.einsum("bhij,bhjd->bihd", np.divide(E, total, out=np.zeros_like(E), where=total > 0), v)


def plain(c: Call, allowed: np.ndarray) -> torch.Tensor:
    return torch.as_tensor(numpy_output(c, allowed)).float()


EVERY = np.ones((TEXTS, HEADS, N, N), dtype=bool)


def run(c: Call, *actions: Action, tokens: torch.Tensor | None = None, shown: Any = None) -> tuple[Any, Any]:
    before = plain(c, EVERY if c.mask is None else np.broadcast_to(c.mask.numpy(), EVERY.shape))
    after = changed(c, before, actions, tokens, {} if shown is None else shown)
    return before.numpy(), after.numpy()


def action(change: Change, heads: tuple[int, ...] | None = None, text: int | None = None) -> Action:
    return Action((SITE,), change, heads, text)


@settings(max_examples=30)
@given(st.sets(st.integers(0, HEADS - 1), min_size=1), st.sampled_from([None, 0, 1]), st.integers(0, 99))
def test_a_head_that_is_off_gives_zeros_and_no_other_head_moves(heads: set[int], text: int | None, seed: int) -> None:
    before, after = run(call(seed), action(SwitchOff(), tuple(heads), text))
    off = np.zeros((TEXTS, HEADS), dtype=bool)
    off[np.ix_([0, 1] if text is None else [text], sorted(heads))] = True
    assert np.array_equal(after, np.where(off[:, None, :, None], 0, before))


@settings(max_examples=30)
@given(st.integers(0, N - 1), st.integers(0, N - 1), st.integers(0, HEADS - 1), st.integers(0, 99))
def test_a_pair_that_is_forbidden_gets_no_weight_and_the_others_share_it(i: int, j: int, head: int, seed: int) -> None:
    c = call(seed)
    before, after = run(c, action(Forbid(i, j), (head,), text=1))
    allowed = EVERY.copy()
    allowed[1, head, i, j] = False
    np.testing.assert_allclose(after, numpy_output(c, allowed), atol=2e-6)
    assert np.array_equal(after[0], before[0])
    others = [h for h in range(HEADS) if h != head]
    assert np.array_equal(after[:, :, others], before[:, :, others])


@pytest.mark.parametrize("temperature", [0.25, 1.0, 3.0])
def test_a_temperature_divides_the_scale(temperature: float) -> None:
    c = call(3)
    _, after = run(c, action(ChangeTemperature(temperature)))
    np.testing.assert_allclose(after, numpy_output(c, EVERY, 0.5 / temperature), atol=2e-6)


@pytest.mark.parametrize(
    "change", [SwitchOff(), ReplaceBy("mean"), ReplaceBy("even"), Forbid(1, 0), ChangeMask(Causal())]
)
def test_what_is_about_no_heads_changes_nothing(change: Change) -> None:
    before, after = run(call(3), action(change, ()))
    assert np.array_equal(before, after)


def test_another_mask_leaves_padding_masked() -> None:
    padded = torch.ones(TEXTS, 1, N, N, dtype=torch.bool)
    padded[1, :, :, 3:] = False
    c = call(4, padded)
    _, after = run(c, action(ChangeMask(Causal())))
    allowed = np.tril(EVERY) & padded.numpy()
    np.testing.assert_allclose(after, numpy_output(c, allowed), atol=2e-6)
    _, opened = run(call(4, padded & torch.ones(N, N, dtype=torch.bool).tril()), action(ChangeMask(MaskRule())))
    np.testing.assert_allclose(opened, numpy_output(c, np.broadcast_to(padded.numpy(), EVERY.shape)), atol=2e-6)


def test_a_pair_stays_forbidden_under_another_mask_in_whatever_order() -> None:
    c = call(5)
    pair, mask = action(Forbid(3, 1), (2,)), action(ChangeMask(Causal()), (2,))
    allowed = EVERY.copy()
    allowed[:, 2] = np.tril(allowed[:, 2])
    allowed[:, 2, 3, 1] = False
    for actions in ((pair, mask), (mask, pair)):
        np.testing.assert_allclose(run(c, *actions)[1], numpy_output(c, allowed), atol=2e-6)


def test_a_row_that_may_attend_to_nothing_gathers_nothing() -> None:
    c = call(6)
    _, after = run(c, *(action(Forbid(2, j), (1,)) for j in range(N)))
    assert np.array_equal(after[:, 2, 1], np.zeros((TEXTS, D)))
    assert np.isfinite(after).all()


def test_even_weights_and_the_mean_over_the_tokens_that_are_no_padding() -> None:
    causal = torch.ones(N, N, dtype=torch.bool).tril().expand(TEXTS, 1, N, N)
    c = call(7, causal)
    before, after = run(c, action(ReplaceBy("even"), (0,)))
    values = c.value[:, 0].numpy()
    expected = np.stack([values[:, : i + 1].mean(axis=1) for i in range(N)], axis=1)
    np.testing.assert_allclose(after[:, :, 0], expected, atol=1e-6)
    tokens = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], dtype=torch.bool)
    before, after = run(c, action(ReplaceBy("mean"), (3,)), tokens=tokens)
    for text, count in enumerate((5, 3)):
        mean = before[text, :count, 3].mean(axis=0)
        np.testing.assert_allclose(after[text, :, 3], np.tile(mean, (N, 1)), atol=1e-6)


def test_softcap_bias_additive_masks_and_sinks_are_part_of_the_scores() -> None:
    """With a temperature of 1 the output is the plain one, whatever the model adds to its scores."""
    mask = torch.zeros(TEXTS, 1, N, N)
    mask[:, :, :, 4] = torch.finfo(torch.float32).min
    mask[:, :, 1, 2] = -0.75
    bias = torch.randn(1, HEADS, N, N, generator=torch.Generator().manual_seed(1))
    c = call(8, mask, position_bias=bias, softcap=2.0, s_aux=torch.tensor([0.5, -1.0, 0.0, 2.0]))
    q, k, v = (t.double().numpy() for t in (c.query, c.key, c.value))
    k, v = np.repeat(k, 2, axis=1), np.repeat(v, 2, axis=1)
    A = 2 * np.tanh(np.einsum("bhid,bhjd->bhij", q, k) * 0.5 / 2) + bias.double().numpy() + mask.double().numpy()
    E = np.exp(A)
    sink = np.exp(np.array([0.5, -1.0, 0.0, 2.0]))[None, :, None, None]
    expected = np.einsum("bhij,bhjd->bihd", E / (E.sum(axis=-1, keepdims=True) + sink), v)
    after = changed(c, torch.zeros(TEXTS, N, HEADS, D), [action(ChangeTemperature(1.0))], None, {})
    np.testing.assert_allclose(after.numpy(), expected, atol=2e-6)


def test_without_a_mask_a_causal_module_attends_backwards_only_where_its_code_says_so() -> None:
    c = call(9)
    after = changed(call(9, by="sdpa"), torch.zeros(TEXTS, N, HEADS, D), [action(ChangeTemperature(1.0))], None, {})
    np.testing.assert_allclose(after.numpy(), numpy_output(c, np.tril(EVERY)), atol=2e-6)


def test_what_is_shown_is_put_in_and_padding_after_it_is_left() -> None:
    c = call(10)
    shown = np.arange(HEADS * 3 * D, dtype=np.float32).reshape(HEADS, 3, D)
    action_ = action(ReplaceBy("shown", Experiment.from_tokens("ab", [[1.0], [2.0]])), (1, 3), text=0)
    before, after = run(c, action_, shown={action_: shown})
    assert np.array_equal(after[0, :3, [1, 3]], shown[[1, 3]])
    assert np.array_equal(after[0, 3:], before[0, 3:]) and np.array_equal(after[1], before[1])
    with pytest.raises(ExperimentError, match="outputs of heads"):
        run(c, action_, shown={action_: shown[:2]})


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (action(SwitchOff(), (HEADS,)), "a head from 1 to 4, received 5"),
        (action(SwitchOff(), (0,), text=2), "a text from 1 to 2, received 3"),
        (action(Forbid(0, N)), "expected 1 to 5, received 6"),
        (action(ChangeMask(Padding())), "a rule of places alone"),
    ],
)
def test_what_there_is_not_is_refused(wrong: Action, match: str) -> None:
    with pytest.raises(ExperimentError, match=match):
        run(call(), wrong)


def test_a_temperature_has_to_be_positive() -> None:
    for wrong in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ExperimentError, match="temperature"):
            ChangeTemperature(wrong)
