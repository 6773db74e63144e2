"""Formulas of the help: each is read, told on one line, and drawn whole in every theme and at every scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage, QPainter
from pytestqt.qtbot import QtBot

from attn_gui.views.help.mathematics.formula import Formula
from attn_gui.views.help.mathematics.linear import linear
from attn_gui.views.help.mathematics.parsing import FormulaError, parsed
from attn_gui.views.help.pages import FORMULA, pages
from attn_gui.views.theme import THEMES, Theme

BORDER = 12
SOURCES = sorted(
    {
        (m["alone"] or m["inline"], m["alone"] is not None)
        for p in pages().values()
        for m in FORMULA.finditer(p.markdown)
    }
)


def drawn(formula: Formula, theme: Theme, scale: float = 1.0) -> tuple[NDArray[np.bool_], float]:
    """Which pixels differ from the ground, with a border around the formula's own size: [height, width]."""
    size = formula.size
    width, height = (int((length + 2 * BORDER) * scale) + 1 for length in (size.width(), size.height()))
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    image.fill(theme.colour("field"))
    ground = image.pixel(0, 0)
    painter = QPainter(image)
    formula.draw(painter, QPointF(BORDER, BORDER), theme.colour("text"))
    painter.end()
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(height, image.bytesPerLine() // 4)[:, :width]
    return pixels != ground, scale


def test_there_are_formulas() -> None:
    assert len(SOURCES) > 60


@pytest.mark.parametrize("theme", list(THEMES))
def test_every_formula_of_the_pages_is_drawn_and_whole(qtbot: QtBot, theme: str) -> None:
    for source, alone in SOURCES:
        formula = Formula(source, 10.0, display=alone)
        ink, _ = drawn(formula, THEMES[theme])
        assert ink.any(), source
        rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
        assert rows[0] >= BORDER - 1 and rows[-1] <= BORDER + formula.size.height() + 1, source
        # slanted letters may lean out by a pixel or two, into the space between words
        assert columns[0] >= BORDER - 2 and columns[-1] <= BORDER + formula.size.width() + 2, source


@pytest.mark.parametrize("scale", [1.0, 1.25, 1.5, 2.0])
def test_the_line_of_a_fraction_is_crisp_at_every_scale(qtbot: QtBot, scale: float) -> None:
    formula = Formula(r"\frac{a}{b}", 12.0, display=True)
    ink, _ = drawn(formula, THEMES["light"], scale)
    full = ink.sum(axis=1) >= ink.any(axis=0).sum() * 0.9
    assert 1 <= full.sum() <= round(2 * scale), "a line of whole pixels, not one smeared over more"


def test_parts_stand_where_they_belong(qtbot: QtBot) -> None:
    fraction, plain = Formula(r"\frac{a}{b}", 12.0, display=True), Formula("a", 12.0, display=True)
    assert fraction.ink().height() > 2 * plain.ink().height()
    root = Formula(r"\sqrt{a}", 12.0, display=True)
    assert root.ink().height() > plain.ink().height() and root.ink().width() > plain.ink().width()
    lowered, raised = Formula("a_k", 12.0, display=True), Formula("a^k", 12.0, display=True)
    assert lowered.ink().bottom() - lowered.size.height() / 2 > plain.ink().bottom() - plain.size.height() / 2
    assert raised.ink().top() - raised.size.height() / 2 < plain.ink().top() - plain.size.height() / 2
    inline, display = (Formula(r"\sum_{k=1}^{n} a", 12.0, display=on) for on in (False, True))
    assert display.ink().height() > 1.5 * inline.ink().height()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"A = \frac{Q K^\top}{\sqrt{d_k}}", "A = (Q Kᵀ)/√d_k"),
        (r"N_{ij} = \softmax(A)", "N_ij = softmax(A)"),
        (r"-m_h |i - j|", "−m_h |i − j|"),
        (r"c \cdot \tanh\left(\frac{s}{c}\right)", "c · tanh(s/c)"),
        (r"Q = X W_Q \quad K = X W_K", "Q = X W_Q; K = X W_K"),
        (r"j \le i + n_k - n_q", "j ≤ i + n_k − n_q"),
        (r"\frac{1}{\sqrt{d_\text{in}}}", "1/√d_in"),
    ],
)
def test_a_formula_is_told_on_one_line(source: str, text: str) -> None:
    assert linear(parsed(source)) == text


@pytest.mark.parametrize("source", [r"\frac{a}", r"a_", r"\nothing", "{a", r"\left(a", "a}", r"\begin{cases}a", "§"])
def test_what_cannot_be_read_is_said_with_its_place(source: str) -> None:
    with pytest.raises(FormulaError, match="“"):
        parsed(source)


PIECES = st.recursive(
    st.sampled_from(
        ["a", "d_k", "12", r"\tau", r"\infty", "+", "=", "(", ")", r"\sum_k", r"\max_j", r"\text{if it is}"]
    ),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda two: rf"\frac{{{two[0]}}}{{{two[1]}}}"),
        inner.map(lambda one: rf"\sqrt{{{one}}}"),
        inner.map(lambda one: rf"\left({one}\right)"),
        st.tuples(inner, inner).map(lambda two: f"{{{two[0]}}}_{{{two[1]}}}"),
        st.lists(inner, min_size=1, max_size=3).map(" ".join),
    ),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None)
@given(source=PIECES)
def test_whatever_is_put_together_is_laid_out_within_its_size(qapp: object, source: str) -> None:
    formula = Formula(source, 10.0, display=True)
    ink, size = formula.ink(), formula.size
    assert formula.text
    assert ink.top() + 1e-6 >= 0 and ink.bottom() <= size.height() + 1e-6 and ink.width() <= size.width() + 1e-6
