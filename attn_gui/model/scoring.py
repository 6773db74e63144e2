"""Scoring: how queries and keys become scores, and scores weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.biases import Bias
from attn_gui.model.errors import ExperimentError
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.normalisers.softmax import Softmax
from attn_gui.model.parts import LARGEST_NUMBER, limit
from attn_gui.model.positions import InputPosition
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.rotary import Rotary

SMALLEST = 1e-30


@dataclass(frozen=True)
class Scoring:
    """``A = softcap * tanh(scale * raw / softcap) + biases`` and ``N = normaliser(A)``; ``scale * raw`` uncapped.

    scale: None for 1/sqrt(d_k) (Vaswani et al. 2017); any number otherwise, 0 included.
    softcap: None, or a positive bound on the scores (Gemma 2).
    temperature: what the scale is divided by; 1 changes nothing.
    biases: what is added to them, one after another. position: what is added to the embeddings.
    qk_norm, rotary: what is done to queries and keys, in this order; None for nothing.
    normaliser: what makes weights of a row of scores. sinks: for each head the score of a key that gathers nothing
    and takes part in the row all the same (gpt-oss), or None.

    Raises ExperimentError for numbers beyond LARGEST_NUMBER, and for a softcap or temperature below SMALLEST: float32
    makes infinities and zeros of them, and rows of NaN.
    """

    scale: float | None = None
    softcap: float | None = None
    temperature: float = 1.0
    biases: tuple[Bias, ...] = ()
    position: InputPosition = InputPosition()
    qk_norm: QKNorm | None = None
    rotary: Rotary | None = None
    normaliser: Normaliser = Softmax()
    sinks: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.scale is not None:
            _check("scale", self.scale, -LARGEST_NUMBER)
        _check("temperature", self.temperature, SMALLEST)
        if self.softcap is not None:
            _check("softcap", self.softcap, SMALLEST)
        if self.scale is not None and abs(self.scale) / self.temperature > LARGEST_NUMBER:
            expected = f"at most {limit(LARGEST_NUMBER)} after division by the temperature, {self.temperature:g}"
            raise ExperimentError("scale", expected, f"{self.scale / self.temperature:g}")
        if self.sinks is not None:
            if not self.normaliser.sinks:
                raise ExperimentError("sinks", f"none with {self.normaliser.title}", f"{len(self.sinks)}")
            for head, sink in enumerate(self.sinks, start=1):
                _check(f"sink of head {head}", sink, -LARGEST_NUMBER)

    def scale_for(self, d_k: int) -> float:
        """The number that raw scores are multiplied by, for heads of size ``d_k``."""
        return (1.0 / math.sqrt(d_k) if self.scale is None else self.scale) / self.temperature

    @property
    def sums_to_one(self) -> bool:
        """Whether each row of weights that may attend to anything sums to 1."""
        return self.normaliser.sums_to_one and self.sinks is None

    @property
    def is_plain(self) -> bool:
        """Whether the weights are the bare softmax."""
        return self.normaliser.kind == Softmax.kind and self.sinks is None

    def rearranged(self, queries: Sequence[int | None], keys: Sequence[int | None]) -> Scoring:
        """After tokens moved, as :meth:`MaskRule.rearranged`."""
        if not self.biases:
            return self
        return replace(self, biases=tuple(bias.rearranged(queries, keys) for bias in self.biases))

    def arrays(self) -> Iterator[NDArray[Any]]:
        """Every array that it holds."""
        for part in (*self.biases, self.position, self.qk_norm, self.rotary, self.normaliser):
            if part is not None:
                yield from part.arrays()

    def check_fits(self, query_positions: NDArray[np.int64], key_positions: NDArray[np.int64], d_k: int) -> None:
        """Raise ExperimentError where queries and keys of ``d_k`` at these positions cannot be turned or normalised."""
        if self.qk_norm is not None:
            self.qk_norm.check_fits(d_k)
        if self.rotary is not None:
            self.rotary.check_fits(np.concatenate([query_positions, key_positions]), d_k)


def _check(field: str, value: float, least: float) -> None:
    if not least <= value <= LARGEST_NUMBER:
        raise ExperimentError(field, f"a number from {limit(least)} to {limit(LARGEST_NUMBER)}", str(value))
