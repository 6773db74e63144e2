"""Worked examples from articles, books and courses: what they print where it is right, and by how much it departs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attn_gui.compute.trace import trace
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.trace import Trace
from attn_gui.model.weights import Weights
from tests.conformance.figures import numbers, read, rule_of

KARINA = read("karina.json")
WORKED = {example["name"]: example for example in read("worked_examples.json")}
STAGES = {"Q": "Q", "K": "K", "V": "V", "QKt": "raw", "A": "A", "A_masked": "A_masked", "N": "N", "output": "output"}
every_example = pytest.mark.parametrize("example", WORKED.values(), ids=WORKED)


def traced(example: dict[str, Any], **changes: Any) -> Trace:
    """The example computed; ``changes`` replace what it gives."""
    given = example | changes
    fields: dict[str, Any] = {
        "scoring": Scoring(scale=given["scale_value"]),
        "precision": Precision.FLOAT64,
        "rule": rule_of(given["mask"]),
    }
    if given["Q"] is not None:
        return trace(Experiment.from_qkv(*(numbers(given[name]) for name in "QKV"), **fields))
    weights = Weights.of(*(numbers(given[name]) for name in ("Wq", "Wk", "Wv")))
    return trace(Experiment.from_tokens(given["tokens"], numbers(given["X"]), weights, **fields))


def stage(t: Trace, name: str) -> np.ndarray:
    """The stage that the file calls ``name``; ``N@1`` is row 1 of it."""
    name, _, row = name.partition("@")
    found = t.stage(STAGES[name], 0)
    return found[int(row)] if row else found


def departure(t: Trace, name: str, printed: Any) -> float:
    return float(np.abs(stage(t, name) - numbers(printed)).max())


def test_no_worked_example_is_twice_there() -> None:
    assert len(WORKED) == len(read("worked_examples.json")) == 10


@every_example
def test_what_follows_from_the_example(example: dict[str, Any]) -> None:
    t = traced(example)
    recomputed = {name: values for name, values in example["expected"].items() if values is not None}
    assert {"QKt", "A", "N", "output"} <= recomputed.keys() <= STAGES.keys()
    for name, values in recomputed.items():
        np.testing.assert_allclose(stage(t, name), numbers(values), rtol=1e-12, atol=1e-12, err_msg=name)


@every_example
def test_what_is_printed_is_right_or_departs_as_recorded(example: dict[str, Any]) -> None:
    t = traced(example)
    assert example["published"].keys() == example["published_vs_recomputed"].keys() != set()
    for name, printed in example["published"].items():
        recorded = example["published_vs_recomputed"][name]
        found = departure(t, name, printed)
        assert (found <= example["tolerance"]) == recorded["ok"], name
        assert found == pytest.approx(recorded["max_abs_diff"], rel=1e-4, abs=1e-12), name
    right = [recorded["ok"] for recorded in example["published_vs_recomputed"].values()]
    assert all(right) == example["published_figures_right"]


def test_one_of_the_examples_is_wrong_in_print() -> None:
    wrong = [name for name, example in WORKED.items() if not example["published_figures_right"]]
    assert wrong == ["karim_illustrated_self_attention_ROUNDED"]


def test_weights_rounded_before_the_product_give_the_outputs_that_the_article_prints() -> None:
    example = WORKED["karim_illustrated_self_attention_ROUNDED"]
    t = traced(example)
    printed = example["published"]
    # 0.0634, 0.468, 0.468 are printed as 0.0, 0.5, 0.5: their sum of 1 was more important than the rounding
    np.testing.assert_allclose(np.round(t.stage("N", 0)[1:], 1), printed["N"][1:])
    np.testing.assert_allclose(numbers(printed["N"]) @ t.stage("V", 0), printed["output"])
    assert departure(t, "output", printed["output"]) == pytest.approx(0.32, abs=0.005)


def test_unrounded_weights_give_the_outputs_that_are_reprinted_with_the_code() -> None:
    t = traced(WORKED["karim_illustrated_self_attention_exact"])
    reprinted = [[1.9366, 6.6831, 1.5951], [2.0000, 7.9640, 0.0540], [1.9997, 7.7599, 0.3584]]
    np.testing.assert_allclose(t.stage("output"), reprinted, atol=5e-5)


def test_the_matrices_as_the_article_typesets_them_do_not_give_its_queries() -> None:
    example = WORKED["random_transformer_head1_sqrt3"]
    typeset = [*example["Wq"][:3], [1.0, 1.0, 0.0]]
    t = traced(example, Wq=typeset)
    np.testing.assert_allclose(t.stage("Q", 0)[0], [8, 8, 3], atol=1e-12)
    assert departure(t, "Q", example["published"]["Q"]) >= 5
    assert departure(t, "QKt", example["published"]["QKt"]) > 1


def test_masking_after_softmax_and_normalising_again_is_the_same() -> None:
    example = WORKED["raschka_ch03_causal_seed789"]
    unmasked = traced(example, mask=None).stage("N", 0) * np.array(example["mask"])
    again = unmasked / unmasked.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(again, traced(example).stage("N", 0), rtol=1e-12)


def test_equal_keys_make_the_query_irrelevant() -> None:
    example = WORKED["d2l_valid_len_2"]
    t = traced(example, Q=[[-7.0, 2.5]])
    assert departure(t, "output", example["published"]["output"]) <= example["tolerance"]


@pytest.mark.parametrize("precision", [Precision.FLOAT64, Precision.FLOAT32])
def test_karina(precision: Precision) -> None:
    t = trace(Experiment.from_tokens(KARINA["tokens"], KARINA["X"], precision=precision))
    close = 1e-15 if precision is Precision.FLOAT64 else 2e-7
    for name, exact in (("raw", "QKt"), ("A", "A"), ("N", "N")):
        np.testing.assert_allclose(t.stage(name, 0), KARINA["exact"][exact], rtol=close, atol=close)
    np.testing.assert_allclose(t.stage("output"), KARINA["exact"]["output"], rtol=close, atol=close)
    np.testing.assert_allclose(t.row_sums(0), 1, atol=close)


def test_the_table_printed_in_the_article_is_not_what_its_scores_give() -> None:
    t = trace(Experiment.from_tokens(KARINA["tokens"], KARINA["X"]))
    printed = np.array(KARINA["printed"]["N"])
    assert printed[1].sum() == pytest.approx(1.09)
    assert np.abs(printed - t.stage("N", 0)).max() > 0.05
    assert np.abs(np.array(KARINA["printed"]["A"]) - t.stage("A", 0)).max() < 0.01
