"""The attention part of PyTorch's own tests, case by case, and of its encoder and decoder layers whole.

Where PyTorch gives NaN or an error of its own, what happens here is said beside it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from attn_gui.compute.trace import trace
from attn_gui.files.multihead_attention import experiment_from_mha
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.mask_import import all_of, mask_of
from attn_gui.model.masks import Causal
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.trace import Trace
from tests.conformance.figures import numbers, read, rule_of

FILE = read("pytorch_cases.json")["cases"]
PYTORCH = {case["id"]: case for case in FILE}
LOOKED_AT: set[str] = set()


def of_cases(*names: str) -> pytest.MarkDecorator:
    """A test of these cases: one that no test is of would be noticed."""
    LOOKED_AT.update(names)
    return pytest.mark.parametrize("case", [PYTORCH[name] for name in names], ids=names)


def given(case: dict[str, Any], **fields: Any) -> Trace:
    """The case's Q, K and V computed."""
    return trace(Experiment.from_qkv(*(numbers(case["inputs"][name]) for name in "QKV"), **fields))


def agrees(case: dict[str, Any], found: np.ndarray, expected: Any) -> None:
    np.testing.assert_allclose(found, numbers(expected), rtol=case["tol"], atol=case["tol"])


def test_no_case_is_left_out() -> None:
    assert len(PYTORCH) == len(FILE) == 23
    assert set(PYTORCH) == LOOKED_AT


@of_cases("sdpa_plain")
def test_plain_scaled_dot_products(case: dict[str, Any]) -> None:
    t = given(case)
    agrees(case, t.stage("A", 0), case["expect"]["A"])
    agrees(case, t.stage("N", 0), case["expect"]["N"])
    agrees(case, t.stage("output"), case["expect"]["output"])


@of_cases("sdpa_float_additive")
def test_a_float_mask_is_added_to_the_scaled_scores(case: dict[str, Any]) -> None:
    rule, bias = mask_of(numbers(case["inputs"]["mask"]), "additive")
    assert rule is not None and bias is not None
    t = given(case, rule=rule, scoring=Scoring(biases=(bias,)))
    agrees(case, t.stage("N", 0), case["expect"]["N"])
    agrees(case, t.stage("output"), case["expect"]["output"])


@of_cases("plain_softmax_of_all_minus_inf_is_nan")
def test_a_row_of_nothing_but_minus_infinity_is_zero_here(case: dict[str, Any]) -> None:
    assert all(math.isnan(float(v)) for v in case["expect"]["N"])
    rule, bias = mask_of([[-np.inf] * 3], "additive")
    assert bias is None
    e = Experiment.from_qkv(np.ones((1, 2)), np.ones((3, 2)), np.ones((3, 2)), rule=all_of([rule]))
    t = trace(e)
    assert t.stage("A_masked", 0).tolist() == [[-np.inf] * 3]
    assert t.stage("N", 0).tolist() == [[0, 0, 0]]
    assert t.stage("output").tolist() == [[0, 0]]


@of_cases("causal_align_2x3", "causal_align_3x3")
@pytest.mark.parametrize(
    ("alignment", "mask", "output"),
    [("top-left", "is_causal_mask", "output_is_causal"), ("bottom-right", "lower_right_mask", "output_lower_right")],
)
def test_causal_alignment(case: dict[str, Any], alignment: str, mask: str, output: str) -> None:
    t = given(case, rule=Causal(alignment))
    e = t.experiment
    assert e.allowed(slice(0, e.n_q), slice(0, e.n_k)).tolist() == case["expect"][mask]
    agrees(case, t.stage("output"), case["expect"][output])


@of_cases("scale_explicit")
@pytest.mark.parametrize("scale", [1, 0])
def test_a_scale_of_ones_own(case: dict[str, Any], scale: int) -> None:
    agrees(case, given(case, scoring=Scoring(scale=scale)).stage("output"), case["expect"][f"output_scale_{scale}"])


@of_cases("dv_differs")
def test_values_of_another_width(case: dict[str, Any]) -> None:
    agrees(case, given(case).stage("output"), case["expect"]["output"])


@of_cases("nan_in_masked_key")
def test_a_mask_hides_nan_that_adding_to_it_would_not(case: dict[str, Any]) -> None:
    """PyTorch adds -inf to the NaN, and everything is NaN. Here a mask is no addition: what it hides is hidden."""
    assert np.isnan(numbers(case["expect"]["output"])).all()
    found = given(case, rule=rule_of(case["inputs"]["mask"])).stage("output")
    kept = {"inputs": {name: [case["inputs"][name][j] for j in (0, 2)] for name in "KV"} | {"Q": case["inputs"]["Q"]}}
    np.testing.assert_allclose(found, given(kept).stage("output"), rtol=1e-6)


