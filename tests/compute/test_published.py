"""Figures that others have published or computed: the Karina example, PyTorch's own cases, worked examples."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attn_gui.compute.trace import trace
from attn_gui.model.edits import set_column
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Padding
from attn_gui.model.painted import Painted
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.trace import Trace
from attn_gui.model.weights import Weights

DATA = Path(__file__).parent.parent / "data"
KARINA = json.loads((DATA / "karina.json").read_text("utf-8"))
PYTORCH = {case["id"]: case for case in json.loads((DATA / "pytorch_cases.json").read_text("utf-8"))["cases"]}
WORKED = json.loads((DATA / "worked_examples.json").read_text("utf-8"))


def numbers(values: Any) -> np.ndarray:
    """Nested lists with "nan" and "-inf" in words."""
    return np.array([numbers(v) if isinstance(v, list) else float(v) for v in values])


def painted(allowed: Any) -> Painted:
    """A mask given as a list of rows, True = may attend."""
    return Painted().with_cells([(i, j) for i, row in enumerate(allowed) for j, ok in enumerate(row) if not ok], False)


def output_of(case: dict[str, Any], **fields: Any) -> np.ndarray:
    given = (numbers(case["inputs"][name]) for name in "QKV")
    return trace(Experiment.from_qkv(*given, **fields)).stage("output")


@pytest.mark.parametrize("precision", [Precision.FLOAT64, Precision.FLOAT32])
def test_karina(precision: Precision) -> None:
    t = trace(Experiment.from_tokens(KARINA["tokens"], KARINA["X"], precision=precision))
    close = 1e-15 if precision is Precision.FLOAT64 else 2e-7
    for stage, exact in (("raw", "QKt"), ("A", "A"), ("N", "N")):
        np.testing.assert_allclose(t.stage(stage, 0), KARINA["exact"][exact], rtol=close, atol=close)
    np.testing.assert_allclose(t.stage("output"), KARINA["exact"]["output"], rtol=close, atol=close)
    np.testing.assert_allclose(t.row_sums(0), 1, atol=close)


def test_the_table_printed_in_the_article_is_not_what_its_scores_give() -> None:
    t = trace(Experiment.from_tokens(KARINA["tokens"], KARINA["X"]))
    printed = np.array(KARINA["printed"]["N"])
    assert printed[1].sum() == pytest.approx(1.09)
    assert np.abs(printed - t.stage("N", 0)).max() > 0.05
    assert np.abs(np.array(KARINA["printed"]["A"]) - t.stage("A", 0)).max() < 0.01


@pytest.mark.parametrize("example", WORKED, ids=[example["name"] for example in WORKED])
def test_worked_example(example: dict[str, Any]) -> None:
    fields: dict[str, Any] = {
        "scoring": Scoring(scale=example["scale_value"]),
        "precision": Precision.FLOAT64,
        "painted": Painted() if example["mask"] is None else painted(example["mask"]),
    }
    if example["Q"] is not None:
        e = Experiment.from_qkv(*(numbers(example[name]) for name in "QKV"), **fields)
    else:
        weights = Weights.of(*(numbers(example[name]) for name in ("Wq", "Wk", "Wv")))
        e = Experiment.from_tokens(example["tokens"], numbers(example["X"]), weights, **fields)
    t = trace(e)
    expected = example["expected"]
    for stage, name in (("raw", "QKt"), ("A", "A"), ("A_masked", "A_masked"), ("N", "N")):
        if expected[name] is not None:
            np.testing.assert_allclose(t.stage(stage, 0), numbers(expected[name]), rtol=1e-12, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(t.stage("output"), numbers(expected["output"]), rtol=1e-12, atol=1e-12)
    _check_published(example, t)


def _check_published(example: dict[str, Any], t: Trace) -> None:
    """What the source printed, to the digits it printed, where it is right."""
    stages = {"QKt": "raw", "A": "A", "N": "N", "Q": "Q", "K": "K", "V": "V"}
    for name, printed in example["published"].items():
        if not example["published_vs_recomputed"][name]["ok"]:
            continue
        stage, _, row = name.partition("@")
        found = t.stage("output") if stage == "output" else t.stage(stages[stage], 0)
        np.testing.assert_allclose(found[int(row)] if row else found, numbers(printed), atol=example["tolerance"])


def test_plain_scaled_dot_products() -> None:
    case = PYTORCH["sdpa_plain"]
    t = trace(Experiment.from_qkv(*(numbers(case["inputs"][name]) for name in "QKV")))
    np.testing.assert_allclose(t.stage("A", 0), case["expect"]["A"], atol=case["tol"])
    np.testing.assert_allclose(t.stage("N", 0), case["expect"]["N"], atol=case["tol"])
    np.testing.assert_allclose(t.stage("output"), case["expect"]["output"], atol=case["tol"])


@pytest.mark.parametrize("shape", ["2x3", "3x3"])
@pytest.mark.parametrize(
    ("alignment", "mask", "output"),
    [("top-left", "is_causal_mask", "output_is_causal"), ("bottom-right", "lower_right_mask", "output_lower_right")],
)
def test_causal_alignment(shape: str, alignment: str, mask: str, output: str) -> None:
    case = PYTORCH[f"causal_align_{shape}"]
    e = Experiment.from_qkv(*(numbers(case["inputs"][name]) for name in "QKV"), rule=Causal(alignment))
    assert e.allowed(slice(0, e.n_q), slice(0, e.n_k)).tolist() == case["expect"][mask]
    np.testing.assert_allclose(trace(e).stage("output"), case["expect"][output], atol=case["tol"])


@pytest.mark.parametrize("scale", [1, 0])
def test_a_scale_of_ones_own(scale: int) -> None:
    case = PYTORCH["scale_explicit"]
    found = output_of(case, scoring=Scoring(scale=scale))
    np.testing.assert_allclose(found, case["expect"][f"output_scale_{scale}"], atol=case["tol"])


def test_values_of_another_width() -> None:
    case = PYTORCH["dv_differs"]
    np.testing.assert_allclose(output_of(case), case["expect"]["output"], atol=case["tol"])


def test_a_boolean_mask_hides_nan_that_an_additive_one_would_not() -> None:
    case = PYTORCH["nan_in_masked_key"]
    assert case["expect"]["output"][0][0] == "nan"
    found = output_of(case, painted=painted(case["inputs"]["mask"]))
    kept = {"inputs": {name: [case["inputs"][name][j] for j in (0, 2)] for name in "KV"} | {"Q": case["inputs"]["Q"]}}
    np.testing.assert_allclose(found, output_of(kept), rtol=1e-6)


def test_softcap() -> None:
    case = PYTORCH["flex_softcap"]
    cap = next(value for name, value in case["inputs"].items() if "cap" in name)
    e = Experiment.from_qkv(*(numbers(case["inputs"][name]) for name in "QKV"), scoring=Scoring(softcap=cap))
    t = trace(e)
    np.testing.assert_allclose(t.stage("N", 0), case["expect"]["N"], atol=case["tol"])
    np.testing.assert_allclose(t.stage("output"), case["expect"]["output"], atol=case["tol"])


def test_kv_heads_that_do_not_divide_the_query_heads() -> None:
    heads = PYTORCH["gqa_indivisible_raises"]["inputs"]
    Q, K = np.ones((heads["q_heads"], 2, 2)), np.ones((heads["kv_heads"], 2, 2))
    with pytest.raises(ExperimentError, match="kv_heads"):
        Experiment.from_qkv(Q, K, K)


def of_state(state: dict[str, Any]) -> Weights:
    """Weights of an nn.MultiheadAttention's state_dict, transposed."""
    if "in_proj_weight" in state:
        parts = np.split(numbers(state["in_proj_weight"]), 3)
    else:
        parts = [numbers(state[f"{letter}_proj_weight"]) for letter in "qkv"]
    arrays = {f"W_{letter}": part.T for letter, part in zip("QKV", parts, strict=True)}
    arrays["W_O"] = numbers(state["out_proj.weight"]).T
    if "in_proj_bias" in state:
        biases = np.split(numbers(state["in_proj_bias"]), 3)
        arrays |= {f"b_{letter}": bias for letter, bias in zip("QKV", biases, strict=True)}
        arrays["b_O"] = numbers(state["out_proj.bias"])
    return Weights.of(**arrays)


