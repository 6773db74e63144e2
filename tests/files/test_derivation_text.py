"""Copies of a derivation: Markdown and LaTeX that parse, and whose numbers work out."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attn_gui.compute.deriving import derive
from attn_gui.compute.trace import trace
from attn_gui.files.derivation_text import latex, markdown, plain_text
from attn_gui.files.derivation_text.line import arithmetic, number
from attn_gui.model.derivation import Cell, Derivation, DerivationAsk, Formula, Operand, Step, Sum
from attn_gui.model.derivation.writing import Writing, written
from attn_gui.model.precision import Precision
from attn_gui.model.stage_shape import stage_shape, stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.tokens import TokenSequence
from tests.printed_steps import as_stored
from tests.strategies import experiments

FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NASTY = st.text(min_size=1, max_size=9) | st.sampled_from(
    [
        "`a`",
        "*b*",
        "_c_",
        "<i>",
        "$x$",
        "\\frac{",
        "}{",
        "100%",
        "a&b",
        "#1",
        "~^",
        "[x](y)",
        "|",
        "\n",
        "\\[",
        "\u202e",
    ]
)
SPECIAL = set("\\`*_{}[]<>#!|~&$")


@st.composite
def derivations(draw: st.DrawFn) -> Derivation:
    """Of a cell of any stage of any experiment, whose tokens may be anything that looks like markup."""
    e = draw(experiments())
    e = replace(e, tokens=_renamed(e.tokens, draw), context=None if e.context is None else _renamed(e.context, draw))
    stage = draw(st.sampled_from(stages_of(e)))
    rows, columns = stage_shape(e, stage)
    head = draw(st.sampled_from([*range(e.heads), *(["mean"] if STAGES[stage].square else [])]))
    return derive(
        trace(e), DerivationAsk(stage, head, draw(st.integers(0, rows - 1)), draw(st.integers(0, columns - 1)))
    )


def _renamed(sequence: TokenSequence, draw: st.DrawFn) -> TokenSequence:
    return replace(sequence, tokens=tuple(draw(NASTY) for _ in sequence.tokens))


@FEW
@given(derivations(), st.integers(1, 6))
def test_markdown_parses_and_says_what_plain_text_says(derivation: Derivation, decimals: int) -> None:
    heading, items = read_markdown(markdown(derivation, decimals))
    plain = plain_text(derivation, decimals).splitlines()
    assert heading == plain[0]
    told = [line for line in plain[2:] if not line.startswith("  ")]
    numbers = [line[2:] for line in plain[2:] if line.startswith("  ")]
    assert [item for item, _ in items] == told
    assert [code for _, code in items] == numbers


def read_markdown(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The heading, and of each item of the list its text and its code; of the part of CommonMark that is written."""
    lines = text.split("\n")
    assert lines[0].startswith("### ") and lines[1] == "" and lines[-1] == ""
    items = []
    rest = lines[2:-1]
    assert len(rest) % 4 == 0 or len(rest) % 4 == 3
    for place, start in enumerate(range(0, len(rest), 4), start=1):
        item, empty, code, *_ = [*rest[start : start + 4], ""]
        match = re.fullmatch(rf"{place}\. \*\*(.+?)\*\*: (.+)", item)
        assert match is not None, item
        assert empty == ""
        indent = " " * len(f"{place}. ")
        span = re.fullmatch(rf"{indent}`([^`]+)`", code)
        assert span is not None, code
        items.append((f"{unescaped(match[1])}: {unescaped(match[2])}", span[1]))
    return unescaped(lines[0][4:]), items


def unescaped(text: str) -> str:
    """What is read; fails where something would be taken for markup."""
    found, at = "", 0
    while at < len(text):
        if text[at] == "\\":
            assert text[at + 1] in SPECIAL, text
            at += 1
        else:
            assert text[at] not in SPECIAL, text
        found += text[at]
        at += 1
    return found


@FEW
@given(derivations(), st.integers(1, 6))
def test_latex_parses_and_its_numbers_work_out(derivation: Derivation, decimals: int) -> None:
    displays = read_latex(latex(derivation, decimals))
    assert len(displays) == len(derivation.steps)
    for display, step in zip(displays, derivation.steps, strict=True):
        left, equals, right = display.rpartition(" = ")
        values = [step.result, *([Reader(left).whole()] if equals else [])]
        printed = [float(written(value, decimals)) for value in values]
        result = Reader(right).whole()
        assert printed == pytest.approx([result] * len(printed), rel=1e-15, abs=0, nan_ok=True), display


def read_latex(text: str) -> list[str]:
    """The displayed formulas; fails where the rest is not text with formulas in single dollars."""
    lines = text.split("\n")
    assert lines[0] == r"% needs \usepackage{amsmath}"
    assert re.fullmatch(r"\\noindent\\textbf\{.*\}", lines[1]) and lines[2] == ""
    check_words(lines[1])
    displays = []
    rest = lines[3:]
    assert len(rest) % 4 == 0
    for start in range(0, len(rest), 4):
        told, begin, display, end = rest[start : start + 4]
        assert (begin, end) == (r"\[", r"\]")
        assert told.startswith(r"\noindent ")
        check_words(told)
        displays.append(display.strip())
    return displays


