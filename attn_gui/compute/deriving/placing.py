"""Cells of Q and K that were normalised and turned by where they stand."""

from __future__ import annotations

import array_api_compat.torch as xp
import numpy as np
import torch

from attn_gui.compute import attention
from attn_gui.compute.deriving.chain import WIDE, Chain
from attn_gui.compute.deriving.projecting import WORDS, derive_projected, vector_name
from attn_gui.compute.deriving.subject import Subject
from attn_gui.compute.deriving.terms import sum_of
from attn_gui.compute.numbers import stored, summed, to_numpy
from attn_gui.model.derivation import (
    Cell,
    Difference,
    Expression,
    Formula,
    Function,
    Largest,
    Operand,
    Parameter,
    Product,
    Quotient,
    Sum,
)
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.qk_norm.l2_norm import L2Norm
from attn_gui.model.qk_norm.layer_norm import LayerNorm
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.rotary.rotary import Rotary
from attn_gui.model.table import Floats

TURNED = {
    "first": Formula("x cos θ − y sin θ", r"x \cos\theta - y \sin\theta"),
    "second": Formula("x sin θ + y cos θ", r"x \sin\theta + y \cos\theta"),
}
ANGLE = Formula("θ = position · frequency", r"\theta = \text{position} \cdot \text{frequency}")
WAVES = {
    "cos": Formula("cos θ · length", r"\cos\theta \cdot \text{length}"),
    "sin": Formula("sin θ · length", r"\sin\theta \cdot \text{length}"),
}
NOT_TURNED = Formula("not turned", r"\text{not turned}")


def derive_placed(subject: Subject, chain: Chain, cell: Cell) -> None:
    """Q or K from Q_projected or K_projected; what is appended, or has neither norm nor rotary positions, as it is."""
    e, letter = subject.experiment, cell.stage
    scoring = e.scoring
    beside = letter == "K" and cell.row >= e.n_k - len(e.appended)
    if beside or (scoring.qk_norm is None and scoring.rotary is None):
        derive_projected(subject, chain, cell)
        return
    _Placing(subject, chain, cell).derive()