@pytest.mark.parametrize("name", ["mha_bool_true_masks", "mha_no_bias", "mha_kdim_vdim_cross"])
def test_multihead_attention(name: str) -> None:
    case = PYTORCH[name]
    given = case["inputs"]
    X = numbers(given["query"] if "query" in given else given["x"])
    context = None
    if "key_value" in given:
        context = TokenSequence.of([f"k{j}" for j in range(len(given["key_value"]))], numbers(given["key_value"]))
    # nn.MultiheadAttention's bool masks say what is forbidden
    mask = [[not forbidden for forbidden in row] for row in given.get("attn_mask", [])]
    e = Experiment.from_tokens(
        [f"t{i}" for i in range(len(X))],
        X,
        of_state(given["state_dict"]),
        heads=given["num_heads"],
        context=context,
        painted=painted(mask),
    )
    t = trace(e)
    np.testing.assert_allclose(t.stage("N"), case["expect"]["weights_per_head"], atol=case["tol"])
    np.testing.assert_allclose(t.stage("output"), case["expect"]["output"], atol=case["tol"])


def cosines(rows: int, columns: int) -> np.ndarray:
    """PyTorch's transformer tests fill every parameter with cos(0), cos(1), ..."""
    return np.cos(np.arange(rows * columns)).reshape(rows, columns)


