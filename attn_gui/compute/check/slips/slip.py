"""Slip: one thing that people do wrong, as steps in place of the right ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

from attn_gui.compute.check.chain import Chain

T = torch.Tensor


@dataclass(frozen=True)
class Slip:
    """name: in code and files. words: on screen. changes: by stage the step in place of the right one."""

    name: str
    words: str
    changes: Mapping[str, Callable[[Chain], T]]


def rounded(values: T, decimals: int) -> T:
    """To ``decimals`` places, halves away from 0 as people round."""
    factor = 10.0**decimals
    # a half that binary numbers miss by a hair is a half
    return torch.where(
        torch.isfinite(values), torch.sign(values) * torch.floor(values.abs() * factor + 0.5 + 1e-9) / factor, values
    )
