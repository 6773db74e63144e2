"""torch's number types for each precision, and the way between torch and numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

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
    """The tensor's values in numpy, exactly; bfloat16, which numpy lacks, widened to float32."""
    if tensor.dtype is torch.bfloat16:
        tensor = tensor.float()
    array: NDArray[Any] = tensor.cpu().numpy()
    return array


def from_numpy(array: NDArray[np.float64], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """A tensor of the array's values rounded once to ``dtype``."""
    # torch warns about read-only arrays even where the tensor is only copied from
    return torch.tensor(array, dtype=dtype, device=device)
