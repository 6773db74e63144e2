"""torch's number types for each precision, and the way between torch and numpy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.model.given import widened
from attn_gui.model.precision import Precision

_DTYPES = {
    Precision.FLOAT64: torch.float64,
    Precision.FLOAT32: torch.float32,
    Precision.BFLOAT16: torch.bfloat16,
    Precision.FLOAT16: torch.float16,
}


def stored(precision: Precision) -> torch.dtype:
    """The type a stage is rounded to and kept in."""
    return _DTYPES[precision]


def summed(precision: Precision) -> torch.dtype:
    """The type that sums inside a stage run in: float32 or better."""
    return torch.float64 if precision is Precision.FLOAT64 else torch.float32


def to_numpy(tensor: torch.Tensor) -> NDArray[Any]:
    """The tensor's values in numpy, exactly and read-only; bfloat16, which numpy lacks, widened to float32."""
    if tensor.dtype is torch.bfloat16:
        tensor = tensor.float()
    array: NDArray[Any] = tensor.cpu().numpy()
    array.flags.writeable = False  # it may be the trace's own memory
    return array


def from_numpy(array: NDArray[Any], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """A tensor of the array's values rounded once to ``dtype``."""
    array = widened(array)
    if dtype in (torch.float16, torch.bfloat16):
        # torch goes by way of float32, which would be rounding twice
        with np.errstate(over="ignore"):
            array = array.astype(np.float16) if dtype is torch.float16 else _to_odd(array)
    # torch warns about read-only arrays even where the tensor is only copied from
    return torch.tensor(array, dtype=dtype, device=device)


def _to_odd(array: NDArray[Any]) -> NDArray[Any]:
    """The array in float32, cut off rather than rounded and made odd where that loses something.

    So a value just beside the middle between two bfloat16 numbers is not taken for the middle (Boldo and Melquiond
    2008, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd").
    """
    narrow = array.astype(np.float32)
    inexact = np.isfinite(narrow) & (narrow != array)
    away = inexact & (np.abs(narrow) > np.abs(array))
    return np.where(inexact, (narrow.view(np.uint32) - away) | 1, narrow.view(np.uint32)).view(np.float32)


def filled(block: torch.Tensor, where: torch.Tensor, value: float) -> torch.Tensor:
    """``block`` itself with ``value`` put where ``where``, bool of its shape, says so."""
    if block.device.type != "cpu" or block.dtype is torch.bfloat16:
        return block.masked_fill_(where, value)
    np.copyto(block.numpy(), value, where=where.numpy())  # in a third of torch's time
    return block


@contextmanager
def without_subnormals() -> Iterator[None]:
    """Have what this thread computes, by itself, on a CPU be 0 where it is nearer to 0 than the least normal number.

    A product of matrices takes up to two hundred times as long where many of its numbers are subnormal.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def row_sums(N: torch.Tensor) -> NDArray[np.float64]:
    """The sums of the rows of N, [.., n_q, n_k] -> [.., n_q], added in float64."""
    if N.is_cuda:
        return to_numpy(N.sum(dim=-1, dtype=torch.float64))
    # MPS has no float64, and on the CPU numpy casts while it adds, which is several times faster than torch
    sums: NDArray[np.float64] = np.add.reduce(to_numpy(N), axis=-1, dtype=np.float64)
    return sums
