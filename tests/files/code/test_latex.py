"""LaTeX: it parses, and its matrices hold the numbers of the trace."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from attn_gui.compute.trace import trace
from attn_gui.files.code.latex import MOST_CELLS, latex
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from tests.strategies import experiments

DISPLAY = re.compile(r"\\\[\n(?P<symbol>[^\n]*) = \\begin\{pmatrix\}\n(?P<rows>.*?)\\end\{pmatrix\}\n\\\]\n", re.DOTALL)
SYMBOL = re.compile(r"(?P<symbol>[A-Z](?:'{1,2}|_[A-Z])?|b_[A-Z]|\\tilde\{X\}'?)(?:\^\{\((?P<head>\d+)\)\})?(?: = .*)?")


@dataclass
class Parsed:
    formula: str
    head: int | None
    numbers: NDArray[np.float64]


def number(cell: str) -> float:
    if cell in (r"\infty", r"-\infty", r"\mathrm{nan}"):
        return {"\\i": np.inf, "-\\": -np.inf, "\\m": np.nan}[cell[:2]]
    found = re.fullmatch(r"(-?\d+(?:\.\d+)?)(?: \\times 10\^\{(-?\d+)\})?", cell)
    assert found is not None, cell
    return float(found[1]) * 10.0 ** int(found[2] or 0)


def parse(text: str) -> tuple[list[Parsed], int]:
    """The displayed matrices and the number of columns that are allowed; everything else must be comments."""
    allowed = 10
    rest = re.sub(r"^%[^\n]*\n", "", text, flags=re.MULTILINE)
    counter = re.match(r"\\setcounter\{MaxMatrixCols\}\{(\d+)\}\n", rest)
    if counter is not None:
        allowed, rest = int(counter[1]), rest[counter.end() :]
    found, end = [], 0
    for display in DISPLAY.finditer(rest):
        assert display.start() == end, rest[end : display.start()]
        end = display.end()
        symbol = SYMBOL.fullmatch(display["symbol"])
        assert symbol is not None, display["symbol"]
        assert display["symbol"].count("{") == display["symbol"].count("}")
        lines = display["rows"].split("\n")
        assert lines.pop() == "" and all(line.endswith(r" \\") for line in lines)
        rows = [[number(cell.strip()) for cell in line[:-3].split("&")] for line in lines]
        head = symbol["head"]
        found.append(Parsed(display["symbol"], None if head is None else int(head) - 1, np.array(rows)))
    assert end == len(rest)
    return found, allowed


def same(found: NDArray[np.float64], expected: NDArray[np.float64], decimals: int) -> bool:
    """Whether ``found`` is ``expected`` with so many decimals, of the mantissa where one is written."""
    if found.shape != expected.shape:
        return False
    for text, number in zip(found.ravel().tolist(), expected.astype(np.float64).ravel().tolist(), strict=True):
        unit = 10.0**-decimals * (10.0 ** math.floor(math.log10(abs(number))) if 1e9 <= abs(number) < math.inf else 1)
        if not (text == number or abs(text - number) <= 0.5000001 * unit or (math.isnan(text) and math.isnan(number))):
            return False
    return True


SYMBOLS = {"X": "X", "context": "X'", "values": "X''", "X_in": r"\tilde{X}", "context_in": r"\tilde{X}'"}


@given(experiments(), st.integers(1, 6))
def test_every_matrix_holds_the_numbers_of_the_trace(e: Experiment, decimals: int) -> None:
    t = trace(e)
    found, allowed = parse(latex(t, decimals))
    assert max(p.numbers.shape[1] for p in found) <= allowed
    by_symbol = {(p.formula.partition(" = ")[0].partition("^")[0], p.head): p.numbers for p in found}
    assert len(by_symbol) == len(found)
    masked = e.rule.kind != "none" or bool(e.painted)
    expected = {(SYMBOLS[name], None): t.stage(name) for name in SYMBOLS if _has(t, name)}
    expected |= {(name, None): table.array() for name, table in (e.weights.items() if e.weights else ())}
    heads: list[int | None] = list(range(e.heads)) if e.variant.is_multi_head else [None]
    for head in heads:
        for symbol, stage in (("Q", "Q"), ("K", "K"), ("V", "V"), ("A", "A_masked" if masked else "A"), ("N", "N")):
            expected[symbol, head] = t.stage(stage, head or 0)
        if head is not None:
            expected["O", head] = t.stage("head_output", head)
    expected["O", None] = t.stage("output")
    assert by_symbol.keys() == expected.keys()
    for key, values in expected.items():
        assert same(by_symbol[key], values, decimals), key


def _has(t: object, name: str) -> bool:
    try:
        t.stage(name)  # type: ignore[attr-defined]
    except KeyError:
        return False
    return True


def test_the_formula_says_what_was_done() -> None:
    e = Experiment.from_tokens(["karina", "is"], [[1.0, 0.0], [0.0, 1.0]], rule=Causal())
    text = latex(trace(e), 4)
    assert [p.formula for p in parse(text)[0]] == [
        "X",
        "W_Q",
        "W_K",
        "W_V",
        "Q = X W_Q",
        "K = X W_K",
        "V = X W_V",
        r"A = \frac{Q K^{\top}}{\sqrt{2}}",
        r"N = \operatorname{softmax}(A)",
        "O = N V",
    ]
    assert r"  0.7071 & -\infty \\" in text
    assert r"  1 & 0 \\" in text  # as many decimals as it takes
    assert "% A_masked: rows karina, is\n% columns karina, is\n" in text
    scaled = latex(trace(Experiment.from_tokens("ab", np.eye(2), scoring=Scoring(scale=0.3))), 4)
    assert r"A = 0.300000 \, Q K^{\top}" in scaled


def test_wide_matrices_say_so() -> None:
    e = Experiment.from_tokens([f"t{i}" for i in range(12)], np.ones((12, 2)))
    text = latex(trace(e), 2)
    assert parse(text)[1] == 12
    assert r"\setcounter{MaxMatrixCols}{12}" in text


def test_large_and_missing_numbers() -> None:
    e = Experiment.from_qkv([[2e12]], [[-0.00001], [1.0]], [[np.inf], [np.nan]], precision=Precision.FLOAT64)
    text = latex(trace(e), 3)
    assert r"2.000 \times 10^{12}" in text or r"2 \times 10^{12}" in text
    assert "-0.000 " not in text
    assert r"\infty" in text and r"\mathrm{nan}" in text


def test_names_stay_in_their_comments() -> None:
    text = latex(trace(Experiment.from_tokens(["a\n\\input{x}", "\r\\write18{x}"], np.eye(2))), 2)
    parse(text)
    assert all(line.startswith("%") for line in text.splitlines() if "input" in line or "write18" in line)


def test_more_than_anybody_prints_is_refused() -> None:
    e = Experiment.from_tokens([f"t{i}" for i in range(120)], np.ones((120, 2)))
    with pytest.raises(ExperimentError, match=f"at most {MOST_CELLS:,} numbers, received"):
        latex(trace(e), 2)
