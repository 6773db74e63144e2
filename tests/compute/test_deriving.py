"""Derivations of any cell of any stage: what is printed works out, and is what the trace holds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attn_gui.compute.deriving import derive
from attn_gui.compute.stream.trace import StreamedTrace
from attn_gui.compute.trace import trace
from attn_gui.files.derivation_text import plain_text
from attn_gui.model.answers import NotYet
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.derivation import (
    Cell,
    Derivation,
    DerivationAsk,
    Formula,
    Operand,
    Parameter,
    Product,
    Step,
    Sum,
)
from attn_gui.model.derivation.rounding import rounded
from attn_gui.model.derivation.writing import writing, written
from attn_gui.model.exercise import ASKABLE, hidden_by
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, Term
from attn_gui.model.masks.random_cells import RandomCells
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.normalisers.entmax15 import Entmax15
from attn_gui.model.normalisers.softmax import Softmax
from attn_gui.model.normalisers.softmax_one import SoftmaxOne
from attn_gui.model.normalisers.sparsemax import Sparsemax
from attn_gui.model.painted import Painted
from attn_gui.model.precision import Precision
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.qk_norm.l2_norm import L2Norm
from attn_gui.model.qk_norm.layer_norm import LayerNorm
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.model.stage_shape import stage_shape, stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.structured import structured_experiment
from attn_gui.model.tables import tables_of
from attn_gui.model.trace import Trace
from tests.answering import answered
from tests.printed_steps import worked_out
from tests.reference import reference
from tests.strategies import experiments

# numbers that come from no table: where a token stands, and what follows from that
PLAIN = ("position ", "place of the ", "−m, minus the slope", "bias of a key that is no token’s", "nothing")
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def value_at(t: Trace, cell: Cell) -> float:
    """What the trace holds."""
    if STAGES[cell.stage].square:
        i, j = cell.row, cell.column
        return float(t.matrix(cell.stage, cell.head).block(slice(i, i + 1), slice(j, j + 1))[0, 0])
    array = t.stage(cell.stage, cell.head) if STAGES[cell.stage].per_head else t.stage(cell.stage)
    return float(array[cell.row, cell.column])


def lines_of(derivation: Derivation, decimals: int) -> list[str]:
    """The arithmetic of each step as it is copied."""
    return [line[2:] for line in plain_text(derivation, decimals).splitlines() if line.startswith("  ")]


@st.composite
def asked(draw: st.DrawFn) -> tuple[Trace, list[DerivationAsk]]:
    """A trace, dense or streamed, and a cell of each of its stages."""
    e = draw(experiments())
    t: Trace = StreamedTrace(e, "cpu") if draw(st.booleans()) else trace(e)
    random = draw(st.randoms(use_true_random=False))
    asks = []
    for stage in stages_of(e):
        rows, columns = stage_shape(e, stage)
        head = random.choice([*range(e.heads), "mean"] if STAGES[stage].square else range(e.heads))
        asks.append(DerivationAsk(stage, head, random.randrange(rows), random.randrange(columns)))
    return t, asks


@FEW
@given(asked(), st.integers(1, 6))
def test_every_step_works_out_from_its_own_printed_numbers(
    found: tuple[Trace, list[DerivationAsk]], decimals: int
) -> None:
    t, asks = found
    for ask in asks:
        d = derive(t, ask)
        lines = lines_of(d, decimals)
        assert len(lines) == len(d.steps)
        for line, step in zip(lines, d.steps, strict=True):
            left, right = worked_out(line)
            printed = [float(written(value, decimals)) for value in (left, step.result)]
            assert printed == pytest.approx([right, right], rel=0, abs=0, nan_ok=True), (line, step.name)


def test_what_is_printed_does_not_lie_halfway_to_another_result() -> None:
    # 1.0 × (−0.5) + (−0.1) × 0.9 + 0.2 × (−0.3) is −0.65 exactly, which may be read as −0.6
    pairs = [(1.04475, -0.52278), (-0.11265, 0.94324), (0.15674, -0.25337)]
    terms = tuple(Product((Operand(a, "a"), Operand(b, "b"))) for a, b in pairs)
    step = Step("Key", Formula("k", "k"), Sum(terms), sum(a * b for a, b in pairs))
    w = writing(step, 1)
    printed = [Decimal(w.operand(operand)) for operand in step.operands]
    value = sum(a * b for a, b in zip(printed[::2], printed[1::2], strict=True))
    assert w.result == "-0.7" and Decimal("-0.75") < value < Decimal("-0.65") and w.digits == 2
    # what is halfway itself has no more digits for that
    half = Step("Half", Formula("h", "h"), Product((Operand(0.5, "a"), Operand(0.5, "b"))), 0.25)
    assert writing(half, 1).digits == 1


@FEW
@given(asked())
def test_the_arithmetic_gives_the_result_but_for_rounding(found: tuple[Trace, list[DerivationAsk]]) -> None:
    t, asks = found
    # of a step between stages nothing, of a stage what its precision explains
    eps = t.experiment.precision.eps
    for ask in asks:
        for step in derive(t, ask).steps:
            sizes = [abs(operand.value) for operand in step.operands if math.isfinite(operand.value)]
            room = 4 * eps * max([1.0, *sizes]) ** 2 * (1 + len(sizes)) if step.cell is not None else 0.0
            assert step.evaluated == step.result or abs(step.evaluated - step.result) <= room, step


@FEW
@given(asked())
def test_the_last_step_is_what_the_trace_holds_and_every_link_leads_to_its_number(
    found: tuple[Trace, list[DerivationAsk]],
) -> None:
    t, asks = found
    e = t.experiment
    tables = {table.name: table.table for table in tables_of(e)}
    for ask in asks:
        d = derive(t, ask)
        assert d.steps[-1].cell == d.cell and d.cell.stage == ask.stage
        assert d.value == pytest.approx(value_at(t, d.cell), rel=0, abs=0, nan_ok=True)
        known = set()
        for step in d.steps:
            if step.cell is not None:
                assert step.result == pytest.approx(value_at(t, step.cell), rel=0, abs=0, nan_ok=True), step
            for operand in step.operands:
                source = operand.source
                if isinstance(source, Cell) and operand.name.startswith("exponential for"):
                    m = next(each.result for each in d.steps if each.name == "Row maximum")
                    assert operand.value == pytest.approx(math.exp(value_at(t, source) - m), rel=1e-12)
                elif isinstance(source, Cell) and source.stage != "bias":
                    assert operand.value == value_at(t, source), operand
                elif isinstance(source, Cell):  # it is kept rounded, and added as it is
                    assert rounded(operand.value, e.precision) == pytest.approx(value_at(t, source), rel=1e-6)
                elif isinstance(source, Parameter) and source.table in tables:
                    given_value = tables[source.table][source.row, source.column]
                    assert operand.value in (given_value, rounded(given_value, e.precision)) or operand.name.startswith(
                        "exponential"
                    ), operand
                elif source is None and not operand.aside and step.cell is not None:
                    known.add((operand.name, operand.value))
        # what leads nowhere is the result of a step before, or a plain number of the experiment
        results = {step.result for step in d.steps}
        plain = {0.0, 1.0, 2.0, -math.inf, float(e.d_k), float(e.heads)}
        typed = ask.stage in ("X", "context", "values")
        for name, value in known:
            assert typed or value in results | plain or name.startswith(PLAIN), (name, value, ask)


@FEW
@given(experiments(precision=Precision.FLOAT64), st.data())
def test_the_weight_and_the_output_are_those_of_an_independent_computation(e: Experiment, data: st.DataObject) -> None:
    t, expected = trace(e), reference(e).stages
    h, i, j = (data.draw(st.integers(0, size - 1)) for size in (e.heads, e.n_q, e.n_k))
    d = derive(t, DerivationAsk("N", h, i, j))
    assert d.value == pytest.approx(expected["N"][h][i][j], abs=1e-9)
    # worked out step by step, in float64, with nothing taken over from the program
    assert worked_out(lines_of(d, 17)[-1])[0] == pytest.approx(expected["N"][h][i][j], abs=1e-9)
    c = data.draw(st.integers(0, stage_shape(e, "output")[1] - 1))
    out = derive(t, DerivationAsk("output", 0, i, c))
    assert worked_out(lines_of(out, 17)[-1])[0] == pytest.approx(expected["output"][i][c], abs=1e-9)


def long(n: int = 60, **fields: Any) -> Experiment:
    return replace(structured_experiment(n), **fields)


def test_a_long_vector_shows_its_largest_terms_and_the_rest_as_one_exact_sum() -> None:
    e = long()
    t = trace(e)
    i, c = 41, 3
    step = derive(t, DerivationAsk("head_output", 1, i, c)).steps[-1]
    products = t.stage("N", 1)[i].astype(np.float64) * t.stage("V", 1)[:, c].astype(np.float64)
    *terms, rest = step.expression.terms  # type: ignore[union-attr]
    listed = [term.factors[0].value * term.factors[1].value for term in terms]
    places = np.argsort(-np.abs(products[: i + 1]), kind="stable")[: len(terms)]
    assert listed == products[places].tolist(), "largest first"
    others = np.delete(products[: i + 1], places)  # keys after the query are masked
    assert rest.aside == f"{len(others)} more" and len(terms) < 10
    assert rest.value == math.fsum(others)


@pytest.mark.parametrize("make", [trace, lambda e: StreamedTrace(e, "cpu")])
def test_only_single_rows_of_square_stages_are_looked_at(make: Callable[[Experiment], Trace]) -> None:
    e = long(300)
    inner = make(e)
    for _ in inner.passes():
        pass
    largest = 0

    class Watched:
        experiment, device = inner.experiment, inner.device

        def stage(self, name: str, head: int | None = None) -> Any:
            assert not STAGES[name].square
            return inner.stage(name, head)

        def matrix(self, name: str, head: Any) -> Any:
            matrix = inner.matrix(name, head)

            class Rows:
                shape = matrix.shape

                def block(self, rows: slice, columns: slice) -> Any:
                    nonlocal largest
                    largest = max(largest, (rows.stop - rows.start) * (columns.stop - columns.start))
                    return matrix.block(rows, columns)

                def allowed(self, rows: slice, columns: slice) -> Any:
                    assert rows.stop - rows.start == 1
                    return matrix.allowed(rows, columns)

            return Rows()

    for stage in stages_of(e):
        derive(Watched(), DerivationAsk(stage, 0, 7, 7))  # type: ignore[arg-type]
    assert 0 < largest <= e.n_k


def test_an_output_waits_for_every_row_and_anything_else_does_not() -> None:
    t = StreamedTrace(long(300), "cpu")
    assert isinstance(answered(t, DerivationAsk("output", 0, 0, 0)), NotYet)
    assert isinstance(answered(t, DerivationAsk("N", 0, 0, 0)), Derivation)
    for _ in t.passes():
        pass
    assert isinstance(answered(t, DerivationAsk("output", 0, 0, 0)), Derivation)


@pytest.mark.parametrize("asked_for", ASKABLE)
def test_what_an_exercise_hides_is_in_no_derivation(asked_for: str) -> None:
    scoring = Scoring(softcap=3.0, biases=(ALiBi(),), qk_norm=RMSNorm(), rotary=Frequencies())
    e = Experiment.from_tokens(*KARINA, scoring=scoring)
    shown = trace(e)
    t = trace(replace(e, hidden=hidden_by([asked_for])))
    hidden = t.experiment.hidden
    for stage in stages_of(e):
        found = answered(t, DerivationAsk(stage, 0, 1, 1))
        if stage in hidden:
            assert found is None
            continue
        assert isinstance(found, Derivation)
        assert found.steps == derive(shown, DerivationAsk(stage, 0, 1, 1)).steps
        cells = [step.cell for step in found.steps] + [o.source for step in found.steps for o in step.operands]
        assert not {cell.stage for cell in cells if isinstance(cell, Cell)} & hidden


def test_what_the_experiment_lacks_has_no_derivation_and_a_cell_outside_is_brought_inside() -> None:
    t = trace(Experiment.from_tokens(*KARINA))
    assert answered(t, DerivationAsk("bias", 0, 0, 0)) is None
    d = answered(t, DerivationAsk("N", 5, 99, 99))
    assert isinstance(d, Derivation) and d.cell == Cell("N", 0, 4, 4)


KARINA = ("karina", "is", "to", "the", "store"), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.5, 1.0]]


def test_the_weight_of_is_for_the_as_it_is_copied() -> None:
    d = derive(trace(Experiment.from_tokens(*KARINA)), DerivationAsk("N", 0, 1, 3))
    assert lines_of(d, 4) == [
        "0 × 1 + 1 × 1 = 1",
        "1 / √2 = 0.7071",
        "0.7071 × 1 = 0.7071",
        "max(0, 0.7071, 0.7071, 0.7071, 0.7071) = 0.7071",
        "exp(0.7071 − 0.7071) = 1",
        "0.4931 + 1 + 1 + 1 + 1 = 4.4931",
        "1 / 4.4931 = 0.2226",
    ]


def test_a_masked_cell_says_by_which_rule_and_an_empty_row_that_it_is_empty() -> None:
    e = Experiment.from_tokens(*KARINA, rule=Causal())
    masked = derive(trace(e), DerivationAsk("N", 0, 1, 3))
    assert [step.name for step in masked.steps][-2:] == ["Mask", "Weight"]
    assert masked.steps[-2].note == "masked by “Causal”" and masked.value == 0
    negated = Combined((Term(RandomCells(1.0), negated=True),))
    noted = derive(trace(replace(e, rule=negated)), DerivationAsk("A_masked", 0, 1, 3)).steps[-1].note
    assert noted == f"masked by “not {RandomCells.title}”"
    by_hand = Painted().with_cells([(1, j) for j in range(5)], False)
    t = trace(replace(e, painted=by_hand))
    assert derive(t, DerivationAsk("N", 0, 1, 0)).steps[-1].note == "every key is masked for this query"
    assert derive(t, DerivationAsk("A_masked", 0, 1, 0)).steps[-1].note == "masked by hand"
    assert derive(t, DerivationAsk("output", 0, 1, 0)).value == 0


def test_sinks_and_the_extra_one_take_part_in_the_row() -> None:
    scoring = Scoring(normaliser=SoftmaxOne(), sinks=(3.0,))
    d = derive(trace(Experiment.from_tokens(*KARINA, scoring=scoring)), DerivationAsk("N", 0, 1, 3))
    maximum = next(step for step in d.steps if step.name == "Row maximum")
    names = [operand.name for operand in maximum.operands]
    assert maximum.result == 3 and names[-2:] == ["score of the sink", "score of the extra 1"]
    total = next(step for step in d.steps if step.name == "Sum of the row")
    assert [o.value for o in total.operands][-2:] == [1.0, math.exp(-3)]
    assert total.operands[-2].source == Parameter("sinks", 0, 0)


def test_a_masked_weight_of_a_row_without_numbers_is_no_number_either() -> None:
    X = [[1e200, 1.0], [1.0, 1.0]]
    e = Experiment.from_tokens("ab", X, precision=Precision.FLOAT64, rule=Causal())
    t = trace(e)
    for j in range(2):
        d = derive(t, DerivationAsk("N", 0, 0, j))
        assert math.isnan(value_at(t, d.cell)) and math.isnan(d.value)
        assert d.steps[-1].note == "a score of the row is no finite number"
        assert "rounding" not in plain_text(d, 4)


@pytest.mark.parametrize("large", [1e200, 1.7e308])
@pytest.mark.parametrize("norm", [None, LayerNorm(), RMSNorm(), L2Norm()])
@pytest.mark.parametrize("normaliser", [Softmax(), SoftmaxOne(), Sparsemax(), Entmax15()])
def test_numbers_that_leave_the_range_are_derived_without_a_warning(
    large: float, norm: QKNorm | None, normaliser: Normaliser
) -> None:
    X = [[large, -large], [-large, 1.0], [1e-300, 40.0]]
    scoring = Scoring(qk_norm=norm, normaliser=normaliser)
    t = trace(Experiment.from_tokens("abc", X, precision=Precision.FLOAT64, scoring=scoring))
    for stage in stages_of(t.experiment):
        rows, columns = stage_shape(t.experiment, stage)
        for i in range(rows):
            for j in range(columns):
                d = derive(t, DerivationAsk(stage, 0, i, j))
                assert np.array_equal(d.value, value_at(t, d.cell), equal_nan=True)


@pytest.mark.parametrize("precision", [Precision.FLOAT16, Precision.BFLOAT16])
def test_at_low_precision_rounding_is_a_step_of_its_own(precision: Precision) -> None:
    X = [[0.3, 0.7], [1.1, 0.2], [0.9, 0.4]]
    e = Experiment.from_tokens("abc", X, precision=precision)
    d = derive(trace(e), DerivationAsk("N", 0, 1, 2))
    steps = [step for step in d.steps if step.name == f"Round to {precision}"]
    assert steps and d.steps[-1] in steps
    assert all(step.note == f"every stage is kept in {precision}" for step in steps)
    assert all(rounded(step.operands[0].value, precision) == step.result for step in steps)
    wide = derive(trace(replace(e, precision=Precision.FLOAT32)), DerivationAsk("N", 0, 1, 2))
    assert not [step for step in wide.steps if step.name.startswith("Round")]


def test_a_score_beyond_the_precision_is_seen_to_leave_it() -> None:
    e = Experiment.from_tokens("ab", [[300.0, 1.0], [1.0, 300.0]], precision=Precision.FLOAT16)
    d = derive(trace(e), DerivationAsk("raw", 0, 0, 0))
    assert d.steps[0].result == 90001 and d.value == math.inf and d.steps[1].name == "Round to float16"


def test_the_mean_over_heads_is_that_of_each_head() -> None:
    e = structured_experiment(9)
    t = trace(e)
    d = derive(t, DerivationAsk("N", "mean", 4, 2))
    assert [o.source for o in d.steps[0].operands[:-1]] == [Cell("N", h, 4, 2) for h in range(e.heads)]
    assert d.value == float(t.matrix("N", "mean").block(slice(4, 5), slice(2, 3))[0, 0])
