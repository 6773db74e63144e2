"""Rotary: pairs of dimensions of queries and keys are turned by an angle for each position (Su et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.errors import ExperimentError
from attn_gui.model.parts import Part, choice, whole
from attn_gui.model.table import Floats

LAYOUTS = {"halves": "halves", "interleaved": "neighbours"}


@dataclass(frozen=True)
class Rotary(Part, family="rotary"):
    """Which dimensions form a pair, and by what each pair is turned.

    layout: ``halves`` pairs dimension p with p + width/2 (GPT-NeoX, Llama in transformers), ``interleaved`` pairs 2p
    with 2p + 1 (RoFormer, GPT-J). width: so many first dimensions of a head are turned, 0 for all. offset: added to
    every position.
    """

    layout: str = choice("halves", "Pairs", LAYOUTS, hint="Which two dimensions are turned together")
    width: int = whole(0, "Width", hint="So many first dimensions of a head are turned; 0 for all")
    offset: int = whole(0, "Offset", least=-(2**31), hint="Added to every position")

    def turned(self, d_k: int) -> int:
        """How many dimensions of a head of ``d_k`` are turned."""
        return self.width or d_k

    def check_fits(self, positions: NDArray[np.int64], d_k: int) -> None:
        """Raise ExperimentError where heads of ``d_k`` cannot be turned so, or the tables are no finite numbers."""
        width = self.turned(d_k)
        if width > d_k or width % 2:
            expected = f"an even number of the {d_k} dimensions of a head"
            raise ExperimentError(f"rotary {self.kind} width", expected, str(width))
        # every edit is checked: the ends of the table stand for all of it
        ends = np.array([positions.min(), positions.max()])
        field, expected = f"rotary {self.kind}", "parameters whose cosines and sines are finite"
        try:
            with np.errstate(all="ignore"):
                finite = all(np.isfinite(table).all() for table in self.tables(ends, d_k))
        except (OverflowError, ZeroDivisionError) as error:
            raise ExperimentError(field, expected, f"some that have none ({error})") from error
        if not finite:
            raise ExperimentError(field, expected, "some whose are not")

    def tables(self, positions: NDArray[np.int64], d_k: int) -> tuple[Floats, Floats]:
        """Cosine and sine for each position and pair, [n, width / 2] each, float64."""
        raise NotImplementedError
