"""The attention modules that people have written in torch give what this program gives with their weights."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from attn_gui.compute.trace import trace
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, MaskRule, Padding
from attn_gui.model.painted import Painted
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import FromTokens
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights

seeds = st.integers(0, 2**31)
CLOSE = {"rtol": 2e-5, "atol": 2e-6}  # two float32 computations


class SelfAttention(nn.Module):
    """One head, three linear layers, scores over sqrt(embed_dim)."""

    def __init__(self, embed_dim: int, bias: bool) -> None:
        super().__init__()
        self.embed_dim = embed_dim
        self.query = nn.Linear(embed_dim, embed_dim, bias)
        self.key = nn.Linear(embed_dim, embed_dim, bias)
        self.value = nn.Linear(embed_dim, embed_dim, bias)

    def forward(self, x: torch.Tensor, context: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores = self.query(x) @ self.key(context).T / math.sqrt(self.embed_dim)
        weights = torch.softmax(scores, dim=-1)
        return weights @ self.value(context), weights


class CrossAttention(SelfAttention):
    """The same with keys and values of another sequence, which may be of another width."""

    def __init__(self, embed_dim: int, context_dim: int, bias: bool) -> None:
        super().__init__(embed_dim, bias)
        self.key = nn.Linear(context_dim, embed_dim, bias)
        self.value = nn.Linear(context_dim, embed_dim, bias)


class MultiHeadSelfAttention(nn.Module):
    """Heads side by side in one matrix each for Q, K and V, then an output layer."""

    def __init__(self, embed_dim: int, num_heads: int, bias: bool) -> None:
        super().__init__()
        self.heads, self.head_dim = num_heads, embed_dim // num_heads
        self.query = nn.Linear(embed_dim, embed_dim, bias)
        self.key = nn.Linear(embed_dim, embed_dim, bias)
        self.value = nn.Linear(embed_dim, embed_dim, bias)
        self.out = nn.Linear(embed_dim, embed_dim, bias)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        n = len(x)
        q, k, v = (f(x).view(n, self.heads, self.head_dim).transpose(0, 1) for f in (self.query, self.key, self.value))
        weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(self.head_dim), dim=-1)
        return self.out((weights @ v).transpose(0, 1).reshape(n, -1)), weights


def imported(**layers: nn.Linear) -> Weights:
    """W and b of linear layers: nn.Linear keeps the transpose of W."""
    arrays = {f"W_{letter}": layer.weight.detach().numpy().T for letter, layer in layers.items()}
    biases = {f"b_{letter}": layer.bias.detach().numpy() for letter, layer in layers.items() if layer.bias is not None}
    return Weights.of(**arrays, **biases)


def words(n: int) -> list[str]:
    return [f"w{i}" for i in range(n)]


@given(seeds, st.integers(1, 9), st.integers(1, 12), st.booleans())
def test_single_head_self_attention(seed: int, n: int, d: int, bias: bool) -> None:
    torch.manual_seed(seed)
    module, x = SelfAttention(d, bias), torch.randn(n, d)
    with torch.no_grad():
        output, weights = module(x, x)
    layers = {"Q": module.query, "K": module.key, "V": module.value}
    t = trace(Experiment.from_tokens(words(n), x.numpy(), imported(**layers)))
    np.testing.assert_allclose(t.stage("N", 0), weights, **CLOSE)
    np.testing.assert_allclose(t.stage("output"), output, **CLOSE)


@given(seeds, st.integers(1, 9), st.integers(1, 9), st.integers(1, 12), st.integers(1, 12), st.booleans())
def test_cross_attention(seed: int, n_q: int, n_k: int, d: int, d_context: int, bias: bool) -> None:
    torch.manual_seed(seed)
    module, x, context = CrossAttention(d, d_context, bias), torch.randn(n_q, d), torch.randn(n_k, d_context)
    with torch.no_grad():
        output, weights = module(x, context)
    layers = {"Q": module.query, "K": module.key, "V": module.value}
    keys = TokenSequence.of(words(n_k), context.numpy())
    t = trace(Experiment.from_tokens(words(n_q), x.numpy(), imported(**layers), context=keys))
    np.testing.assert_allclose(t.stage("N", 0), weights, **CLOSE)
    np.testing.assert_allclose(t.stage("output"), output, **CLOSE)


@given(seeds, st.integers(1, 9), st.sampled_from([(8, 2), (8, 8), (6, 3), (5, 1), (512, 8)]), st.booleans())
def test_multi_head_self_attention(seed: int, n: int, shape: tuple[int, int], bias: bool) -> None:
    d, heads = shape
    torch.manual_seed(seed)
    module, x = MultiHeadSelfAttention(d, heads, bias), torch.randn(n, d)
    with torch.no_grad():
        output, weights = module(x)
    layers = {"Q": module.query, "K": module.key, "V": module.value, "O": module.out}
    t = trace(Experiment.from_tokens(words(n), x.numpy(), imported(**layers), heads=heads))
    np.testing.assert_allclose(t.stage("N"), weights, **CLOSE)
    np.testing.assert_allclose(t.stage("output"), output, **CLOSE)


def of_torch(module: nn.MultiheadAttention) -> Weights:
    """W and b of nn.MultiheadAttention, whose in_proj holds Q, K and V one below the other."""
    d = module.embed_dim
    joint = module.in_proj_weight
    parts = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight) if joint is None else joint.split(d)
    arrays = {f"W_{letter}": part.detach().numpy().T for letter, part in zip("QKV", parts, strict=True)}
    arrays["W_O"] = module.out_proj.weight.detach().numpy().T
    if module.in_proj_bias is not None:
        split = module.in_proj_bias.detach().split(d)
        arrays |= {f"b_{letter}": part.numpy() for letter, part in zip("QKV", split, strict=True)}
        arrays["b_O"] = module.out_proj.bias.detach().numpy()
    return Weights.of(**arrays)


def multi_head_attention(
    seed: int, d: int, heads: int, bias: bool, d_context: int | None = None
) -> nn.MultiheadAttention:
    torch.manual_seed(seed)
    module = nn.MultiheadAttention(d, heads, bias=bias, kdim=d_context, vdim=d_context).eval()
    for parameter in module.parameters():  # its biases start as zeros
        nn.init.normal_(parameter, std=0.4)
    return module


@pytest.mark.parametrize("causal", [False, True])
@given(seeds, st.integers(1, 9), st.sampled_from([(4, 2), (6, 3), (8, 8), (3, 1)]), st.booleans())
def test_torch_multi_head_attention(causal: bool, seed: int, n: int, shape: tuple[int, int], bias: bool) -> None:
    d, heads = shape
    module = multi_head_attention(seed, d, heads, bias)
    x = torch.randn(n, d)
    mask = nn.Transformer.generate_square_subsequent_mask(n) if causal else None
    with torch.no_grad():
        output, weights = module(x, x, x, attn_mask=mask, is_causal=causal, average_attn_weights=False)
        _, mean = module(x, x, x, attn_mask=mask, is_causal=causal)
    rule = Causal() if causal else MaskRule()
    t = trace(Experiment.from_tokens(words(n), x.numpy(), of_torch(module), heads=heads, rule=rule))
    every = slice(0, n)
    np.testing.assert_allclose(t.stage("N"), weights, **CLOSE)
    np.testing.assert_allclose(t.matrix("N", "mean").block(every, every), mean, **CLOSE)
    np.testing.assert_allclose(t.stage("output"), output, **CLOSE)


@given(seeds, st.integers(1, 6), st.integers(1, 6), st.booleans(), st.data())
def test_torch_bool_masks_are_the_opposite(seed: int, n_q: int, n_k: int, bias: bool, data: st.DataObject) -> None:
    d, heads, d_context = 6, 2, 5
    module = multi_head_attention(seed, d, heads, bias, d_context)
    x, context = torch.randn(n_q, d), torch.randn(n_k, d_context)
    flags = st.lists(st.booleans(), min_size=n_k, max_size=n_k)
    forbidden = torch.tensor(data.draw(st.lists(flags, min_size=n_q, max_size=n_q)))  # True = may not attend
    padding = torch.tensor(data.draw(flags))
    # torch gives NaN for a fully masked row; each query keeps the first key
    forbidden[:, 0] = False
    padding[0] = False
    with torch.no_grad():
        output, weights = module(
            x, context, context, attn_mask=forbidden, key_padding_mask=padding, average_attn_weights=False
        )
    keys = TokenSequence.of(words(n_k), context.numpy(), pad=padding.numpy())
    cells = [(i, j) for i in range(n_q) for j in range(n_k) if forbidden[i, j]]
    e = Experiment(
        TokenSequence.of(words(n_q), x.numpy()),
        FromTokens(of_torch(module)),
        Variant.MULTI_HEAD_CROSS,
        heads,
        heads,
        keys,
        rule=Padding(),
        painted=Painted().with_cells(cells, False),
    )
    t = trace(e)
    np.testing.assert_allclose(t.stage("N"), weights, **CLOSE)
    np.testing.assert_allclose(t.stage("output"), output, **CLOSE)


@given(seeds, st.integers(1, 6), st.integers(1, 6), st.sampled_from([(1, 1), (4, 2), (4, 1)]), st.booleans())
def test_scaled_dot_product_attention(seed: int, n_q: int, n_k: int, heads: tuple[int, int], causal: bool) -> None:
    torch.manual_seed(seed)
    Q, K, V = torch.randn(heads[0], n_q, 3), torch.randn(heads[1], n_k, 3), torch.randn(heads[1], n_k, 2)
    output = nn.functional.scaled_dot_product_attention(
        Q[None], K[None], V[None], is_causal=causal, scale=0.7, enable_gqa=heads[0] != heads[1]
    )[0]
    rule = Causal() if causal else MaskRule()
    t = trace(Experiment.from_qkv(Q.numpy(), K.numpy(), V.numpy(), rule=rule, scoring=Scoring(scale=0.7)))
    np.testing.assert_allclose(t.stage("head_output"), output, **CLOSE)
