"""Tensors of torch and of other libraries as numpy arrays, every value exact."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from attn_gui.model.errors import ExperimentError

Array = NDArray[Any]


def as_array(value: Any, field: str) -> Array:
    """``value`` as an array of real numbers or flags: a torch tensor on any device, with or without a gradient, or
    whatever numpy makes an array of.

    bfloat16 stays bfloat16; the 8-bit floats of torch become float32, which holds all of them. The array may share
    memory with ``value``. Raises ExperimentError, naming ``field``.
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ExperimentError(field, "an array without masked cells", f"{np.ma.count_masked(value)} of them")
    found = _of_torch(value, field) if type(value).__module__.partition(".")[0] == "torch" else None
    if found is None:
        try:
            # a list of tensors numpy would read cell by cell, if at all
            found = np.asarray([as_array(v, field) for v in value]) if isinstance(value, list) else np.asarray(value)
        except ExperimentError:
            raise
        except ValueError as error:
            raise ExperimentError(field, "an array whose rows are of one length", str(error)) from error
        except (TypeError, RuntimeError) as error:  # whatever another library's array raises
            raise _unreadable(field, value, error) from error
    if found.dtype.kind not in "fiub" and found.dtype != ml_dtypes.bfloat16:
        raise ExperimentError(field, "an array of real numbers", f"one of {found.dtype}")
    return found


def _of_torch(value: Any, field: str) -> Array | None:
    """A torch tensor; None for what else comes from torch."""
    import torch  # whoever has a tensor has imported it

    if not isinstance(value, torch.Tensor):
        return None
    if value.is_meta:
        raise ExperimentError(field, "a tensor that holds numbers", "one on torch's meta device")
    if value.is_nested:
        received = "a nested tensor: save its parts, tensor.unbind(), each in a layer of its own"
        raise ExperimentError(field, "a tensor whose rows are of one length", received)
    try:
        return _numbers(value.detach())
    except (TypeError, RuntimeError) as error:  # of a kind of number, or a device, that numpy knows nothing of
        raise _unreadable(field, value, error) from error


def _unreadable(field: str, value: Any, error: Exception) -> ExperimentError:
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    return ExperimentError(field, "an array of real numbers", f"a {type(value).__name__} that gives none ({reason})")


def _numbers(tensor: Any) -> Array:
    import torch

    if tensor.layout != torch.strided or tensor.is_quantized:
        tensor = tensor.dequantize() if tensor.is_quantized else tensor.to_dense()
    tensor = tensor.cpu().resolve_neg()
    if tensor.dtype == torch.bfloat16:
        bits: Array = tensor.contiguous().view(torch.int16).numpy()
        return bits.view(ml_dtypes.bfloat16)
    if tensor.is_floating_point() and tensor.element_size() == 1:
        tensor = tensor.float()
    return tensor.numpy()
