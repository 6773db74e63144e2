"""State dicts that torch and safetensors wrote, opened as weights: the module's own output comes out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file
from torch import nn

import attn_gui
from attn_gui.compute.trace import trace
from attn_gui.files.checkpoint.opening import Checkpoint, look
from attn_gui.files.errors import FileError
from attn_gui.model.experiment import Experiment
from attn_gui.model.opened_weights import OpenedWeights
from attn_gui.model.sources import FromTokens
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant

CLOSE = {"rtol": 2e-5, "atol": 2e-6}
ENDINGS = ("pt", "safetensors")


def save(state: dict[str, Any], path: Path) -> Path:
    if path.suffix == ".safetensors":
        save_file({name: tensor.contiguous() for name, tensor in state.items()}, path)
    else:
        torch.save(state, path)
    return path


def names(letter: str, count: int) -> list[str]:
    return [f"{letter}{i}" for i in range(count)]


def drawn(module: nn.Module) -> nn.Module:
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.4)
    return module.eval()


def experiment(opened: OpenedWeights, query: Any, key: Any, value: Any) -> Experiment:
    keys = TokenSequence.of(names("k", len(key)), key)
    many = opened.weights.W_O is not None
    return Experiment(
        TokenSequence.of(names("q", len(query)), query),
        FromTokens(opened.weights),
        Variant.MULTI_HEAD_CROSS if many else Variant.CROSS,
        opened.heads,
        opened.kv_heads,
        keys,
        None if value is key else TokenSequence.of(keys.tokens, value),
        appended=opened.appended,
    )


@pytest.mark.parametrize("ending", ENDINGS)
@given(st.integers(0, 2**31), st.sampled_from([(4, 2), (6, 3), (6, 1)]), st.booleans(), st.booleans(), st.booleans())
def test_multihead_attention(
    tmp_path_factory: pytest.TempPathFactory,
    ending: str,
    seed: int,
    shape: tuple[int, int],
    bias: bool,
    bias_kv: bool,
    zero: bool,
) -> None:
    d, heads = shape
    torch.manual_seed(seed)
    kdim, vdim = (None, None) if seed % 3 == 0 else (5, 5) if seed % 3 == 1 else (5, 3)
    module = drawn(
        nn.MultiheadAttention(d, heads, bias=bias, add_bias_kv=bias_kv, add_zero_attn=zero, kdim=kdim, vdim=vdim)
    )
    path = save(module.state_dict(), tmp_path_factory.mktemp("mha") / f"mha.{ending}")
    query, key = torch.randn(4, d), torch.randn(3, kdim or d)
    value = key if (vdim or d) == (kdim or d) else torch.randn(3, vdim or d)
    with torch.no_grad():
        output, weights = module(query, key, value, average_attn_weights=False)
    opened = attn_gui.open_weights(path, heads=heads)
    assert (opened.heads, opened.kv_heads, opened.widths) == (heads, heads, (d, kdim or d, vdim or d))
    if zero:
        opened = opened.with_zero_key()
    t = trace(experiment(opened, query.numpy(), key.numpy(), value.numpy() if value is not key else key.numpy()))
    np.testing.assert_allclose(t.stage("N"), weights, **CLOSE)
    np.testing.assert_allclose(t.stage("output"), output, **CLOSE)


class Small(nn.Module):
    """A linear layer each, by the names that articles and courses give them."""

    def __init__(self, layers: tuple[str, str, str], output: str | None, sizes: tuple[int, ...], bias: bool) -> None:
        super().__init__()
        d, q, k, v = sizes
        for layer, size in zip(layers, (q, k, v), strict=True):
            self.add_module(layer, nn.Linear(d, size, bias))
        if output is not None:
            self.add_module(output, nn.Linear(q // k * v, 7, bias))
        self.layers, self.output = layers, output

    def forward(self, x: torch.Tensor, heads: int) -> torch.Tensor:
        q, k, v = (self.get_submodule(layer)(x) for layer in self.layers)
        d_k = q.shape[1] // heads
        kv_heads = k.shape[1] // d_k
        counts = ((q, heads), (k, kv_heads), (v, kv_heads))
        q, k, v = (rows.unflatten(1, (count, -1)).transpose(0, 1) for rows, count in counts)
        out = nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], enable_gqa=True)[0]
        joined = out.transpose(0, 1).flatten(1)
        return joined if self.output is None else self.get_submodule(self.output)(joined)


@pytest.mark.parametrize(
    ("layers", "output"),
    [
        (("q_linear", "k_linear", "v_linear"), None),
        (("q_linear", "k_linear", "v_linear"), "out"),
        (("q_linear", "k_linear", "v_linear"), "out_linear"),
        (("q_linear", "k_linear", "v_linear"), "fc_out"),
        (("q", "k", "v"), "out"),
        (("W_q", "W_k", "W_v"), "W_o"),
        (("query", "key", "value"), None),
        (("q_proj", "k_proj", "v_proj"), "o_proj"),
    ],
)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    ("sizes", "heads"), [((4, 6, 6, 6), 1), ((4, 6, 6, 6), 3), ((5, 8, 4, 6), 4), ((5, 8, 2, 3), 4)]
)
def test_small_modules(
    tmp_path: Path, layers: tuple[str, str, str], output: str | None, bias: bool, sizes: tuple[int, ...], heads: int
) -> None:
    torch.manual_seed(7)
    module = drawn(Small(layers, output, sizes, bias))
    prefix = "encoder.2.attn."
    state = {prefix + name: tensor for name, tensor in module.state_dict().items()} | {"head.weight": torch.ones(2, 2)}
    path = save(state, tmp_path / "small.pth")
    checkpoint = look(path)
    assert [each.name for each in checkpoint.modules] == ["encoder.2.attn"]
    assert heads in checkpoint.modules[0].heads
    opened = attn_gui.open_weights(path, heads=heads)
    assert opened.weights.has_biases == bias
    x = torch.randn(5, sizes[0])
    with torch.no_grad():
        expected = module(x, heads)
    rows = x.numpy()
    np.testing.assert_allclose(trace(experiment(opened, rows, rows, rows)).stage("output"), expected, **CLOSE)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn])
@pytest.mark.parametrize("ending", ENDINGS)
def test_every_type_of_numbers_is_read_exactly(tmp_path: Path, dtype: torch.dtype, ending: str) -> None:
    torch.manual_seed(1)
    state = {f"{layer}.weight": torch.randn(3, 2).to(dtype) for layer in "qkv"}
    path = save(state, tmp_path / f"a.{ending}")
    assert look(path).modules[0].dtype == str(dtype).removeprefix("torch.")
    opened = attn_gui.open_weights(path)
    assert np.array_equal(opened.weights.W_Q.array(), state["q.weight"].double().numpy().T)
    assert not opened.weights.W_Q.array().flags.writeable


def test_a_view_of_a_larger_storage_is_read_as_it_lies(tmp_path: Path) -> None:
    whole = torch.arange(24.0).reshape(4, 6)
    state = {"q.weight": whole[1:3], "k.weight": whole[:, 2:4].T, "v.weight": whole[::2, ::3]}
    torch.save(state, tmp_path / "a.pt")
    weights = attn_gui.open_weights(tmp_path / "a.pt").weights
    for table, tensor in zip((weights.W_Q, weights.W_K, weights.W_V), state.values(), strict=True):
        assert np.array_equal(table.array(), tensor.numpy().T)


def test_several_modules_are_told_apart_by_their_places(tmp_path: Path) -> None:
    torch.manual_seed(3)
    encoder = drawn(nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2, enable_nested_tensor=False))
    saved = {"model": encoder.state_dict(), "epoch": 3, "optimizer": {"state": {0: {"exp": torch.ones(2)}}}}
    path = save(saved, tmp_path / "m.pt")
    checkpoint = look(path)
    assert [each.name for each in checkpoint.modules] == ["model.layers.0.self_attn", "model.layers.1.self_attn"]
    with pytest.raises(FileError, match=r"layers\.0\.self_attn, model\.layers\.1\.self_attn"):
        attn_gui.open_weights(path)
    opened = attn_gui.open_weights(path, "model.layers.1.self_attn", heads=2)
    expected = encoder.layers[1].self_attn.out_proj.weight.detach().numpy().T
    assert np.array_equal(opened.weights.W_O.array(), expected)
    with pytest.raises(FileError, match="layers"):
        attn_gui.open_weights(path, "model.layers.2.self_attn")


def said(tmp_path: Path, extra: dict[str, Any], config: str = "") -> int | None:
    if config:
        (tmp_path / "config.json").write_text(config)
    path = tmp_path / "m.pt"
    torch.save({"state": nn.MultiheadAttention(6, 3).state_dict()} | extra, path)
    checkpoint: Checkpoint = look(path)
    assert checkpoint.said_heads is None or checkpoint.said_heads == checkpoint.heads_of(checkpoint.modules[0])
    return checkpoint.said_heads


def test_the_number_of_heads_is_found_where_the_file_or_its_config_says_it(tmp_path: Path) -> None:
    assert said(tmp_path, {}) is None
    assert said(tmp_path, {"config": {"num_heads": 3}}) == 3
    assert said(tmp_path, {"a": {"n_head": 3}, "b": {"n_head": 2}}) is None
    assert said(tmp_path, {}, '{"num_attention_heads": 2}') == 2
    assert said(tmp_path, {}, "no json") is None
    state = {name: tensor.contiguous() for name, tensor in nn.MultiheadAttention(6, 3).state_dict().items()}
    save_file(state, tmp_path / "m.safetensors", {"num_heads": "6"})
    assert look(tmp_path / "m.safetensors").said_heads == 6
    assert attn_gui.open_weights(tmp_path / "m.safetensors").heads == 6


def test_the_heads_that_are_offered_cut_every_matrix_evenly(tmp_path: Path) -> None:
    path = save(nn.MultiheadAttention(12, 3).state_dict(), tmp_path / "m.pt")
    assert look(path).modules[0].heads == (1, 2, 3, 4, 6, 12)
    grouped = {"q_proj.weight": torch.ones(8, 3), "k_proj.weight": torch.ones(4, 3), "v_proj.weight": torch.ones(4, 3)}
    path = save(grouped, tmp_path / "g.pt")
    assert look(path).modules[0].heads == (2, 4, 8)
    with pytest.raises(FileError, match="heads: expected 2 or 4 or 8, received 3"):
        attn_gui.open_weights(path, heads=3)


def test_nothing_known_is_answered_with_what_there_is(tmp_path: Path) -> None:
    path = save(nn.Linear(2, 2).state_dict(), tmp_path / "linear.pt")
    with pytest.raises(FileError, match="only weight, bias") as caught:
        attn_gui.open_weights(path)
    assert "q_linear/k_linear/v_linear" in caught.value.expected


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"q.weight": torch.ones(3, 2), "k.weight": torch.ones(4, 2), "v.weight": torch.ones(3, 2)}, "k.weight"),
        ({"q.weight": torch.ones(3, 2, 1), "k.weight": torch.ones(3, 2), "v.weight": torch.ones(3, 2)}, "a matrix"),
        (
            {
                "q.weight": torch.ones(3, 2, dtype=torch.int32),
                "k.weight": torch.ones(3, 2),
                "v.weight": torch.ones(3, 2),
            },
            "int32",
        ),
        ({f"{n}.weight": torch.ones(3, 2) for n in "qkv"} | {"q.bias": torch.ones(2)}, "q.bias: expected 3 numbers"),
        ({f"{n}.weight": torch.ones(3, 2) for n in "qkv"} | {"out.weight": torch.ones(2, 4)}, "cut into heads"),
        ({"in_proj_weight": torch.ones(7, 2), "out_proj.weight": torch.ones(2, 2)}, "one below the other"),
        (
            {"in_proj_weight": torch.ones(6, 2), "out_proj.weight": torch.ones(2, 2), "bias_k": torch.ones(1, 1, 2)},
            "one without the other",
        ),
    ],
)
def test_shapes_that_do_not_fit_are_named(tmp_path: Path, state: dict[str, Any], message: str) -> None:
    with pytest.raises(FileError) as caught:
        look(save(state, tmp_path / "a.pt"))
    assert message in str(caught.value)


def test_berts_output_layer_stands_beside_its_projections(tmp_path: Path) -> None:
    torch.manual_seed(1)
    layers = {name: nn.Linear(6, 6) for name in ("self.query", "self.key", "self.value", "output.dense")}
    state = {f"layer.0.attention.{name}.{k}": v for name, m in layers.items() for k, v in m.state_dict().items()}
    (module,) = look(save(state, tmp_path / "bert.pt")).modules
    assert module.name == "layer.0.attention"
    assert set(module.roles) == {f"{kind}_{letter}" for kind in "Wb" for letter in "QKVO"}
    opened = attn_gui.open_weights(tmp_path / "bert.pt", heads=2)
    assert opened.weights.W_O is not None
    expected = layers["output.dense"].weight.detach().numpy().T
    assert np.array_equal(opened.weights.W_O.array(), expected)
    bare = {name: tensor for name, tensor in state.items() if "output" not in name}
    (inner,) = look(save(bare, tmp_path / "bare.pt")).modules
    assert "W_O" not in inner.roles
