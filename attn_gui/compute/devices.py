"""The devices torch can compute on, and why the others cannot be had."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from attn_gui.model.precision import Precision


@dataclass(frozen=True)
class Device:
    """A device as the list shows it; ``reason`` says why it cannot be chosen, None where it can."""

    name: str
    title: str
    reason: str | None = None


def devices() -> list[Device]:
    """The CPU, each CUDA device and MPS; kinds that are missing stand in the list with the reason."""
    found = [Device("cpu", "CPU")]
    if torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            properties = torch.cuda.get_device_properties(index)
            found.append(Device(f"cuda:{index}", f"CUDA {index}: {properties.name}"))
    else:
        found.append(Device("cuda", "CUDA", _no_cuda()))
    if torch.backends.mps.is_available():
        found.append(Device("mps", "Apple GPU (MPS)"))
    elif torch.backends.mps.is_built():
        found.append(Device("mps", "Apple GPU (MPS)", "needs macOS 12.3 or later on an Apple GPU"))
    return found


def build() -> str:
    """Which torch this is, and what it was built for: ``2.13.0+cpu, built for the CPU only``."""
    version = torch.version
    kinds = {"CUDA": version.cuda, "ROCm": version.hip, "XPU": getattr(version, "xpu", None)}
    built = [f"{name} {number}" for name, number in kinds.items() if number]
    if torch.backends.mps.is_built():
        built.append("Apple GPUs")
    return f"{torch.__version__}, built for {' and '.join(built) if built else 'the CPU only'}"


def unsupported(device: str, precision: Precision) -> str | None:
    """Why ``device`` cannot compute in ``precision``, or None."""
    if device == "mps" and precision is Precision.FLOAT64:
        return "MPS has no float64: choose float32 or the CPU"
    return None


def _no_cuda() -> str:
    if torch.version.cuda is None:
        return f"this torch ({torch.__version__}) is built for the CPU only"
    try:
        torch.cuda.init()
    except (RuntimeError, AssertionError) as error:
        return str(error).splitlines()[0]
    return "no CUDA device found"
