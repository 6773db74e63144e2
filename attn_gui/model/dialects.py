"""How PyTorch and NumPy say the same."""

from __future__ import annotations

from dataclasses import dataclass

from attn_gui.model.precision import Precision


@dataclass(frozen=True)
class Dialect:
    """A library's words: ``xp`` its name in the script, ``axis`` and ``keep`` its arguments, ``swap`` its transpose."""

    title: str
    xp: str
    axis: str
    keep: str
    swap: str
    is_torch: bool

    @property
    def imports(self) -> str:
        return "import torch" if self.is_torch else "import numpy as np"

    def make(self, values: str, dtype: str) -> str:
        """A tensor of nested lists."""
        return f"{self.xp}.{'tensor' if self.is_torch else 'array'}({values}, dtype={dtype})"

    def stored(self, values: str, dtype: str) -> str:
        """A tensor of an array out of a file."""
        return f"torch.from_numpy({values}).to({dtype})" if self.is_torch else f"{values}.astype({dtype})"

    def cast(self, value: str, dtype: str) -> str:
        return f"{value}.{'to' if self.is_torch else 'astype'}({dtype})"

    def join(self, parts: str, axis: int) -> str:
        return f"{self.xp}.{'cat' if self.is_torch else 'concatenate'}([{parts}], {self.axis}={axis})"

    def repeat(self, value: str, times: str) -> str:
        """Each entry of the first axis ``times`` times over."""
        if self.is_torch:
            return f"{value}.repeat_interleave({times}, dim=0)"
        return f"np.repeat({value}, {times}, axis=0)"

    def reduced(self, how: str, value: str) -> str:
        """``max``, ``sum``, ``mean`` or ``any`` over the last axis, which stays as 1."""
        name = "amax" if self.is_torch and how == "max" else how
        return f"{value}.{name}({self.axis}=-1, {self.keep}=True)"

    def falling(self, value: str) -> str:
        """Sorted along the last axis, the largest first."""
        if self.is_torch:
            return f"{value}.sort(dim=-1, descending=True).values"
        return f"-np.sort(-{value}, axis=-1)"

    def picked(self, value: str, index: str) -> str:
        """Of each row the entry at ``index``."""
        if self.is_torch:
            return f"{value}.gather(-1, {index})"
        return f"np.take_along_axis({value}, {index}, axis=-1)"

    def copied(self, value: str, shape: str) -> str:
        """Broadcast to ``shape``, so that cells can be changed."""
        spread = f"{self.xp}.broadcast_to({value}, {shape})"
        return f"{spread}.clone()" if self.is_torch else f"{spread}.copy()"

    def dtype(self, precision: Precision) -> str:
        """The type that holds ``precision`` while it is computed with."""
        return f"{self.xp}.{'float64' if precision is Precision.FLOAT64 else 'float32'}"

    def stage(self, precision: Precision) -> str:
        """A function that rounds to ``precision``, which tensors of float32 then hold."""
        says = f'    """Every stage is kept in {precision}; sums within it run in float32."""\n'
        if self.is_torch:
            return f"def stage(x):\n{says}    return x.to(torch.{precision}).to(torch.float32)\n"
        if precision is Precision.FLOAT16:
            return f"def stage(x):\n{says}    return x.astype(np.float16).astype(np.float32)\n"
        return (
            f"def stage(x):\n{says}"
            "    bits = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32)\n"
            "    even = bits + 0x7FFF + ((bits >> 16) & 1)  # to the nearest, and to even in the middle\n"
            "    return np.where(np.isfinite(x), (even & 0xFFFF0000).view(np.float32), x)\n"
        )


TORCH = Dialect("PyTorch", "torch", "dim", "keepdim", "transpose", True)
NUMPY = Dialect("NumPy", "np", "axis", "keepdims", "swapaxes", False)
