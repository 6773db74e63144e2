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

    def weights(self, A: Any, xp: Any) -> Any:
        """The weights of ``A``, [.., n_q, n_k] with -inf where masked: the same shape, 0 where masked.

        ``xp`` is the array library's namespace (array API standard 2023.12), so that numpy and torch run the same
        code. What a row without an allowed key gives does not matter: it is made 0 afterwards.
        """
        raise NotImplementedError

    def script(self, d: Dialect) -> str:
        """The text of a function of A that gives the weights, named as the kind is: for generated code.

        Empty where the library of ``d`` has one of that name, which takes the axis. The function never meets a row
        without an allowed key. Raises ExperimentError where none is written.
        """
        raise ExperimentError("copy as code", "a normaliser that scripts are written for", self.title)


def exponentials(A: Any, xp: Any, least_shift: float | None = None) -> tuple[Any, Any]:
    """``exp(A - m)`` and m, the rows' maxima (at least ``least_shift``), [.., n_q, 1]; m is 0 in a row of -inf."""
    top = xp.max(A, axis=-1, keepdims=True)
    if least_shift is not None:
        top = xp.where(top > least_shift, top, xp.full_like(top, least_shift))
    top = xp.where(top == -xp.inf, xp.zeros_like(top), top)
    return xp.exp(A - top), top
