"""nn.MultiheadAttention in full, against torch itself: every option of the module and of the call."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from attn_gui.compute.trace import trace
from attn_gui.files.multihead_attention import experiment_from_mha
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Padding
from attn_gui.model.precision import Precision
from attn_gui.model.variant import Variant

CLOSE = {torch.float64: {"rtol": 1e-12, "atol": 1e-12}, torch.float32: {"rtol": 2e-5, "atol": 5e-6}}
PRECISION = {torch.float64: Precision.FLOAT64, torch.float32: Precision.FLOAT32}


@dataclass
class Call:
    """A module and what it is called with: query, key, value [batch, tokens, size], masks as torch has them."""

    module: nn.MultiheadAttention
    inputs: tuple[torch.Tensor, torch.Tensor, torch.Tensor]
    add_zero_attn: bool
    attn_mask: torch.Tensor | None
    key_padding_mask: torch.Tensor | None
    is_causal: bool
    layout: str

    def run(self, **options: Any) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Output [batch, L, E] and weights."""
        inputs, padding = self.inputs, self.key_padding_mask
        if self.layout == "sequence first":
            inputs = tuple(x.transpose(0, 1) for x in inputs)
        elif self.layout == "unbatched":
            inputs, padding = tuple(x[0] for x in inputs), None if padding is None else padding[0]
        with torch.no_grad(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Support for mismatched key_padding_mask and attn_mask is deprecated")
            output, weights = self.module(
                *inputs, attn_mask=self.attn_mask, key_padding_mask=padding, is_causal=self.is_causal, **options
            )
        if self.layout == "sequence first":
            output = output.transpose(0, 1)
        elif self.layout == "unbatched":
            output, weights = output[None], None if weights is None else weights[None]
        return output, weights

    def experiment(self, sample: int) -> Experiment:
        heads, mask = self.module.num_heads, self.attn_mask
        if mask is not None and mask.ndim == 3:
            mask = mask[sample * heads : (sample + 1) * heads]
        return experiment_from_mha(
            state_of(self.module),
            heads,
            *(x[sample].numpy() for x in self.inputs),
            attn_mask=None if mask is None else mask.numpy(),
            key_padding_mask=None if self.key_padding_mask is None else self.key_padding_mask[sample].numpy(),
            add_zero_attn=self.add_zero_attn,
            precision=PRECISION[self.inputs[0].dtype],
        )


def state_of(module: nn.MultiheadAttention) -> dict[str, np.ndarray]:
    return {name: tensor.numpy() for name, tensor in module.state_dict().items()}


def seeded(seed: int, *arguments: Any, dtype: torch.dtype = torch.float32, **options: Any) -> nn.MultiheadAttention:
    """A module with every parameter drawn: biases begin as zeros otherwise."""
    torch.manual_seed(seed)
    module = nn.MultiheadAttention(*arguments, dtype=dtype, **options).eval()
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.4)
    return module


