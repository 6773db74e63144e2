"""The Python API: arrays or tensors in, a Diagnosis out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from numpy.typing import ArrayLike

from attn_gui.compute.diagnose.diagnosing import diagnose_steps
from attn_gui.compute.numbers import to_numpy
from attn_gui.model.diagnosis import Diagnosis
from attn_gui.model.masks import MaskRule
from attn_gui.model.precision import Precision
from attn_gui.model.question import Numbers, question

Given = ArrayLike | torch.Tensor


def diagnose(
    Q: Given,
    K: Given,
    V: Given,
    *,
    mask: Given | MaskRule | None = None,
    scores: Given | None = None,
    weights: Given | None = None,
    output: Given | None = None,
    softcap: float | None = None,
    bases: Sequence[float] = (),
    device: str = "cpu",
) -> Diagnosis:
    """Which documented conventions make these scores, weights or output of Q, K and V, or come nearest.

    Q: [heads, n_q, d_k]; K: [kv_heads, n_k, d_k]; V: [kv_heads, n_k, d_v]; two axes mean one head, a batch of 1 before
    them is dropped. mask: flags, true (or 1) where a query may attend to a key, numbers to be added, or a MaskRule.
    scores, weights: [heads, n_q, n_k]; weights [n_q, n_k] of several heads are their mean. output: [heads, n_q, d_v],
    [n_q, heads, d_v] or [n_q, heads * d_v]. Any of the three, at least one. Tolerances follow from the type of each
    array, from the bits that it uses, and from the decimals that it was rounded to. softcap: one that is known; bases:
    of rotary positions, to be tried besides 10,000, such as 500,000 and 1,000,000.

    ``print(diagnose(..))`` is a report. Raises ExperimentError for arrays that do not fit together, TooLarge where the
    stages would not fit in memory.
    """
    asked = question(
        _plain(Q),
        _plain(K),
        _plain(V),
        mask=_plain(mask),
        scores=_numbers(scores),
        weights=_numbers(weights),
        output=_numbers(output),
        softcap=softcap,
        bases=bases,
    )
    steps = diagnose_steps(asked, device)
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            result: Diagnosis = finished.value
            return result


def _plain(array: Any) -> Any:
    return to_numpy(array.detach()) if isinstance(array, torch.Tensor) else array


def _numbers(array: Given | None) -> Numbers | None:
    if array is None:
        return None
    numbers = Numbers.of(_plain(array))
    if isinstance(array, torch.Tensor) and array.dtype is torch.bfloat16:
        return Numbers(numbers.values, Precision.BFLOAT16)
    return numbers
