"""Figures of other people, as their files have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from attn_gui.model.mask_import import mask_of
from attn_gui.model.masks import MaskRule

DATA = Path(__file__).parent.parent / "data"


def read(name: str) -> Any:
    return json.loads((DATA / name).read_text("utf-8"))


def numbers(values: Any) -> np.ndarray:
    """Nested lists with "nan" and "-inf" in words."""
    return np.array(values, dtype=np.float64)


def rule_of(allowed: Any) -> MaskRule:
    """A mask given as a list of rows, True = may attend; None allows everything."""
    return MaskRule() if allowed is None else mask_of(np.array(allowed), "allowed")[0] or MaskRule()