@st.composite
def masks(draw: st.DrawFn, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Bool, True = may not attend; or numbers to be added, -inf among them."""
    count = int(np.prod(shape))
    blocked = torch.tensor(draw(st.lists(st.booleans(), min_size=count, max_size=count))).reshape(shape)
    if draw(st.booleans()):
        return blocked
    return torch.randn(shape, dtype=dtype).masked_fill(blocked, draw(st.sampled_from([-torch.inf, 0.0])))


@st.composite
def calls(draw: st.DrawFn) -> Call:
    embed_dim, heads = draw(st.sampled_from([(4, 2), (6, 3), (6, 1), (8, 8), (1, 1)]))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    kind = draw(st.sampled_from(["self", "self with other values", "cross", "cross with other values", "widths"]))
    kdim, vdim = (draw(st.integers(1, 7)), draw(st.integers(1, 7))) if kind == "widths" else (None, None)
    layout = draw(st.sampled_from(["batch first", "sequence first", "unbatched"]))
    add_zero_attn = draw(st.booleans())
    module = seeded(
        draw(st.integers(0, 2**31)),
        embed_dim,
        heads,
        bias=draw(st.booleans()),
        add_bias_kv=draw(st.booleans()),
        add_zero_attn=add_zero_attn,
        kdim=kdim,
        vdim=vdim,
        batch_first=layout == "batch first",
        dtype=dtype,
    )
    batch, n_q = 1 if layout == "unbatched" else draw(st.integers(1, 2)), draw(st.integers(1, 5))
    n_k = n_q if kind.startswith("self") else draw(st.integers(1, 5))
    query = torch.randn(batch, n_q, embed_dim, dtype=dtype)
    key = query if kind.startswith("self") else torch.randn(batch, n_k, kdim or embed_dim, dtype=dtype)
    value = key if kind in ("self", "cross") else torch.randn(batch, n_k, vdim or embed_dim, dtype=dtype)
    is_causal = draw(st.booleans())
    attn_mask = None
    if is_causal:  # the hint says what the mask is, and torch wants the mask as well
        attn_mask = torch.triu(torch.ones(n_q, n_k, dtype=torch.bool), 1)
        if draw(st.booleans()):
            attn_mask = torch.zeros(n_q, n_k, dtype=dtype).masked_fill(attn_mask, -torch.inf)
    elif draw(st.booleans()):
        attn_mask = draw(masks(draw(st.sampled_from([(n_q, n_k), (batch * heads, n_q, n_k)])), dtype))
    padding = draw(masks((batch, n_k), dtype)) if draw(st.booleans()) else None
    return Call(module, (query, key, value), add_zero_attn, attn_mask, padding, is_causal, layout)


@given(calls())
def test_weights_and_output(call: Call) -> None:
    output, weights = call.run(average_attn_weights=False)
    _, averaged = call.run(average_attn_weights=True)
    assert weights is not None and averaged is not None
    close = CLOSE[output.dtype]
    for sample in range(len(output)):
        e = call.experiment(sample)
        t = trace(e)
        N, mean = t.stage("N"), t.matrix("N", "mean").block(slice(0, e.n_q), slice(0, e.n_k))
        empty = weights[sample].isnan().any(dim=-1).numpy()  # [heads, L]
        assert not N[empty].any()  # torch: NaN
        np.testing.assert_allclose(N[~empty], weights[sample].numpy()[~empty], **close)
        full = ~empty.any(axis=0)  # queries that every head has something for, [L]
        np.testing.assert_allclose(mean[full], averaged[sample].numpy()[full], **close)
        np.testing.assert_allclose(t.stage("output")[full], output[sample].numpy()[full], **close)
        nothing = empty.all(axis=0)
        b_O = np.zeros(e.d_model) if call.module.out_proj.bias is None else call.module.out_proj.bias.detach().numpy()
        np.testing.assert_array_equal(t.stage("output")[nothing], np.broadcast_to(b_O, (nothing.sum(), e.d_model)))


@given(calls())
def test_output_without_weights(call: Call) -> None:
    """Torch takes another way then, scaled_dot_product_attention, which gives fully masked rows as this program."""
    if call.is_causal and call.key_padding_mask is None:
        call.is_causal = False  # as a hint it would mask the appended keys, which the mask itself leaves open
    output, _ = call.run(need_weights=False)
    for sample in range(len(output)):
        found = trace(call.experiment(sample)).stage("output")
        np.testing.assert_allclose(found, output[sample].numpy(), **CLOSE[output.dtype])


def test_what_the_parts_become() -> None:
    module = seeded(0, 6, 2, add_bias_kv=True, add_zero_attn=True)
    x, other = torch.randn(3, 6).numpy(), torch.randn(3, 6).numpy()
    state = state_of(module)
    e = experiment_from_mha(state, 2, x, x, x, add_zero_attn=True, tokens=["a", "b", "c"])
    assert (e.variant, e.heads, e.kv_heads, e.values) == (Variant.MULTI_HEAD_SELF, 2, 2, None)
    assert e.keys.tokens == ("a", "b", "c", "bias", "zero")
    assert e.rule.kind == "none" and e.scoring.biases == ()
    e = experiment_from_mha(state, 2, x, x, other)
    assert e.variant is Variant.MULTI_HEAD_SELF
    assert e.values is not None
    assert e.values.tokens == e.tokens.tokens == ("t1", "t2", "t3")
    e = experiment_from_mha(state, 2, x, other, other, key_padding_mask=[True, False, False])
    assert e.variant is Variant.MULTI_HEAD_CROSS and e.context is not None
    assert e.context.tokens == ("k1", "k2", "k3") and e.context.pad.tolist() == [True, False, False]
    assert e.rule == Padding() and e.values is None
    e = experiment_from_mha(state, 2, x, x, x, key_tokens=["u", "v", "w"])
    assert e.variant is Variant.MULTI_HEAD_CROSS and e.keys.tokens == ("u", "v", "w", "bias")


def test_a_float_padding_mask_of_zeros_and_infinities_is_padding() -> None:
    x = torch.randn(3, 4).numpy()
    e = experiment_from_mha(state_of(seeded(0, 4, 2)), 2, x, x, x, key_padding_mask=[0.0, -np.inf, 0.0])
    assert e.rule == Padding() and e.tokens.pad.tolist() == [False, True, False] and e.scoring.biases == ()


def refused(words: str, state: dict[str, Any] | None = None, **changes: Any) -> None:
    x = np.ones((3, 4))
    arguments: dict[str, Any] = {"num_heads": 2, "query": x, "key": x, "value": x} | changes
    state = state_of(seeded(0, 4, 2)) if state is None else state
    with pytest.raises(ExperimentError, match=words):
        experiment_from_mha(state, **arguments)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"num_heads": 3}, "num_heads: expected a divisor of embed_dim, 4, received 3"),
        ({"num_heads": 0}, "num_heads: expected a divisor of embed_dim, 4, received 0"),
        ({"query": np.ones((2, 3, 4))}, r"query: expected shape \(tokens, 4\), .*, received shape \(2, 3, 4\)"),
        ({"key": np.ones((3, 5))}, r"key: expected shape \(tokens, 4\)"),
        ({"value": np.ones((0, 4))}, r"value: expected shape \(tokens, 4\)"),
        ({"value": np.ones((2, 4))}, "value: expected a row for each of 3 keys, received 2"),
        ({"attn_mask": np.zeros((2, 2), bool)}, r"attn_mask: expected shape \(3, 3\) or \(2, 3, 3\)"),
        ({"attn_mask": np.full((3, 3), np.nan)}, "mask cell 1, 1: expected a finite number or -inf"),
        ({"key_padding_mask": np.zeros(2, bool)}, r"key_padding_mask: expected shape \(3,\), received shape \(2,\)"),
        ({"tokens": ["a"]}, "embeddings: expected one row for each of 1 tokens"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], words: str) -> None:
    refused(words, **changes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weight": np.ones(1)}, "state_dict: expected parameters of nn.MultiheadAttention .*, received 'weight'"),
        ({"in_proj_weight": None}, "state_dict: expected in_proj_weight, or .*, received none of them"),
        ({"q_proj_weight": np.ones((4, 4))}, "state_dict: .* received in_proj_weight, q_proj_weight"),
        ({"out_proj.weight": None}, "state_dict: expected out_proj.weight, received none"),
        ({"bias_k": np.ones((1, 1, 4))}, "state_dict: expected bias_k and bias_v, or neither, received bias_k alone"),
        ({"in_proj_weight": np.ones((12, 5))}, r"in_proj_weight: expected shape \(12, 4\), received shape \(12, 5\)"),
        ({"in_proj_bias": np.ones(4)}, r"in_proj_bias: expected shape \(12,\), received shape \(4,\)"),
        ({"out_proj.weight": np.ones(())}, r"out_proj.weight: expected shape \(embed_dim, embed_dim\), received"),
        ({"out_proj.weight": np.ones((4, 3))}, r"out_proj.weight: expected shape .*, received shape \(4, 3\)"),
        ({"out_proj.weight": np.ones((0, 0))}, r"out_proj.weight: expected shape .*, received shape \(0, 0\)"),
    ],
)
def test_a_state_of_something_else_is_refused(change: dict[str, Any], words: str) -> None:
    state = state_of(seeded(0, 4, 2)) | change
    refused(words, {name: array for name, array in state.items() if array is not None})
