"""The attention modules that people write in torch give what this program gives with their weights.

(nn.MultiheadAttention: tests/conformance/test_multihead_attention.py.)
"""

from __future__ import annotations

import math

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from attn_gui.compute.trace import trace
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, MaskRule
from attn_gui.model.scoring import Scoring
from attn_gui.model.tokens import TokenSequence
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
