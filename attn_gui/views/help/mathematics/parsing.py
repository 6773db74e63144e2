r"""From LaTeX's notation to nodes: \frac, \sqrt, scripts, \left \right, cases, Greek letters and named functions."""

from __future__ import annotations

import re
from typing import Final

from attn_gui.views.help.mathematics.nodes import (
    Cases,
    Fenced,
    Fraction,
    Kind,
    Large,
    Node,
    Root,
    Row,
    Scripts,
    Symbol,
)

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)

_SIGNS: Final[dict[str, tuple[str, Kind]]] = {
    "cdot": ("·", "operator"),
    "times": ("×", "operator"),
    "odot": ("⊙", "operator"),
    "le": ("≤", "relation"),
    "ge": ("≥", "relation"),
    "ne": ("≠", "relation"),
    "in": ("∈", "relation"),
    "approx": ("≈", "relation"),
    "to": ("→", "relation"),
    "infty": ("∞", "upright"),
    "partial": ("∂", "upright"),
    "dots": ("…", "upright"),
    "lVert": ("‖", "opening"),
    "rVert": ("‖", "closing"),
    "lfloor": ("⌊", "opening"),
    "rfloor": ("⌋", "closing"),
    "top": ("T", "upright"),
    "{": ("{", "opening"),
    "}": ("}", "closing"),
    "alpha": ("α", "variable"),
    "beta": ("β", "variable"),
    "gamma": ("γ", "variable"),
    "delta": ("δ", "variable"),
    "varepsilon": ("ε", "variable"),
    "theta": ("θ", "variable"),
    "mu": ("μ", "variable"),
    "sigma": ("σ", "variable"),
    "tau": ("τ", "variable"),
    "omega": ("ω", "variable"),
}
_SPACES = {",": 0.17, ";": 0.28, "quad": 1.0}
_LARGE = {"sum": "∑"}
_FUNCTIONS = ("max", "min", "exp", "log", "tanh", "sin", "cos", "softmax", "sigmoid", "concat", "RMS", "KL")
# functions under which their range stands
_LIMITS = ("max", "min")
_CHARACTERS: Final[dict[str, tuple[str, Kind]]] = {
    "+": ("+", "operator"),
    "-": ("−", "operator"),
    "/": ("/", "upright"),
    "=": ("=", "relation"),
    "<": ("<", "relation"),
    ">": (">", "relation"),
    "(": ("(", "opening"),
    "[": ("[", "opening"),
    ")": (")", "closing"),
    "]": ("]", "closing"),
    ",": (",", "punctuation"),
    ";": (";", "punctuation"),
    ":": (":", "punctuation"),
    "'": ("′", "upright"),
}


class FormulaError(ValueError):
    """A formula that cannot be read; says what was met, and where."""


def parsed(source: str) -> Row:
    """The nodes of ``source``, without the dollar signs. Raises FormulaError."""
    reader = _Reader(source)
    row = reader.row(())
    if reader.next is not None:
        raise reader.error(f"{reader.next} with nothing that it ends")
    return row


class _Reader:
    def __init__(self, source: str) -> None:
        self._source = source
        self._tokens = _TOKEN.findall(source)
        self._at = 0
        self._inside_bars = False

    @property
    def next(self) -> str | None:
        while self._at < len(self._tokens) and self._tokens[self._at].isspace():
            self._at += 1
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def error(self, what: str) -> FormulaError:
        read = "".join(self._tokens[: self._at])
        return FormulaError(f"{what}, after “{read}” in “{self._source}”")

    def take(self, wanted: str | None = None) -> str:
        token = self.next
        if token is None or (wanted is not None and token != wanted):
            raise self.error(f"expected {wanted or 'more'}, found {token or 'the end'}")
        self._at += 1
        return token

    def row(self, ends: tuple[str, ...]) -> Row:
        """Parts up to one of ``ends``, which is left."""
        parts: list[Node] = []
        while (token := self.next) is not None and token not in ends and token not in ("}", r"\right"):
            part = self._atom()
            parts.append(self._scripted(part))
        return Row(tuple(parts))

    def _scripted(self, base: Node) -> Node:
        below: Row | None = None
        above: Row | None = None
        while self.next in ("_", "^"):
            if self.take() == "_":
                below = self._argument()
            else:
                above = self._argument()
        return base if below is None and above is None else Scripts(base, below, above)

    def _argument(self) -> Row:
        if self.next == "{":
            return self._group()
        return Row((self._atom(),))

    def _group(self) -> Row:
        self.take("{")
        inside = self.row(())
        self.take("}")
        return inside

    def _letters(self) -> str:
        """The text of a group, with its spaces."""
        self.take("{")
        start = self._at
        while self._at < len(self._tokens) and self._tokens[self._at] != "}":
            self._at += 1
        text = "".join(self._tokens[start : self._at])
        self.take("}")
        return text

    def _atom(self) -> Node:
        token = self.take()
        if token == "{":
            self._at -= 1
            return self._group()
        if token.startswith("\\"):
            return self._command(token[1:])
        if token == "|":
            self._inside_bars = not self._inside_bars
            return Symbol("|", "opening" if self._inside_bars else "closing")
        if token in _CHARACTERS:
            return Symbol(*_CHARACTERS[token])
        if token.isdigit() or token == ".":
            digits = token
            while (more := self._peek()) is not None and (more.isdigit() or more == "."):
                digits += self.take()
            return Symbol(digits, "upright")
        if token.isalpha():
            return Symbol(token, "variable")
        raise self.error(f"{token} is not known")

    def _peek(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _command(self, name: str) -> Node:
        if name == "frac":
            return Fraction(self._group(), self._group())
        if name == "sqrt":
            return Root(self._group())
        if name in ("text", "operatorname", "mathrm"):
            return Symbol(self._letters(), "upright")
        if name == "left":
            return self._fenced()
        if name == "begin":
            return self._cases()
        if name in _SPACES:
            return Symbol(" ", "space", _SPACES[name])
        if name in _LARGE:
            return Large(_LARGE[name])
        if name in _LIMITS and self.next == "_":
            return Large(name)
        if name in _FUNCTIONS:
            return Symbol(name, "upright")
        if name in _SIGNS:
            return Symbol(*_SIGNS[name])
        raise self.error(f"\\{name} is not known")

    def _fence(self) -> str:
        token = self.take()
        if token == ".":
            return ""
        if token.startswith("\\") and token[1:] in _SIGNS:
            return _SIGNS[token[1:]][0]
        if token in "()[]|":
            return token
        raise self.error(f"{token} is no fence")

    def _fenced(self) -> Node:
        opening = self._fence()
        body = self.row(())
        self.take(r"\right")
        return Fenced(opening, body, self._fence())

    def _cases(self) -> Node:
        if self._letters() != "cases":
            raise self.error("only cases can be begun")
        ends = ("&", r"\\", r"\end")
        lines: list[tuple[Row, ...]] = []
        cells: list[Row] = []
        while True:
            cells.append(self.row(ends))
            token = self.take()
            if token == "&":
                continue
            lines.append(tuple(cells))
            cells = []
            if token == r"\end":
                self._letters()
                return Cases(tuple(lines))
