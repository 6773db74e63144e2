"""How the numbers of a derivation are evaluated, rounded and written."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attn_gui.model.derivation import (
    Difference,
    Expression,
    Formula,
    Function,
    Largest,
    Operand,
    Power,
    Product,
    Quotient,
    Rounded,
    Step,
    Sum,
)
from attn_gui.model.derivation.evaluating import evaluated
from attn_gui.model.derivation.rounding import rounded
from attn_gui.model.derivation.writing import same, writing, written
from attn_gui.model.precision import Precision
from tests import reference

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
FORMULA = Formula("f", "f")


def n(value: float) -> Operand:
    return Operand(value, "number")


@given(NUMBERS | st.floats(-1e5, 1e5), st.sampled_from([Precision.FLOAT16, Precision.BFLOAT16, Precision.FLOAT32]))
def test_a_number_is_rounded_as_ieee_754_has_it(value: float, precision: Precision) -> None:
    found = rounded(value, precision)
    if precision is Precision.BFLOAT16:
        if abs(value) < 3.3e38:
            assert found == float(reference.rounded(value, precision))
        return
    dtype = np.float16 if precision is Precision.FLOAT16 else np.float32
    with np.errstate(over="ignore"):
        assert found == float(np.float64(value).astype(dtype))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (Sum((n(0.1), n(0.2), n(-0.3))), math.fsum([0.1, 0.2, -0.3])),
        (Sum((n(math.inf), n(-math.inf))), math.nan),
        (Sum((n(1e308), n(1e308))), math.inf),
        (Difference(n(1), Sum((n(2), n(3)))), -4.0),
        (Product((n(2), n(3), n(-1))), -6.0),
        (Quotient(n(1), n(0.0)), math.inf),
        (Quotient(n(-1), n(0.0)), -math.inf),
        (Quotient(n(0), n(0.0)), math.nan),
        (Power(n(2), n(10)), 1024.0),
        (Function("exp", n(1000)), math.inf),
        (Function("sqrt", n(-1)), math.nan),
        (Function("sin", n(math.inf)), math.nan),
        (Function("abs", n(-3)), 3.0),
        (Largest((n(1), n(-2), n(0.5))), 1.0),
        (Largest((n(1), n(math.nan))), math.nan),
        (Rounded(n(70000), Precision.FLOAT16), math.inf),
    ],
)
def test_expressions_are_evaluated_and_never_fail(expression: Expression, value: float) -> None:
    assert evaluated(expression) == pytest.approx(value, rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.0, 4, "0"),
        (0.5, 4, "0.5"),
        (float(np.float32(0.1)), 4, "0.1"),
        (0.70710678, 4, "0.7071"),
        (0.50001, 4, "0.5000"),
        (0.000012340001, 4, "1.2340e-05"),
        (1.75e308, 1, "1.75e+308"),
        (-1.0, 4, "-1"),
        (0.00001234, 4, "1.234e-05"),
        (12345678.0, 4, "1.2346e+07"),
        (2.5e7, 4, "2.5e+07"),
        (math.inf, 4, "inf"),
        (-math.inf, 4, "-inf"),
        (math.nan, 4, "nan"),
        (0.1 + 0.2, 24, "0.30000000000000004"),
    ],
)
def test_numbers_are_written_short_but_not_shorter_than_they_are(value: float, decimals: int, text: str) -> None:
    assert written(value, decimals) == text


@given(NUMBERS, st.integers(1, 24))
def test_what_is_written_reads_back_to_the_decimals(value: float, decimals: int) -> None:
    read = float(written(value, decimals))
    assert abs(read - value) <= max(0.5000001 * 10.0**-decimals, 0.6 * 10.0**-decimals * abs(value))


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50)), min_size=1, max_size=9), st.integers(1, 6))
@example([(1.125, 0.5)], 1)  # 1.1 x 0.5 is halfway
def test_a_step_works_out_from_what_is_printed(pairs: list[tuple[float, float]], decimals: int) -> None:
    expression = Sum(tuple(Product((n(a), n(b))) for a, b in pairs))
    step = Step("Dot product", FORMULA, expression, evaluated(expression))
    w = writing(step, decimals)
    assert w.rounding is None
    total = math.fsum(
        float(w.operand(a)) * float(w.operand(b))
        for a, b in [p.factors for p in expression.terms]  # type: ignore
    )
    assert same(total, step.result, decimals)
    if w.digits > decimals:  # no more digits than it takes
        fewer = math.fsum(float(written(a, w.digits - 1)) * float(written(b, w.digits - 1)) for a, b in pairs)
        # printed as something else, or so near to halfway that it may be
        assert not all(same(fewer * near, step.result, decimals) for near in (1 - 1e-9, 1, 1 + 1e-9))


def test_rounding_that_shows_is_written_as_a_term() -> None:
    # 0.123450000 rounds to 0.1235 or to 0.1234, as the last digit of float32 falls
    step = Step("Sum", FORMULA, Sum((n(0.12345), n(0.0))), 0.12344999)
    w = writing(step, 4)
    assert w.rounding is not None and w.rounding.aside == "rounding"
    assert w.result == "0.1234"
    assert same(float(w.operand(n(0.12345))) + float(w.operand(w.rounding)), step.result, 4)