@of_cases("flex_softcap")
def test_softcap(case: dict[str, Any]) -> None:
    t = given(case, scoring=Scoring(softcap=case["inputs"]["softcap"]))
    agrees(case, t.stage("N", 0), case["expect"]["N"])
    agrees(case, t.stage("output"), case["expect"]["output"])


@of_cases("gqa_indivisible_raises")
def test_kv_heads_that_do_not_divide_the_query_heads(case: dict[str, Any]) -> None:
    assert "must divide" in case["expect"]["error"]
    Q, K = np.ones((case["inputs"]["q_heads"], 2, 2)), np.ones((case["inputs"]["kv_heads"], 2, 2))
    with pytest.raises(ExperimentError, match="kv_heads: expected a divisor of the 3 query heads, received 2"):
        Experiment.from_qkv(Q, K, K)


@of_cases("dtype_mismatch_raises")
def test_inputs_of_several_types_are_taken(case: dict[str, Any]) -> None:
    """PyTorch refuses them. Here numbers are kept as they come and rounded once, to the precision that is chosen."""
    assert "same dtype" in case["expect"]["error"]
    Q, K = np.array([[0.1, 0.2]], np.float32), np.array([[0.3, 0.4], [0.5, 0.6]], np.float16)
    mixed = trace(Experiment.from_qkv(Q, K, K, precision=Precision.FLOAT64))
    widened = trace(Experiment.from_qkv(Q.astype(float), K.astype(float), K, precision=Precision.FLOAT64))
    np.testing.assert_array_equal(mixed.stage("output"), widened.stage("output"))
    assert mixed.stage("A", 0)[0, 0] == pytest.approx(float(Q[0] @ K[0].astype(float)) / math.sqrt(2), rel=1e-12)


def state_of(case: dict[str, Any]) -> dict[str, np.ndarray]:
    return {name: numbers(values) for name, values in case["inputs"]["state_dict"].items()}


def module(case: dict[str, Any], **arguments: Any) -> Trace:
    """The case's nn.MultiheadAttention of its query and keys."""
    inputs = case["inputs"]
    query = numbers(inputs["query"] if "query" in inputs else inputs["x"])
    keys = numbers(inputs["key_value"]) if "key_value" in inputs else query
    return trace(experiment_from_mha(state_of(case), inputs["num_heads"], query, keys, keys, **arguments))


@of_cases("mha_bool_true_masks", "mha_float_key_padding_additive", "mha_no_bias", "mha_kdim_vdim_cross")
def test_multihead_attention(case: dict[str, Any]) -> None:
    if "keys" in case["expect"]:
        assert sorted(state_of(case)) == case["expect"]["keys"]
    masks = {name: case["inputs"].get(name) for name in ("attn_mask", "key_padding_mask")}
    t = module(case, **masks)
    agrees(case, t.stage("N"), case["expect"]["weights_per_head"])
    agrees(case, t.stage("output"), case["expect"]["output"])


@of_cases("mha_add_zero_attn")
def test_a_key_of_zeros_is_open_to_every_query(case: dict[str, Any]) -> None:
    expected = case["expect"]
    t = module(case, add_zero_attn=True)
    agrees(case, t.stage("N"), expected["weights_per_head"])
    agrees(case, t.stage("output"), expected["output"])
    t = module(case, add_zero_attn=True, attn_mask=case["inputs"]["attn_mask_for_second"])
    agrees(case, t.stage("N")[:, 0], expected["masked_row_weights"])
    agrees(case, t.stage("output")[0], expected["masked_row_output"])


@of_cases("mha_errors")
def test_what_the_module_refuses(case: dict[str, Any]) -> None:
    state = {"in_proj_weight": np.ones((12, 4)), "out_proj.weight": np.ones((4, 4))}
    x = np.arange(12.0).reshape(3, 4)
    calls: dict[str, tuple[dict[str, Any], str]] = {
        "embed_not_divisible": ({"num_heads": 3}, "num_heads: expected a divisor of embed_dim, 4"),
        "q2d_k3d": ({"key": x[:, None]}, r"key: expected shape \(tokens, 4\)"),
        "bad_mask_shape": ({"attn_mask": np.zeros((2, 2), bool)}, r"attn_mask: expected shape \(3, 3\)"),
        "kpm_wrong_len": ({"key_padding_mask": [True, False]}, r"key_padding_mask: expected shape \(3,\)"),
        "kv_len_mismatch": ({"value": x[:2]}, "value: expected a row for each of 3 keys, received 2"),
    }
    # is_causal is only a hint there and needs the mask that it hints at; here causal is a mask by itself
    assert set(case["expect"]) == {*calls, "is_causal_without_mask"}
    assert trace(Experiment.from_qkv(x, x, x, rule=Causal())).stage("N", 0)[0].tolist() == [1, 0, 0]
    for changes, words in calls.values():
        with pytest.raises(ExperimentError, match=words):
            experiment_from_mha(state, **({"num_heads": 2, "query": x, "key": x, "value": x} | changes))


