"""The formulas on screen are true: read as arithmetic, they give what was computed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.model.biases.additive import Additive
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.normalisers.entmax15 import Entmax15
from attn_gui.model.normalisers.sigmoid import Sigmoid
from attn_gui.model.normalisers.softmax import Softmax
from attn_gui.model.normalisers.softmax_one import SoftmaxOne
from attn_gui.model.normalisers.sparsemax import Sparsemax
from attn_gui.model.painted import Painted
from attn_gui.model.positions.sinusoidal import Sinusoidal
from attn_gui.model.precision import Precision
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.weights import Weights
from attn_gui.views import formulas
from attn_gui.views.context import Context
from attn_gui.views.drawers.stage_text import formula, told
from attn_gui.views.heatmap_panel import HeatmapPanel
from attn_gui.views.output_panel import OutputPanel
from tests.reference import weights_of
from tests.strategies import experiments
from tests.views.drawer_helpers import given as given_qkv
from tests.views.drawer_helpers import several_heads

exact = experiments(precision=Precision.FLOAT64)


def value_of(text: str, names: dict[str, Any]) -> Any:
    """The right side of ``text`` read as arithmetic over ``names``."""
    right = text.split(" = ", 1)[-1].removesuffix(", masked")
    for sign, operator in (("·", "*"), ("−", "-"), ("Q Kᵀ", "raw"), ("QKᵀ", "raw"), ("√d_k", "root"), ("₁.₅", "")):
        right = right.replace(sign, operator)
    return eval(right.replace("₁", "1"), {"tanh": np.tanh, **names})


@given(exact)
def test_the_line_of_the_scores_gives_the_scores(e: Experiment) -> None:
    t = trace(e)
    names = {"raw": t.stage("raw"), "root": math.sqrt(e.d_k)}
    if e.scoring.biases:
        names["bias"] = t.stage("bias")
    text = formulas.scores(e)
    np.testing.assert_allclose(value_of(text, names), t.stage("A"), rtol=1e-9, atol=1e-9)
    allowed = [t.matrix("A_masked", head).allowed(slice(0, e.n_q), slice(0, e.n_k)) for head in range(e.heads)]
    assert text.endswith(", masked") or np.all(allowed)


@given(exact)
def test_the_formula_of_each_stage_of_the_scores_gives_it(e: Experiment) -> None:
    t = trace(e)
    names: dict[str, Any] = {n: t.stage(n) for n in ("raw", "scaled", "capped", "bias") if n in stages_of(e)}
    names["root"] = np.float64(math.sqrt(e.d_k))
    for stage in ("scaled", "capped", "A"):
        np.testing.assert_allclose(value_of(formula(e, stage), names), t.stage(stage), rtol=1e-9, atol=1e-9)


NORMALISERS = {
    "softmax": Softmax(),
    "softmax1": SoftmaxOne(),
    "sparsemax": Sparsemax(),
    "entmax": Entmax15(),
    "sigmoid": Sigmoid(),
}


def row_function(normaliser: Normaliser) -> Callable[..., Any]:
    def weights(row: Any, *sink: float) -> Any:
        return weights_of(row, Scoring(normaliser=normaliser, sinks=sink or None), 0)

    return weights


@given(exact, st.data())
def test_the_line_of_the_weights_gives_the_weights(e: Experiment, data: st.DataObject) -> None:
    t = trace(e)
    head, i = data.draw(st.integers(0, e.heads - 1)), data.draw(st.integers(0, e.n_q - 1))
    row, keys = slice(i, i + 1), slice(0, e.n_k)
    allowed = t.matrix("N", head).allowed(row, keys)[0]
    if allowed.any():
        names: dict[str, Any] = {name: row_function(normaliser) for name, normaliser in NORMALISERS.items()}
        names |= {"A": t.stage("A", head)[i][allowed], "sink": e.scoring.sinks and e.scoring.sinks[head]}
        found = value_of(formulas.weights(e), names)
        np.testing.assert_allclose(found, t.stage("N", head)[i][allowed], rtol=1e-6, atol=1e-9)


PRODUCT = re.compile(r"= (\(?)(X'*)(?: \+ P\))? W_([QKV])(?: \+ (b_[QKV]))?(?:, then (\d+) appended .*)?")


@given(experiments(precision=Precision.FLOAT64, sources=("tokens",)))
def test_the_formula_of_a_projection_gives_it(e: Experiment) -> None:
    t, weights = trace(e), e.weights
    assert weights is not None
    inputs = {"X": "X", "X'": "context", "X''": "values"}
    for stage in ("Q_projected", "K_projected", "Q", "K", "V"):
        found = PRODUCT.search(formula(e, stage))
        if stage in ("Q", "K") and (e.scoring.qk_norm or e.scoring.rotary):
            assert found is None
            continue
        assert found is not None, formula(e, stage)
        bracket, rows, letter, bias, then = found.groups()
        placed = bracket and rows != "X''"
        X = t.stage("X_in" if placed and rows == "X" else "context_in" if placed else inputs[rows])
        W = weights.get(f"W_{letter}")
        assert W is not None
        expected = X @ W.array()
        added = weights.get(f"b_{letter}")
        assert (added is None) == (bias is None)
        expected = expected if added is None else expected + added.array()
        if stage in stages_of(e):
            parts = e.heads if letter == "Q" else e.kv_heads
            first = t.stage(stage, 0)
            appended = int(then or 0)
            assert appended == (0 if letter == "Q" else len(e.appended))
            of_head = expected.reshape(len(X), parts, -1)[:, 0]
            np.testing.assert_allclose(first[: len(first) - appended], of_head, rtol=1e-9, atol=1e-9)


@given(experiments())
def test_every_stage_of_every_experiment_has_its_line(e: Experiment) -> None:
    for stage in stages_of(e):
        text = told(e, stage, 0)
        assert text and "None" not in text
        assert f"{e.precision}" in text


PLAIN = Experiment.from_tokens("ab", np.eye(2))


@pytest.mark.parametrize(
    ("scoring", "scores", "weights"),
    [
        (Scoring(), "A = QKᵀ/√d_k", "N = softmax(A)"),
        (Scoring(temperature=0.5), "A = QKᵀ/(0.5·√d_k)", "N = softmax(A)"),
        (Scoring(scale=1.0, temperature=2.0), "A = QKᵀ/2", "N = softmax(A)"),
        (Scoring(scale=-0.5, biases=(ALiBi(),)), "A = −0.5·QKᵀ + bias", "N = softmax(A)"),
        (Scoring(softcap=5.0, normaliser=SoftmaxOne()), "A = 5·tanh(QKᵀ/√d_k / 5)", "N = softmax₁(A)"),
        (Scoring(sinks=(1.0,)), "A = QKᵀ/√d_k", "N = softmax(A, sink)"),
        (Scoring(normaliser=Sigmoid(-1.5)), "A = QKᵀ/√d_k", "N = sigmoid(A − 1.5)"),
        (Scoring(normaliser=Sigmoid(2.0)), "A = QKᵀ/√d_k", "N = sigmoid(A + 2)"),
        (Scoring(normaliser=Sigmoid()), "A = QKᵀ/√d_k", "N = sigmoid(A)"),
        (Scoring(normaliser=Entmax15()), "A = QKᵀ/√d_k", "N = entmax₁.₅(A)"),
    ],
)
def test_lines_as_they_are_written(scoring: Scoring, scores: str, weights: str) -> None:
    e = replace(PLAIN, scoring=scoring)
    assert (formulas.scores(e), formulas.weights(e)) == (scores, weights)


def test_a_mask_is_told_where_there_is_one() -> None:
    allowed = Painted().with_cells([(0, 1)], True)
    for nothing in (PLAIN, replace(PLAIN, rule=Combined()), replace(PLAIN, painted=allowed)):
        assert not formulas.is_masked(nothing)
        assert formula(nothing, "A_masked") == "A, nothing is masked"
    painted = replace(PLAIN, rule=Causal(), painted=Painted().with_cells([(0, 0)], False))
    assert formulas.scores(painted) == "A = QKᵀ/√d_k, masked"
    assert formulas.scores_explained(painted) == "A = QKᵀ/√d_k, masked\nmasked: Causal, cells painted by hand"


def test_what_queries_and_keys_go_through_is_told_in_order() -> None:
    scoring = Scoring(position=Sinusoidal(), qk_norm=RMSNorm(1e-6, np.ones(2), None), rotary=Frequencies())
    e = replace(PLAIN, scoring=scoring)
    assert formula(e, "X_in") == "X + P, P = sin, cos(p / base^(2i/d))"
    assert formula(e, "Q_projected") == "Q_projected = (X + P) W_Q"
    assert formula(e, "Q") == "Q = rotary(RMS norm(Q_projected) · gain)"
    assert formula(e, "K") == "K = rotary(RMS norm(K_projected))"
    assert formula(e, "V") == "V = (X + P) W_V"
    assert formula(replace(given_qkv(), scoring=Scoring(qk_norm=RMSNorm())), "Q") == "Q = RMS norm(Q_projected)"
    biased = replace(PLAIN, scoring=Scoring(biases=(ALiBi(), Additive(np.zeros((2, 2))))))
    assert formula(biased, "bias") == "bias = − mₕ · |i − j| + Bᵢⱼ"
    past = replace(PLAIN, past=TokenSequence.of("x", [[1.0, 2.0]]))
    assert formula(past, "context") == "X' = cache, X"
    assert formula(past, "K") == "K = X' W_K"


def test_the_output_is_told_with_its_bias_and_without_w_o() -> None:
    assert formulas.output(PLAIN) == "N V"
    assert formulas.output(several_heads()) == "concat(N V) W_O"
    W = np.eye(2)
    e = Experiment.from_tokens("ab", W, Weights.of(W, W, W, W, b_O=[0, 1]), heads=2)
    assert formulas.output(e) == "concat(N V) W_O + b_O"
    Q = np.ones((2, 3, 2))
    assert formulas.output(Experiment.from_qkv(Q, Q, Q)) == "concat(N V)"


def test_panels_show_the_line_and_explain_it(context: Context, qtbot: QtBot, wait_traced: Callable[[], None]) -> None:
    A, N, output = HeatmapPanel(context, "A"), HeatmapPanel(context, "N"), OutputPanel(context)
    for panel in (A, N, output):
        qtbot.addWidget(panel)
        panel.resize(500, 300)
    scoring = Scoring(biases=(ALiBi(),), normaliser=Sparsemax(), sinks=(0.5,))
    context.document.apply("scoring", replace(context.document.experiment, scoring=scoring, rule=Causal()))
    context.document.start()
    wait_traced()
    assert A.formula.text() == "A = QKᵀ/√d_k + bias, masked"
    assert A.explained.splitlines()[1:] == ["bias: ALiBi: − mₕ · |i − j|", "masked: Causal"]
    assert N.formula.text() == "N = sparsemax(A, sink)"
    assert "max(Aᵢⱼ − τᵢ, 0)" in N.explained
    assert "sink: one more score" in N.explained
    assert N.accessibleName() == "Weights, N = sparsemax(A, sink)"
    assert output.formula.text() == "N V"
