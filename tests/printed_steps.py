"""Reading a derivation back from what was copied: the arithmetic of each line, worked out by Python."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from attn_gui.model.precision import Precision
from tests import reference

_ASIDE = re.compile(r" \((?:largest of )?[\d,]+ more\)| \(rounding\)")
_NUMBER = r"(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf|nan)"


def worked_out(line: str) -> tuple[float, float]:
    """What stands to the left of the equals sign of a line of plain text, worked out, and what stands to the right."""
    left, equals, right = line.replace("−", "-").replace("∞", "inf").partition(" = ")
    if not equals:
        right = left
    text = _ASIDE.sub("", left).replace("×", "*").replace("²", "**2").replace("^", "**")
    text = re.sub(rf"√({_NUMBER})", r"sqrt(\1)", text).replace("√(", "sqrt(")
    text = re.sub(r"\|([^|]*)\|", r"abs(\1)", text)
    text = re.sub(r"(\d)(\*\*|/)(\d)", r"\1 \2 \3", text)
    return _value(text), float(right)


def _value(text: str) -> float:
    names: dict[str, Any] = {
        "inf": np.float64("inf"),
        "nan": np.float64("nan"),
        **{name: getattr(np, name) for name in ("exp", "tanh", "sin", "cos", "sqrt")},
        "max": lambda *numbers: np.float64(max(numbers)),
        "abs": abs,
        **{p.value: lambda x, p=p: as_stored(x, p) for p in Precision},
    }
    assert re.fullmatch(r"[\w\s.+\-*/(),]*", text), text
    numbers = re.sub(rf"(?<![\w.]){_NUMBER}(?!\w)", lambda m: f"f('{m[0]}')", text)
    with np.errstate(all="ignore"):
        return float(eval(numbers, {"__builtins__": {}, "f": np.float64}, names))


def as_stored(value: float, precision: Precision) -> float:
    """``value`` in ``precision``, infinite where it is beyond it."""
    largest = {Precision.FLOAT16: 65519.0, Precision.BFLOAT16: 3.3961e38, Precision.FLOAT32: 3.40282356e38}
    if abs(value) > largest.get(precision, math.inf):
        return math.copysign(math.inf, value)
    return float(reference.rounded(value, precision))