def cosine_weights(d: int) -> Weights:
    joint, bias = cosines(3 * d, d), cosines(1, 3 * d)[0]
    W_Q, W_K, W_V = (part.T for part in np.split(joint, 3))
    b_Q, b_K, b_V = np.split(bias, 3)
    return Weights.of(W_Q, W_K, W_V, cosines(d, d).T, b_Q=b_Q, b_K=b_K, b_V=b_V, b_O=cosines(1, d)[0])


@pytest.mark.parametrize("name", ["enc_2tok", "enc_5tok_b2"])
def test_encoder_layer_self_attention(name: str) -> None:
    case = PYTORCH[name]
    x = numbers(case["inputs"]["x_LNE"])  # [tokens, batch, d]
    weights = cosine_weights(case["inputs"]["d_model"])
    for b in range(x.shape[1]):
        e = Experiment.from_tokens([f"t{i}" for i in range(len(x))], x[:, b], weights, heads=case["inputs"]["nhead"])
        t = trace(e)
        expected = case["expect"]
        np.testing.assert_allclose(t.stage("output"), numbers(expected["self_attn_output"])[:, b], atol=case["tol"])
        np.testing.assert_allclose(t.stage("N"), numbers(expected["self_attn_weights_BHLS"])[b], atol=case["tol"])


@pytest.mark.parametrize("name", ["dec_1x1", "dec_2x2", "dec_3x5_b2_tgtpad"])
def test_decoder_layer_cross_attention(name: str) -> None:
    case = PYTORCH[name]
    queries, memory = numbers(case["expect"]["cross_attn_query_in"]), numbers(case["inputs"]["memory_SNE"])
    weights = cosine_weights(case["inputs"]["d_model"])
    for b in range(queries.shape[1]):
        keys = TokenSequence.of([f"m{j}" for j in range(len(memory))], memory[:, b])
        tokens = [f"t{i}" for i in range(len(queries))]
        e = Experiment.from_tokens(tokens, queries[:, b], weights, heads=case["inputs"]["nhead"], context=keys)
        t = trace(e)
        expected = case["expect"]
        # the queries are given to 8 digits and the values reach 60
        np.testing.assert_allclose(
            t.stage("output"), numbers(expected["cross_attn_output"])[:, b], rtol=case["tol"], atol=case["tol"]
        )
        np.testing.assert_allclose(t.stage("N"), numbers(expected["cross_attn_weights_BHLS"])[b], atol=case["tol"])


def test_a_row_of_nothing_but_minus_infinity_is_zero_here() -> None:
    assert all(math.isnan(float(v)) for v in PYTORCH["plain_softmax_of_all_minus_inf_is_nan"]["expect"]["N"])
    e = Experiment.from_qkv(np.ones((1, 2)), np.ones((3, 2)), np.ones((3, 2)), painted=painted([[False] * 3]))
    assert trace(e).stage("N", 0).tolist() == [[0, 0, 0]]


def test_an_encoder_input_that_is_all_padding_gets_the_output_bias() -> None:
    case = PYTORCH["enc_all_masked_slow_vs_fast"]
    x = numbers(case["inputs"]["x"])[0]
    e = Experiment.from_tokens("a", x, cosine_weights(4), heads=2, rule=Padding())
    t = trace(set_column(e, "tokens", "pad", [0], True))
    np.testing.assert_allclose(t.stage("output")[0], cosines(1, 4)[0], rtol=1e-6)