def check_words(line: str) -> None:
    """That a line of text has balanced braces and dollars, and no character that LaTeX would not print."""
    depth = 0
    inside = False
    at = 0
    while at < len(line):
        if line[at] == "\\":
            command = re.match(r"\\([A-Za-z]+|.)", line[at:])
            assert command is not None
            at += len(command[0])
            continue
        if line[at] == "$":
            inside = not inside
        depth += {"{": 1, "}": -1}.get(line[at], 0)
        assert depth >= 0, line
        assert inside or line[at] not in "&%#_~^", line
        at += 1
    assert depth == 0 and not inside, line


class Reader:
    """Works out a formula of numbers: the part of LaTeX that is written, and nothing else."""

    token = re.compile(r"\\(?:operatorname|text|mathrm)\{[^{}]*\}|\\[A-Za-z]+|\d+(?:\.\d+)?|[-+^{}(),|_]")

    def __init__(self, source: str) -> None:
        self.tokens = self.token.findall(source)
        assert "".join(self.tokens).replace(" ", "") == source.replace(" ", ""), source
        self.at = 0

    @property
    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        found = self.next
        assert found and (wanted is None or found == wanted), (wanted, found, self.tokens)
        self.at += 1
        return found

    def whole(self) -> float:
        with np.errstate(all="ignore"):
            value = self.sum()
        assert self.at == len(self.tokens), self.tokens[self.at :]
        return float(value)

    def sum(self) -> np.float64:
        sign = self.next == "-" and bool(self.take())
        terms = [-self.product() if sign else self.product()]
        while self.next in ("+", "-"):
            terms.append(self.product() if self.take() == "+" else -self.product())
        finite = all(math.isfinite(term) for term in terms)
        return np.float64(math.fsum(terms) if finite else sum(terms))

    def product(self) -> np.float64:
        value = self.power()
        while self.next == r"\times":
            self.take()
            value = value * self.power()
        return value

    def power(self) -> np.float64:
        value = self.atom()
        if self.next == "^":
            self.take()
            exponent = self.group() if self.next == "{" else np.float64(self.take())
            return value**exponent
        return value

    def group(self) -> np.float64:
        self.take("{")
        value = self.sum()
        self.take("}")
        return value

    def atom(self) -> np.float64:
        token = self.next
        if token == "{":
            return self.group()
        self.take()
        if token[0].isdigit():
            return np.float64(token)
        if token == r"\infty":
            return np.float64(math.inf)
        if token == r"\mathrm{nan}":
            return np.float64(math.nan)
        if token == r"\frac":
            return self.group() / self.group()
        if token == r"\sqrt":
            return np.sqrt(self.group())
        if token == r"\underbrace":
            value = self.group()
            for part in ("_", "{"):
                self.take(part)
            assert self.take().startswith(r"\text{")
            self.take("}")
            return value
        if token == r"\left":
            fence = self.take()
            value = self.sum()
            self.take(r"\right")
            assert (fence, self.take()) in (("(", ")"), ("|", "|"))
            return abs(value) if fence == "|" else value
        if token.startswith(r"\operatorname{"):
            (inner,) = self.arguments()
            return np.float64(as_stored(float(inner), Precision(token[len(r"\operatorname{") : -1])))
        if token == r"\max":
            return np.float64(max(self.arguments()))
        functions = {r"\exp": np.exp, r"\tanh": np.tanh, r"\sin": np.sin, r"\cos": np.cos}
        (inner,) = self.arguments()
        return functions[token](inner)

    def arguments(self) -> list[np.float64]:
        self.take(r"\left")
        self.take("(")
        values = [self.sum()]
        while self.next == ",":
            self.take()
            values.append(self.sum())
        self.take(r"\right")
        self.take(")")
        return values


def test_latex_and_text_differ_only_in_notation() -> None:
    expression = Sum((Operand(-0.5, "a"), Operand(-1.25e-9, "b"), Operand(3.0, "c", None, "12 more")))
    step = Step("Sum", Formula("s", "s"), expression, 2.50001)
    w = Writing(step, 4, 4, None)
    assert "".join(piece.text for piece in arithmetic(w)) == "−0.5 + (−1.25e−09) + 3 (12 more)"
    d = Derivation(Cell("X", 0, 0, 0), "x & y", 2.5, Precision.FLOAT64, (replace(step, result=2.49999999875),))
    assert r"-0.5 + \left(-1.25 \times 10^{-9}\right) + \underbrace{3}_{\text{12 more}} = 2.5" in latex(d, 4)
    assert r"x \& y" in latex(d, 4)


@pytest.mark.parametrize(
    ("text", "shown"), [("inf", "∞"), ("-inf", "−∞"), ("nan", "nan"), ("1.2e-05", "1.2e−05"), ("-0.5", "−0.5")]
)
def test_numbers_have_the_signs_that_people_read(text: str, shown: str) -> None:
    assert number(text) == shown
