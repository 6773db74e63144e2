"""Normaliser: scores in, weights out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.dialects import Dialect
from attn_gui.model.errors import ExperimentError
from attn_gui.model.parts import Part


@dataclass(frozen=True)
class Normaliser(Part, family="normaliser"):
    """What turns a row of scores into a row of weights.

    sums_to_one: whether every row that may attend to anything sums to 1. sinks: whether a learned sink, one more
    score in the row that gathers nothing, can take part. name: how the formula on screen calls it, ``N = name(A)``.
    """

    name: ClassVar[str]
    sums_to_one: ClassVar[bool] = True
    sinks: ClassVar[bool] = True

    def written(self, scores: str) -> str:
        """It as a formula on screen has it, of ``scores``."""
        return f"{self.name}({scores})"

    def row_state(self, A: Any, xp: Any) -> tuple[Any, ...]:
        """What a weight depends on besides its own score, of ``A`` [.., n_q, n_k] with -inf where masked.

        Arrays [.., n_q, 1]; none where each cell stands by itself. ``xp`` is the array library's namespace (array API
        standard 2023.12), so that numpy and torch run the same code.
        """
        return ()

    def cells(self, A: Any, row: tuple[Any, ...], xp: Any) -> Any:
        """The weights of any cells ``A`` of rows whose state is ``row``: the same shape, 0 where masked."""
        raise NotImplementedError

    def weights(self, A: Any, xp: Any) -> Any:
        """The weights of whole rows ``A``, [.., n_q, n_k] with -inf where masked: the same shape.

        What a row without an allowed key gives does not matter: it is made 0 afterwards.
        """
        return self.cells(A, self.row_state(A, xp), xp)

    def beside(self) -> tuple[float, ...] | None:
        """The scores that take part in each row beside its own, where ``cells`` is exp(A - m) / l.

        m is then the largest of all these scores and l the sum of their exponentials, both of which can be had part by
        part; None where the weights are anything else, so that ``row_state`` needs rows whole.
        """
        return None

    def script(self, d: Dialect) -> str:
        """The text of a function of A that gives the weights, named as the kind is: for generated code.

        Empty where the library of ``d`` has one of that name, which takes the axis. The function never meets a row
        without an allowed key. Raises ExperimentError where none is written.
        """
        raise ExperimentError("copy as code", "a normaliser that scripts are written for", self.title)


def largest(A: Any, xp: Any, at_least: float | None = None) -> Any:
    """The rows' maxima, [.., n_q, 1], or ``at_least`` where they are below it; 0 in a row of -inf."""
    top = xp.max(A, axis=-1, keepdims=True)
    if at_least is not None:
        top = xp.where(top < at_least, xp.full_like(top, at_least), top)
    return xp.where(top == -xp.inf, xp.zeros_like(top), top)
