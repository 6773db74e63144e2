"""Masks: small named rules over indices, each one class.

A rule is written with operators on index arrays alone, so numpy and torch, on any device, run the same code.
``allowed(i, j, columns)`` is True where query i may attend to key j (the convention of SDPA and ONNX, the opposite
of nn.MultiheadAttention's bool masks).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from attn_gui.model.errors import ExperimentError

# more keys than any machine holds
LARGEST_WINDOW = 2**31 - 1


@dataclass(frozen=True)
class Columns:
    """What a rule may look at besides the indices.

    n_q, n_k: the numbers of queries and keys; key: per-key arrays by name (``pad``), in the array library and on
    the device of the caller.
    """

    n_q: int
    n_k: int
    key: Mapping[str, Any]


@dataclass(frozen=True)
class MaskRule:
    """Every key for every query; the rule that other rules narrow."""

    kind: ClassVar[str] = "none"
    title: ClassVar[str] = "None"

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        """Whether query ``i`` may attend to key ``j``; integer arrays that broadcast, bool out."""
        return (i >= 0) & (j >= 0)

    def key_range(self, first: int, last: int, columns: Columns) -> tuple[int, int]:
        """The keys [start, stop) outside of which queries ``first`` to ``last`` (inclusive) may attend to none."""
        return (0, columns.n_k)


@dataclass(frozen=True)
class Causal(MaskRule):
    """Keys up to the query's own position.

    ``top-left``: j <= i, as PyTorch's is_causal; ``bottom-right``: j <= i + n_k - n_q, as in decoding with a cache.
    They are one where n_q = n_k.
    """

    kind: ClassVar[str] = "causal"
    title: ClassVar[str] = "Causal"
    alignment: str = "top-left"

    def __post_init__(self) -> None:
        if self.alignment not in ("top-left", "bottom-right"):
            raise ExperimentError("mask alignment", "top-left or bottom-right", repr(self.alignment))

    def _offset(self, columns: Columns) -> int:
        return columns.n_k - columns.n_q if self.alignment == "bottom-right" else 0

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        return j <= i + self._offset(columns)

    def key_range(self, first: int, last: int, columns: Columns) -> tuple[int, int]:
        return (0, max(0, min(columns.n_k, last + self._offset(columns) + 1)))


@dataclass(frozen=True)
class Padding(MaskRule):
    """Keys that the ``pad`` column does not mark; query rows are left alone."""

    kind: ClassVar[str] = "padding"
    title: ClassVar[str] = "Padding"

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        return (i >= 0) & ~columns.key["pad"][j]


@dataclass(frozen=True)
class SlidingWindow(MaskRule):
    """The ``window`` previous keys and the query's own: W + 1 keys (ONNX and flash attention).

    With ``two_sided`` the ``window`` following keys as well (Longformer's local attention).
    """

    kind: ClassVar[str] = "sliding_window"
    title: ClassVar[str] = "Sliding window"
    window: int = 1
    two_sided: bool = False

    def __post_init__(self) -> None:
        if self.window < 0:
            raise ExperimentError("mask window", "0 or more previous keys", str(self.window))
        if self.window > LARGEST_WINDOW:
            raise ExperimentError("mask window", f"at most {LARGEST_WINDOW} previous keys", str(self.window))

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        return (j >= i - self.window) & (j <= i + (self.window if self.two_sided else 0))

    def key_range(self, first: int, last: int, columns: Columns) -> tuple[int, int]:
        start = max(0, first - self.window)
        stop = min(columns.n_k, last + 1 + (self.window if self.two_sided else 0))
        return (min(start, columns.n_k), max(stop, min(start, columns.n_k)))


RULES: tuple[type[MaskRule], ...] = (MaskRule, Causal, Padding, SlidingWindow)


def rule_to_plain(rule: MaskRule) -> dict[str, Any]:
    """The rule as plain values, for JSON: its kind and its parameters."""
    return {"kind": rule.kind} | {f.name: getattr(rule, f.name) for f in fields(rule)}


def rule_from_plain(plain: Mapping[str, Any]) -> MaskRule:
    """The rule that :func:`rule_to_plain` wrote; raises ExperimentError for a kind or parameter it does not know."""
    by_kind = {rule.kind: rule for rule in RULES}
    kind = plain.get("kind")
    if kind not in by_kind:
        raise ExperimentError("mask kind", " or ".join(by_kind), repr(kind))
    rule = by_kind[kind]
    known = {f.name: f for f in fields(rule)}
    parameters = {name: value for name, value in plain.items() if name != "kind"}
    for name, value in parameters.items():
        if name not in known:
            raise ExperimentError(f"mask {kind}", f"parameters {', '.join(known) or '(none)'}", repr(name))
        wanted = type(known[name].default)
        if type(value) is not wanted:
            raise ExperimentError(f"mask {kind} {name}", wanted.__name__, repr(value))
    return rule(**parameters)