# The parameters of the encoder and decoder layers are cos(0), cos(1), ... each
def cosines(*shape: int) -> np.ndarray:
    return np.cos(np.arange(math.prod(shape))).reshape(shape)


def attention(query: np.ndarray, keys: np.ndarray, heads: int, **masks: Any) -> Trace:
    d = query.shape[1]
    shapes = {"in_proj_weight": (3 * d, d), "in_proj_bias": (3 * d,), "out_proj.weight": (d, d), "out_proj.bias": (d,)}
    state = {name: cosines(*shape) for name, shape in shapes.items()}
    return trace(experiment_from_mha(state, heads, query, keys, keys, **masks))


def layer_norm(x: np.ndarray) -> np.ndarray:
    d = x.shape[-1]
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5) * cosines(d) + cosines(d)


def rest_of_layer(x: np.ndarray, attended: np.ndarray, feedforward: int = 16) -> np.ndarray:
    """What follows the last attention of a layer: residual, norm, feed-forward with relu, residual, norm."""
    d = x.shape[-1]
    x = layer_norm(x + attended)
    hidden = np.maximum(x @ cosines(feedforward, d).T + cosines(feedforward), 0)
    return layer_norm(x + hidden @ cosines(d, feedforward).T + cosines(d))


@of_cases("enc_2tok", "enc_5tok_b2")
def test_encoder_layer(case: dict[str, Any]) -> None:
    x, expected = numbers(case["inputs"]["x_LNE"]), case["expect"]  # [tokens, batch, d]
    assert case["inputs"]["key_padding_mask"] is None
    for b in range(x.shape[1]):
        t = attention(x[:, b], x[:, b], case["inputs"]["nhead"])
        agrees(case, t.stage("output"), numbers(expected["self_attn_output"])[:, b])
        agrees(case, t.stage("N"), expected["self_attn_weights_BHLS"][b])
        agrees(case, rest_of_layer(x[:, b], t.stage("output")), numbers(expected["layer_output"])[:, b])


@of_cases("enc_all_masked_slow_vs_fast")
def test_an_encoder_input_that_is_all_padding(case: dict[str, Any]) -> None:
    """PyTorch's fast path gives NaN; its slow path, as here, the output bias for what attends to nothing."""
    assert case["expect"]["fast_path"] == "all NaN"
    x = numbers(case["inputs"]["x"])[0]
    t = attention(x, x, 2, key_padding_mask=case["inputs"]["key_padding_mask"][0])
    np.testing.assert_array_equal(t.stage("output")[0], cosines(4).astype(np.float32))
    agrees(case, rest_of_layer(x, t.stage("output")), case["expect"]["slow_path"][0])


@of_cases("dec_1x1", "dec_2x2", "dec_3x5_b2_tgtpad")
def test_decoder_layer(case: dict[str, Any]) -> None:
    inputs, expected = case["inputs"], case["expect"]
    targets, memory = numbers(inputs["tgt_LNE"]), numbers(inputs["memory_SNE"])  # [tokens, batch, d]
    queries = numbers(expected["cross_attn_query_in"])
    for b in range(targets.shape[1]):
        padding = inputs["tgt_key_padding_mask"][b] if "tgt_key_padding_mask" in inputs else None
        own = attention(targets[:, b], targets[:, b], inputs["nhead"], key_padding_mask=padding)
        agrees(case, layer_norm(targets[:, b] + own.stage("output")), queries[:, b])
        t = attention(queries[:, b], memory[:, b], inputs["nhead"])
        agrees(case, t.stage("output"), numbers(expected["cross_attn_output"])[:, b])
        agrees(case, t.stage("N"), expected["cross_attn_weights_BHLS"][b])
        agrees(case, rest_of_layer(queries[:, b], t.stage("output")), numbers(expected["layer_output"])[:, b])
