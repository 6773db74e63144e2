"""Each planted cause is named. What the person did is computed here by the formula with the slip in it, in numpy."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from attn_gui.compute.check import check
from attn_gui.compute.trace import trace
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.check import GivenTable, Verdict
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.normalisers.softmax_one import SoftmaxOne
from attn_gui.model.normalisers.sparsemax import Sparsemax
from attn_gui.model.positions.sinusoidal import Sinusoidal
from attn_gui.model.precision import Precision
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.model.weights import Weights

Array = NDArray[np.float64]
RANDOM = np.random.RandomState(11)
N, D = 5, 5
X = RANDOM.standard_normal((N, D))
W = {letter: RANDOM.standard_normal((D, D)) for letter in "QKVO"}
B = {letter: RANDOM.standard_normal(D) for letter in "QKV"}
CAUSAL = np.tri(N, dtype=bool)
PLAIN = Experiment.from_tokens("abcde", X, Weights.of(W["Q"], W["K"], W["V"]), precision=Precision.FLOAT64)
MASKED = replace(PLAIN, rule=Causal())


def softmax(A: Array, axis: int = 1, base: float = math.e) -> Array:
    powers = base ** (A - A.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def masked(A: Array, allowed: NDArray[np.bool_] = CAUSAL) -> Array:
    return np.where(allowed, A, -np.inf)


Q, K, V = (X @ W[letter] for letter in "QKV")
RAW = Q @ K.T
A = RAW / math.sqrt(D)
RIGHT = {"A": A, "N": softmax(A), "output": softmax(A) @ V}


@dataclass(frozen=True)
class Case:
    """What somebody made of ``stage``, and what has to be said."""

    name: str
    stage: str
    made: Array
    experiment: Experiment = PLAIN
    decimals: int = 4
    words: str = ""
    head: int = 0


def scoring(**fields: Any) -> Experiment:
    return replace(PLAIN, scoring=Scoring(**fields))


def with_biases() -> Experiment:
    weights = Weights.of(W["Q"], W["K"], W["V"], b_Q=B["Q"], b_K=B["K"], b_V=B["V"])
    return Experiment.from_tokens("abcde", X, weights, precision=Precision.FLOAT64)


def heads(kv_heads: int = 2, count: int = 2) -> Experiment:
    random = np.random.RandomState(4)
    weights = Weights.of(
        random.standard_normal((4, 2 * count)),
        random.standard_normal((4, 2 * kv_heads)),
        random.standard_normal((4, 2 * kv_heads)),
        random.standard_normal((2 * count, 2 * count)),
        b_O=random.standard_normal(2 * count),
    )
    X4 = random.standard_normal((3, 4))
    return Experiment.from_tokens("abc", X4, weights, heads=count, kv_heads=kv_heads, precision=Precision.FLOAT64)


def alone(stage: str, e: Experiment, head: int = 0) -> Array:
    """A stage as the program computes it, for slips after it."""
    return np.array(trace(e).stage(stage, head))


FRAME = heads()
WIDE = Experiment.from_tokens(
    "abc",
    RANDOM.standard_normal((3, 6)),
    Weights.of(*(RANDOM.standard_normal((6, 2)) for _ in "QKV")),
    precision=Precision.FLOAT64,
)
XW = WIDE.tokens.embeddings.array()
RAW_WIDE = alone("raw", WIDE)


def alibi() -> Array:
    """-slope * distance, the slope of the only head 2^-8."""
    places = np.arange(N)
    return -(2.0**-8) * np.abs(places[:, None] - places[None, :])


def rotated(rows: Array) -> Array:
    frequencies = 10000.0 ** (-2 * np.arange(2) / 4)
    angles = np.arange(N)[:, None] * frequencies
    x, y, rest = rows[:, :2], rows[:, 2:4], rows[:, 4:]
    return np.hstack([x * np.cos(angles) - y * np.sin(angles), x * np.sin(angles) + y * np.cos(angles), rest])


def rms(rows: Array) -> Array:
    return rows / np.sqrt((rows**2).mean(axis=1, keepdims=True) + 1e-6)


def sines() -> Array:
    p, k = np.arange(N)[:, None], np.arange(D)[None, :]
    angles = p / 10000.0 ** (2 * (k // 2) / D)
    return np.where(k % 2 == 0, np.sin(angles), np.cos(angles))


def projected(rows: Array) -> tuple[Array, Array, Array]:
    q, k, v = (rows @ W[letter] for letter in "QKV")
    return q, k, v


N0, V0, HEADS = alone("N", FRAME), alone("V", FRAME), [alone("head_output", FRAME, h) for h in (0, 1)]
W_O, b_O = (FRAME.weights.get(name).array() for name in ("W_O", "b_O"))  # type: ignore[union-attr]
GROUPED = heads(kv_heads=2, count=4)
Q1, K_SECOND = alone("Q", GROUPED, 1), alone("K", GROUPED, 2)

MEANT = Experiment.from_tokens(
    "abc",
    FRAME.tokens.embeddings.array(),
    Weights.of(
        *(FRAME.weights.get(f"W_{k}").array() for k in "QKVO"),  # type: ignore[union-attr]
        **{f"b_{k}": RANDOM.standard_normal(4) for k in "QKVO"},
    ),
    heads=2,
    precision=Precision.FLOAT64,
)
X4 = FRAME.tokens.embeddings.array()
W4 = {k: FRAME.weights.get(f"W_{k}").array() for k in "QKV"}  # type: ignore[union-attr]
Q4, K4 = X4 @ W4["Q"], X4 @ W4["K"]
# rows whose every key is masked
EMPTY = Experiment.from_qkv(Q, K[:2], V[:2], rule=Causal("bottom-right"), precision=Precision.FLOAT64)


def without_biases() -> Array:
    q, k, v = ((X4 @ W4[letter]).reshape(3, 2, 2).transpose(1, 0, 2) for letter in "QKV")
    N = np.stack([softmax(q[h] @ k[h].T / math.sqrt(2)) for h in (0, 1)])
    return (N @ v).transpose(1, 0, 2).reshape(3, 4) @ W_O


def empty_as_nan() -> Array:
    weights = alone("N", EMPTY).copy()
    weights[weights.sum(axis=1) == 0] = np.nan
    return weights


def rounded_on_the_way(decimals: int) -> Array:
    q, k, v = (rows.round(decimals) for rows in (Q, K, V))
    scores = ((q @ k.T).round(decimals) / math.sqrt(D)).round(decimals)
    return softmax(scores).round(decimals) @ v


CASES = [
    Case("biases_forgotten", "output", without_biases(), MEANT, words="b_Q, b_K, b_V and b_O forgotten"),
    Case("heads_in_turn", "Q", Q4[:, 0::2], FRAME),
    Case("heads_in_turn", "A", Q4[:, 1::2] @ K4[:, 1::2].T / math.sqrt(2), FRAME, head=1),
    Case("heads_reshaped", "K", K4.reshape(2, 3, 2)[1], FRAME, head=1),
    Case("concat_reshaped", "concat", np.stack(HEADS).reshape(3, 4), FRAME),
    Case("heads_not_cut", "raw", Q4 @ K4.T, FRAME),
    Case("heads_not_cut", "N", softmax(Q4 @ K4.T / 2), FRAME, words="with division by √4"),
    Case("mean_of_heads", "N", (N0 + alone("N", FRAME, 1)) / 2, FRAME),
    Case("empty_rows_nan", "N", empty_as_nan(), EMPTY),
    Case("rounded_early", "A", Q.round(1) @ K.round(1).T / math.sqrt(D), words="Q and K rounded early, to 1 decimal"),
    Case("rounded_early", "output", rounded_on_the_way(1), words="every step rounded, to 1 decimal"),
    Case("W_O_forgotten", "output", np.hstack(HEADS) + b_O, FRAME, words="W_O forgotten"),
    Case("scale_forgotten", "A", RAW, words="the scale forgotten"),
    Case("scale_forgotten", "N", softmax(RAW), decimals=6),
    Case("scale_forgotten", "output", softmax(RAW) @ V),
    Case("scale_forgotten", "A", masked(RAW), MASKED),
    Case("scale_d_k", "A", RAW / D, words="division by d_k = 5 in place of √5"),
    Case("scale_d_model", "A", RAW_WIDE / 6, WIDE, words="division by d_model = 6 in place of √2"),
    Case("scale_sqrt_d_model", "A", RAW_WIDE / math.sqrt(6), WIDE),
    Case("scale_times", "A", RAW * math.sqrt(D)),
    Case("sqrt_rounded", "A", RAW / 2.24, words="√5 taken as 2.24"),
    Case("sqrt_rounded", "A", RAW / 2.2, words="√5 taken as 2.2"),
    Case("sqrt_rounded", "A", RAW / 2.23, words="√5 taken as 2.23"),
    Case("sqrt_rounded", "A", RAW * 0.45, words="1/√5 taken as 0.45"),
    Case("scale_default", "A", A, scoring(scale=0.3)),
    Case("temperature_forgotten", "A", A, scoring(temperature=2.0)),
    Case("temperature_multiplied", "A", A * 2, scoring(temperature=2.0)),
    Case("softcap_forgotten", "A", A, scoring(softcap=2.0)),
    Case("bias_forgotten", "A", A, scoring(biases=(ALiBi(),)), 6),
    Case("bias_subtracted", "A", A - alibi(), scoring(biases=(ALiBi(),)), 6),
    Case("mask_forgotten", "N", softmax(A), MASKED),
    Case("mask_forgotten", "output", softmax(A) @ V, MASKED),
    Case("mask_after_softmax", "N", softmax(A) * CAUSAL, MASKED),
    Case("masked_as_zero", "N", softmax(A * CAUSAL), MASKED),
    Case("mask_transposed", "N", softmax(masked(A, CAUSAL.T)), MASKED),
    Case("softmax_columns", "N", softmax(A, axis=0), words="the softmax taken over columns, not rows"),
    Case("softmax_columns", "output", softmax(A, axis=0) @ V),
    Case("softmax_whole", "N", np.exp(A) / np.exp(A).sum()),
    Case("not_divided", "N", np.exp(A)),
    Case("max_not_divided", "N", np.exp(A - A.max(axis=1, keepdims=True))),
    Case("no_exponentials", "N", A / A.sum(axis=1, keepdims=True)),
    Case("exp_base", "N", softmax(A, base=2), words="powers of 2 in place of e"),
    Case("exp_base", "N", softmax(A, base=10), words="powers of 10 in place of e"),
    Case("sign", "N", softmax(-A)),
    Case("log_softmax", "N", np.log(softmax(A))),
    Case("plain_softmax", "N", softmax(A), scoring(normaliser=SoftmaxOne())),
    Case("plain_softmax", "N", softmax(A), scoring(normaliser=Sparsemax())),
    Case(
        "plain_softmax", "N", softmax(A), scoring(sinks=(1.0,)), words="a plain softmax in place of a sink in every row"
    ),
    Case("max_subtracted", "A", A - A.max(axis=1, keepdims=True)),
    Case("rows_not_one", "N", softmax(A) * np.array([[1.1], [0.9], [1.2], [1.05], [0.8]])),
    Case("transposed", "A", A.T, words="the table transposed, queries for keys"),
    Case("transposed", "N", softmax(A).T),
    Case("transposed", "V", V.T, words="the table transposed, rows for columns"),
    Case("q_and_k_swapped", "N", softmax(A.T)),
    Case("k_not_transposed", "A", Q @ K / math.sqrt(D)),
    Case("W_Q_transposed", "Q", X @ W["Q"].T, words="W_Q transposed"),
    Case("W_Q_transposed", "A", X @ W["Q"].T @ K.T / math.sqrt(D)),
    Case("W_K_transposed", "A", Q @ (X @ W["K"].T).T / math.sqrt(D)),
    Case("W_V_transposed", "output", softmax(A) @ X @ W["V"].T),
    Case(
        "W_transposed",
        "output",
        softmax(X @ W["Q"].T @ (X @ W["K"].T).T / math.sqrt(D)) @ X @ W["V"].T,
        words="W_Q, W_K and W_V transposed",
    ),
    Case(
        "W_transposed",
        "A",
        X @ W["Q"].T @ (X @ W["K"].T).T / math.sqrt(D),
        words="W_Q and W_K transposed",
    ),
    Case("W_K_forgotten", "A", Q @ X.T / math.sqrt(D)),
    Case("W_forgotten", "output", softmax(X @ X.T / math.sqrt(D)) @ X),
    Case("b_Q_forgotten", "Q", Q, with_biases()),
    Case("b_V_forgotten", "V", V, with_biases()),
    Case("kv_heads_in_turn", "raw", Q1 @ K_SECOND.T, GROUPED, head=1),
    Case("positions_forgotten", "Q", Q, scoring(position=Sinusoidal())),
    Case("rotary_forgotten", "raw", RAW, scoring(rotary=Frequencies(width=4))),
    Case("norm_forgotten", "raw", RAW, scoring(qk_norm=RMSNorm())),
    Case("v_transposed", "output", softmax(A) @ V.T, words="N Vᵀ in place of N V"),
    Case("n_transposed", "output", softmax(A).T @ V),
    Case("q_for_v", "output", softmax(A) @ Q),
    Case("k_for_v", "output", softmax(A) @ K),
    Case("a_for_n", "output", A @ V),
    Case("heads_interleaved", "concat", np.stack(HEADS, axis=2).reshape(3, 4), FRAME),
    Case("W_O_transposed", "output", np.hstack(HEADS) @ W_O.T + b_O, FRAME),
    Case("W_O_forgotten", "output", np.hstack(HEADS), FRAME, words="W_O and b_O forgotten"),
    Case("b_O_forgotten", "output", np.hstack(HEADS) @ W_O, FRAME),
    Case("rounded_early", "N", softmax(A.round(1)), words="A rounded early, to 1 decimal"),
    Case("rounded_early", "output", softmax(A).round(2) @ V, words="N rounded early, to 2 decimals"),
    Case("rounded_early", "A", Q.round(1) @ K.T / math.sqrt(D), words="Q rounded early, to 1 decimal"),
    Case("exponentials_rounded", "N", np.exp(A).round(1) / np.exp(A).round(1).sum(axis=1, keepdims=True)),
    Case("cut_off", "N", np.trunc(softmax(A) * 1e3) / 1e3, decimals=3),
    Case("few_decimals", "N", softmax(A).round(2), decimals=4, words="rounded to 2 decimals"),
    Case("percent", "N", 100 * softmax(A), decimals=2),
    Case("negated", "A", -A),
    Case("other_head", "N", alone("N", FRAME, 1), FRAME, words="the numbers of head 2"),
    Case("k_for_v", "V", K, words="K in place of V"),
    Case("other_stage", "K", Q, words="Q, queries"),
]


def given(stage: str, values: Array, decimals: int, head: int = 0) -> GivenTable:
    return GivenTable.of(stage, head, [[f"{value:.{decimals}f}" for value in row] for row in values])


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.stage}")
def test_a_planted_cause_is_named(case: Case) -> None:
    (checked,) = check(trace(case.experiment), [given(case.stage, case.made, case.decimals, case.head)])
    assert checked.cause is not None, checked.summary
    assert checked.cause.name == case.name, checked.summary
    assert checked.cause.fits == checked.answered
    assert case.words in checked.cause.words
    assert f"All {checked.answered} fit {checked.cause.words}." in checked.summary


def test_the_sum_over_heads_in_place_of_their_mean_is_named() -> None:
    made = N0 + alone("N", FRAME, 1)
    cells = [[f"{value:.4f}" for value in row] for row in made]
    (checked,) = check(trace(FRAME), [GivenTable.of("N", "mean", cells)])
    assert checked.cause is not None and checked.cause.name == "sum_of_heads"


def test_every_slip_there_is_is_planted_here() -> None:
    from attn_gui.compute.check.setting import Setting
    from attn_gui.compute.check.slips import slips

    planted = {case.name for case in CASES}
    square = replace(MASKED, scoring=Scoring(softcap=2.0, temperature=2.0, biases=(ALiBi(),)))
    for e in (square, with_biases(), FRAME, GROUPED, scoring(position=Sinusoidal(), rotary=Frequencies(width=4))):
        for stage in ("N", "output"):
            names = {slip.name for slip in slips(Setting(e), stage)}
            # a group of letters is one slip with each of them
            loose = {name for name in names if name not in planted and name[0] not in "Wb"}
            assert loose <= {"mask_inverted", "mask_and_itself"}, loose


@pytest.mark.parametrize(
    ("name", "allowed"), [("mask_inverted", ~CAUSAL), ("mask_and_itself", CAUSAL & ~np.eye(N, dtype=bool))]
)
def test_masks_that_leave_rows_empty(name: str, allowed: NDArray[np.bool_]) -> None:
    rows = np.where(allowed.any(axis=1, keepdims=True), masked(A, allowed), 0)
    made = np.where(allowed.any(axis=1, keepdims=True), softmax(rows), 0)
    (checked,) = check(trace(MASKED), [given("N", made, 4)])
    assert checked.cause is not None and checked.cause.name == name


def test_a_causal_mask_aligned_at_the_other_corner() -> None:
    random = np.random.RandomState(5)
    q, k, v = random.standard_normal((3, 2)), random.standard_normal((5, 2)), random.standard_normal((5, 2))
    e = Experiment.from_qkv(q, k, v, rule=Causal("top-left"), precision=Precision.FLOAT64)
    made = softmax(np.where(np.tri(3, 5, 2, dtype=bool), q @ k.T / math.sqrt(2), -np.inf))
    (checked,) = check(trace(e), [given("N", made, 4)])
    assert checked.cause is not None and checked.cause.words == "the causal mask aligned at the bottom right"


@pytest.mark.parametrize("stage", ["A", "N", "output"])
def test_numbers_out_of_the_air_have_no_cause(stage: str) -> None:
    random = np.random.RandomState(8)
    for _ in range(5):
        made = RIGHT[stage] + random.uniform(0.05, 0.5, RIGHT[stage].shape) * random.choice([-1, 1], RIGHT[stage].shape)
        (checked,) = check(trace(PLAIN), [given(stage, made, 2)])
        assert checked.cause is None and checked.count(Verdict.WRONG) == made.size
        assert "No known cause fits." in checked.summary


def test_a_slip_with_one_more_wrong_cell_is_named_still() -> None:
    made = RAW.copy()
    made[2, 3] += 1
    (checked,) = check(trace(PLAIN), [given("A", made, 3)])
    assert checked.cause is not None and checked.cause.name == "scale_forgotten"
    assert "24 of 25 fit the scale forgotten." in checked.summary


def test_one_wrong_cell_of_few_digits_is_explained_by_nothing() -> None:
    made = RIGHT["N"].copy()
    made[0, 0] += 0.03
    (checked,) = check(trace(PLAIN), [given("N", made, 2)])
    assert checked.cause is None and checked.count(Verdict.WRONG) == 1


def test_rows_that_do_not_sum_to_1_are_said_to() -> None:
    made = RIGHT["N"].copy()
    made[1, 0] += 0.1
    (checked,) = check(trace(PLAIN), [given("N", made, 2)])
    assert checked.summary.endswith(f"The row of “b” sums to {made[1].round(2).sum():.2f}, not to 1.")
    made[3, 2] += 0.2
    (checked,) = check(trace(PLAIN), [given("N", made, 2)])
    sums = [f"{made[row].round(2).sum():.2f}" for row in (1, 3)]
    assert checked.summary.endswith(f"Rows do not sum to 1: “b” ({sums[0]}), “d” ({sums[1]}).")


def test_a_row_whose_token_comes_twice_is_told_by_its_number() -> None:
    e = replace(PLAIN, tokens=replace(PLAIN.tokens, tokens=("a", "b", "a", "c", "d")))
    made = RIGHT["N"].copy()
    made[2, 0] += 0.1
    (checked,) = check(trace(e), [given("N", made, 2)])
    assert "Row 3, “a”, sums to " in checked.summary


@pytest.mark.parametrize("stage", ["A", "N"])
def test_huge_numbers_are_wrong_and_no_more(stage: str) -> None:
    huge = Experiment.from_tokens("ab", [[1e150, 0.0], [0.0, 1e150]], precision=Precision.FLOAT64)
    cells = (("1e308", "9e307"), ("-1e308", "1e308"))
    (checked,) = check(trace(huge), [GivenTable(stage, 0, cells)])
    assert (checked.verdicts == Verdict.WRONG).all()