class _Placing:
    def __init__(self, subject: Subject, chain: Chain, cell: Cell) -> None:
        self._subject, self._chain, self._cell = subject, chain, cell
        self._letter = cell.stage
        rows = subject.rows(f"{self._letter}_projected")
        self._x: Floats = rows[cell.row].astype(np.float64)  # [d_k]
        self._value = float(subject.rows(cell.stage)[cell.row, cell.column])

    def derive(self) -> None:
        e = self._subject.experiment
        norm, rotary, column = e.scoring.qk_norm, e.scoring.rotary, self._cell.column
        if rotary is None:
            assert norm is not None
            formula, expression = self._normed(norm, column)
            self._chain.stage(f"Normalised {WORDS[self._letter].lower()}", formula, expression, self._cell, self._value)
            return
        pairs = rotary.turned(e.d_k) // 2
        if column >= 2 * pairs:
            self._chain.stage("Not turned", NOT_TURNED, self._before(norm, [column])[0], self._cell, self._value)
            return
        pair, second = _place(rotary, column, pairs)
        x, y = self._before(norm, list(_columns(rotary, pair, pairs)))
        cos, sin = self._turn(rotary, pair)
        if second:
            turned: Expression = Sum((Product((x, sin)), Product((y, cos))))
        else:
            turned = Difference(Product((x, cos)), Product((y, sin)))
        formula = TURNED["second" if second else "first"]
        self._chain.stage(f"Turned {WORDS[self._letter].lower()}", formula, turned, self._cell, self._value)

    def _projected(self, column: int) -> Operand:
        name = vector_name(self._subject, self._letter, self._cell.row, column)
        source = self._subject.cell(f"{self._letter}_projected", self._cell.row, column)
        return Operand(float(self._x[column]), name, source)

    def _before(self, norm: QKNorm | None, columns: list[int]) -> list[Operand]:
        """The numbers at ``columns`` before they are turned."""
        if norm is None:
            return [self._projected(column) for column in columns]
        e = self._subject.experiment
        dtype, working = stored(e.precision), summed(e.precision)
        gain = self._gain(norm)
        rows = torch.tensor(self._x, dtype=dtype)[None, None]  # [1, 1, d_k]
        factors = None if gain is None else torch.tensor(gain, dtype=working)
        kept = to_numpy(attention.normed(rows, norm, factors, working))[0, 0].astype(np.float64)
        made = []
        for column in columns:
            formula, expression = self._normed(norm, column)
            called = vector_name(self._subject, self._letter, self._cell.row, column)
            step = self._chain.between("Normalised", formula, expression, f"normalised {called}")
            value = step.value if e.precision in WIDE else float(kept[column])
            if value != step.value:
                self._chain.round(step, None, value)
            made.append(Operand(value, step.name))
        return made

    def _gain(self, norm: QKNorm) -> Floats | None:
        return norm.gain_q if self._letter == "Q" else norm.gain_k

    def _normed(self, norm: QKNorm, column: int) -> tuple[Formula, Expression]:
        """The formula and the arithmetic of a normalised number."""
        x, eps = self._projected(column), Operand(norm.eps, "ε", Parameter("eps"))
        text, latex, expression = self._bare(norm, x, column, eps)
        gain = self._gain(norm)
        if gain is None:
            return Formula(text, latex), expression
        factor = Operand(
            float(gain[column]),
            f"gain, dimension {column + 1}",
            Parameter(f"qk_norm gain_{self._letter.lower()}", 0, column),
        )
        return Formula(f"{text} · g", rf"{latex} \cdot g"), Product((expression, factor))

    def _bare(self, norm: QKNorm, x: Operand, column: int, eps: Operand) -> tuple[str, str, Expression]:
        if isinstance(norm, RMSNorm):
            mean = self._mean_square()
            latex = r"\frac{x}{\sqrt{\operatorname{mean}(x^2) + \varepsilon}}"
            return "x / √(mean(x²) + ε)", latex, Quotient(x, Function("sqrt", Sum((mean, eps))))
        if isinstance(norm, L2Norm):
            length = self._length()
            return "x / max(|x|, ε)", r"\frac{x}{\max(|x|, \varepsilon)}", Quotient(x, Largest((length, eps)))
        if isinstance(norm, LayerNorm):
            return self._layer(x, eps)
        value = norm.normalised(torch.tensor(self._x)[None, None], xp)[0, 0, column]
        return norm.formula or norm.title, r"\operatorname{norm}(x)", Operand(float(value), norm.title)

    def _layer(self, x: Operand, eps: Operand) -> tuple[str, str, Expression]:
        count = Operand(float(len(self._x)), "size of a head")
        mean_formula = Formula("mean(x)", r"\operatorname{mean}(x)")
        mean = self._once("Mean", mean_formula, Quotient(sum_of(self._x, self._projected), count), "mean")
        squares = (self._x - mean.value) ** 2

        def square(t: int) -> Expression:
            apart = Difference(self._projected(t), mean)
            return Product((apart, apart))

        formula = Formula("var = mean((x − mean)²)", r"\operatorname{var} = \operatorname{mean}((x - \text{mean})^2)")
        variance = self._once("Variance", formula, Quotient(sum_of(squares, square), count), "variance")
        latex = r"\frac{x - \text{mean}}{\sqrt{\operatorname{var} + \varepsilon}}"
        expression = Quotient(Difference(x, mean), Function("sqrt", Sum((variance, eps))))
        return "(x − mean) / √(var + ε)", latex, expression

    def _mean_square(self) -> Operand:
        count = Operand(float(len(self._x)), "size of a head")
        formula = Formula("mean(x²)", r"\operatorname{mean}(x^2)")
        return self._once("Mean square", formula, Quotient(self._squares(), count), "mean square")

    def _length(self) -> Operand:
        return self._once(
            "Length", Formula("|x| = √Σ x²", r"|x| = \sqrt{\sum x^2}"), Function("sqrt", self._squares()), "length"
        )

    def _squares(self) -> Sum:
        def square(t: int) -> Expression:
            return Product((self._projected(t), self._projected(t)))

        return sum_of(self._x * self._x, square)

    def _once(self, name: str, formula: Formula, expression: Expression, called: str) -> Operand:
        """As :meth:`Chain.between`, unless that step has been taken."""
        for step in self._chain.steps:
            if step.name == name:
                return Operand(step.result, called)
        return self._chain.between(name, formula, expression, called)

    def _turn(self, rotary: Rotary, pair: int) -> tuple[Operand, Operand]:
        """The cosine and the sine that a pair is turned by."""
        e, row = self._subject.experiment, self._cell.row
        at = (e.query_positions if self._letter == "Q" else e.key_positions)[row : row + 1]
        cos, sin = (float(table[0, pair]) for table in rotary.tables(at, e.d_k))
        place = int(at[0]) + rotary.offset
        if not isinstance(rotary, Frequencies):
            return (
                Operand(cos, f"cos θ of position {place}", Parameter("rotary cos", place, pair)),
                Operand(sin, f"sin θ of position {place}", Parameter("rotary sin", place, pair)),
            )
        frequency = float(rotary.frequencies(rotary.turned(e.d_k))[pair])
        factors = (Operand(float(place), "position"), Operand(frequency, f"frequency of pair {pair + 1}"))
        angle = self._chain.between("Angle", ANGLE, Product(factors), "θ")
        length = Operand(rotary.lengthening, "length")
        return self._wave("cos", angle, length), self._wave("sin", angle, length)

    def _wave(self, name: str, angle: Operand, length: Operand) -> Operand:
        wave = Function("cos" if name == "cos" else "sin", angle)
        if length.value == 1:
            formula = Formula(f"{name} θ", rf"\{name}\theta")
            return self._chain.between("Cosine" if name == "cos" else "Sine", formula, wave, f"{name} θ")
        return self._chain.between(
            "Cosine" if name == "cos" else "Sine", WAVES[name], Product((wave, length)), f"{name} θ"
        )


def _place(rotary: Rotary, column: int, pairs: int) -> tuple[int, bool]:
    """Which pair a dimension is of, and whether it is the second of the pair."""
    return (column % pairs, column >= pairs) if rotary.layout == "halves" else (column // 2, column % 2 == 1)


def _columns(rotary: Rotary, pair: int, pairs: int) -> tuple[int, int]:
    """The two dimensions of a pair."""
    return (pair, pair + pairs) if rotary.layout == "halves" else (2 * pair, 2 * pair + 1)
