"""Combined: several rules as one, read from the first to the last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from numpy.typing import NDArray

from attn_gui.model.errors import ExperimentError
from attn_gui.model.masks.rule import Columns, MaskRule

JOINS = ("and", "or")


@dataclass(frozen=True)
class Term:
    """One rule of several.

    join: how it is joined to what stands before it (of the first term of a head, nothing does). negated: where the
    rule forbids. heads: the only heads that it concerns, None for all.
    """

    rule: MaskRule
    join: str = "and"
    negated: bool = False
    heads: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.join not in JOINS:
            raise ExperimentError("mask join", " or ".join(JOINS), repr(self.join))
        if isinstance(self.rule, Combined):
            raise ExperimentError("mask term", "a single rule", "a combination of rules")
        if self.heads is not None and (not self.heads or min(self.heads) < 0):
            raise ExperimentError("mask heads", "at least one head, counted from 0", str(self.heads))


@dataclass(frozen=True)
class Combined(MaskRule):
    """``terms`` joined by and, or and not, from the first to the last; a head that none concerns attends to all."""

    kind: ClassVar[str] = "combined"
    title: ClassVar[str] = "Combined"
    about: ClassVar[str] = "Several rules, joined by and, or and not"
    usual: ClassVar[bool] = False
    terms: tuple[Term, ...] = ()

    @property
    def per_head(self) -> bool:
        return any(term.heads is not None or term.rule.per_head for term in self.terms)

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for term in self.terms for name in term.rule.reads))

    def derived(self, key: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        return {name: array for term in self.terms for name, array in term.rule.derived(key).items()}

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        everything = (i >= 0) & (j >= 0)
        result, begun = everything, ~everything
        for term in self.terms:
            cells = term.rule.allowed(i, j, columns)
            if term.negated:
                cells = ~cells
            joined = result & cells if term.join == "and" else (result & begun) | cells
            # the first term of a head has nothing before it, whatever its join
            if term.heads is None:
                result, begun = joined, everything
            else:
                mine = _among(columns.heads, term.heads) & everything
                result, begun = (joined & mine) | (result & ~mine), begun | mine
        return result

    def key_range(self, first: int, last: int, columns: Columns) -> tuple[int, int]:
        start, stop, begun = 0, columns.n_k, False
        for term in self.terms:
            if term.heads is not None:
                return (0, columns.n_k)
            near = (0, columns.n_k) if term.negated else term.rule.key_range(first, last, columns)
            if not begun or term.join == "and":
                start, stop = max(start, near[0]), min(stop, near[1])
            else:
                start, stop = min(start, near[0]), max(stop, near[1])
            start, begun = min(start, stop), True
        return start, stop

    def open_range(self, first: int, last: int, columns: Columns) -> tuple[int, int]:
        start, stop, begun = 0, columns.n_k, False
        for term in self.terms:
            if term.heads is not None:
                return (0, 0)
            far = (0, 0) if term.negated else term.rule.open_range(first, last, columns)
            if not begun or term.join == "and":
                start, stop = max(start, far[0]), min(stop, far[1])
            elif far[1] - far[0] > stop - start:
                start, stop = far
            stop, begun = max(start, stop), True
        return start, stop

    def expression(self) -> str | None:
        if self.per_head or not self.terms:
            return None
        text = ""
        for term in self.terms:
            cells = term.rule.expression()
            if cells is None:
                return None
            cells = f"~({cells})" if term.negated else f"({cells})"
            text = f"({text} {'&' if term.join == 'and' else '|'} {cells})" if text else cells
        return text

    def check_fits(self, n_q: int, n_k: int, heads: int) -> None:
        for number, term in enumerate(self.terms, start=1):
            term.rule.check_fits(n_q, n_k, heads)
            if term.heads is not None and max(term.heads) >= heads:
                raise ExperimentError(f"mask heads of rule {number}", f"0 to {heads - 1}", str(max(term.heads)))

    def rearranged(self, queries: Sequence[int | None], keys: Sequence[int | None]) -> MaskRule:
        return Combined(tuple(replace(term, rule=term.rule.rearranged(queries, keys)) for term in self.terms))

    def to_plain(self, put: Callable[[NDArray[Any]], Any]) -> dict[str, Any]:
        terms = [
            {
                "rule": term.rule.to_plain(put),
                "join": term.join,
                "negated": term.negated,
                "heads": None if term.heads is None else list(term.heads),
            }
            for term in self.terms
        ]
        return {"kind": self.kind, "terms": terms}

    def arrays(self) -> Iterator[NDArray[Any]]:
        for term in self.terms:
            yield from term.rule.arrays()


def _among(heads: Any, wanted: tuple[int, ...]) -> Any:
    found = heads == wanted[0]
    for head in wanted[1:]:
        found = found | (heads == head)
    return found
