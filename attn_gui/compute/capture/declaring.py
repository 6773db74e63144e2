"""What a config declares, held against what the weights hold, before there is room made for any of it."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import torch
from torch.nn.modules import module as hooks

from attn_gui.compute import budget
from attn_gui.compute.capture.errors import CaptureError
from attn_gui.compute.capture.places import ModelFiles
from attn_gui.model.errors import TooLarge

# what a model may declare beyond what is stored: an embedding that is stored once stands in up to four places of an
# encoder-decoder, and what makes no difference to attention may be missing
_TIMES, _BESIDE = 6, 1 << 16
# of a number in a file of unknown contents, at least: a byte, or of GGUF a bit
_BYTE, _BITS = 1, 8

OnTensor = Callable[[torch.Tensor], None]


def check_declared(kind: Any, config: Any, files: ModelFiles, beat: Callable[[], None]) -> None:
    """Raise CaptureError where ``config`` declares far more numbers than the weights of ``files`` hold, and TooLarge
    for more than there is memory for.

    The model is made without memory for its numbers, and no further than to where it is too much. ``beat`` is called
    at each of its parameters and may raise to stop.
    """
    held = _numbers_in(files) * (8 if getattr(config, "quantization_config", None) else 1)  # packed 4 bits in int32
    have = int(budget.available(torch.device("cpu")) / budget.SHARE)
    width = getattr(config.dtype, "itemsize", 4)
    seen: set[int] = set()
    declared = beside = 0

    def on_parameter(parameter: torch.Tensor) -> None:
        nonlocal declared
        if id(parameter) not in seen:
            seen.add(id(parameter))
            declared += parameter.numel()
        if declared > _TIMES * held + _BESIDE:
            raise CaptureError(
                f"{files.path} cannot be opened as a model: its config does not belong to its weights. It declares "
                f"{declared:,} numbers or more, and the weights hold {held:,}"
            )
        check_memory()

    def on_buffer(buffer: torch.Tensor) -> None:
        nonlocal beside
        beside += buffer.numel() * buffer.element_size()
        check_memory()

    def check_memory() -> None:
        if (need := declared * width + beside) > have:
            raise TooLarge(f"Opening {files.path.name}", need, have)

    with beating(beat, on_parameter, on_buffer), torch.device("meta"):
        kind(deepcopy(config))


@contextmanager
def beating(
    beat: Callable[[], None], on_parameter: OnTensor | None = None, on_buffer: OnTensor | None = None
) -> Iterator[None]:
    """Call ``beat``, which may raise, whenever a module is given a parameter or a buffer in this thread."""
    own = threading.get_ident()

    def hook(on_tensor: OnTensor | None) -> Any:
        def on_registration(module: torch.nn.Module, name: str, tensor: torch.Tensor | None) -> None:
            if threading.get_ident() != own:
                return
            beat()
            if tensor is not None and on_tensor is not None:
                on_tensor(tensor)

        return on_registration

    handles = [
        hooks.register_module_parameter_registration_hook(hook(on_parameter)),
        hooks.register_module_buffer_registration_hook(hook(on_buffer)),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _numbers_in(files: ModelFiles) -> int:
    """How many numbers the weights hold, at most."""
    if files.gguf is not None:
        return files.weight_bytes * _BITS
    paths = sorted(files.folder.glob("*.safetensors"))
    if not paths:
        return files.weight_bytes // _BYTE
    from safetensors import safe_open

    count = 0
    for path in paths:
        with safe_open(path, "pt") as file:
            count += sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118
    return count
