"""ALiBi: attention with linear biases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from attn_gui.model.biases.bias import Bias
from attn_gui.model.masks.rule import Columns
from attn_gui.model.table import Floats, frozen


@dataclass(frozen=True)
class ALiBi(Bias):
    """``-m_h |i - j|`` with a slope m_h for each head (Press, Smith and Lewis 2022, section 3).

    Keys after the query are treated as those before it; under a causal mask they do not matter.
    """

    kind: ClassVar[str] = "alibi"
    title: ClassVar[str] = "ALiBi"
    formula: ClassVar[str] = "− mₕ · |i − j|"
    about: ClassVar[str] = "Scores fall off with distance, in each head at a rate of its own"

    def values(self, i: Any, j: Any, columns: Columns, heads: int) -> Any:
        return -columns.here(slopes(heads))[columns.heads] * abs(i + columns.offset - j)


# one array for one count, because what is brought to a device stays there
@cache
def slopes(heads: int) -> Floats:
    """The slopes of ``heads`` heads, [heads], read-only.

    For a power of two, 2**(-8/heads) and its powers. For other counts the slopes of the next smaller power of two,
    and then every other one of those of the next larger, as the authors' code has it.
    """
    power = 1 << (heads.bit_length() - 1)
    whole = _of_power(power)
    if power == heads:
        return frozen(whole)
    return frozen(np.concatenate([whole, _of_power(2 * power)[0::2][: heads - power]]))


def _of_power(count: int) -> Floats:
    return np.exp2(-8.0 / count * np.arange(1, count + 1, dtype=np.float64))
