"""Chain: the stages of an experiment in float64, any of which may be changed or replaced by numbers of one's own.

The stages are those of :mod:`~attn_gui.compute.attention`, one after another, for all heads at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import torch
from numpy.typing import NDArray

from attn_gui.compute import attention
from attn_gui.compute.check.setting import WORKING, Setting
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.rotary import Rotary
from attn_gui.model.sources import FromTokens
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head

T = torch.Tensor
Step = Callable[["Chain"], T]
# numbers of one's own by stage and head
Own = Mapping[tuple[str, int | None], NDArray[Any]]

# what each stage is computed from
NEEDS: dict[str, tuple[str, ...]] = {
    "X": (),
    "context": (),
    "values": (),
    "X_in": ("X",),
    "context_in": ("context",),
    "Q_projected": ("X_in",),
    "K_projected": ("context_in",),
    "Q": ("Q_projected",),
    "K": ("K_projected",),
    "V": ("context_in", "values"),
    "raw": ("Q", "K"),
    "scaled": ("raw",),
    "capped": ("scaled",),
    "bias": (),
    "A": ("capped", "bias"),
    "A_masked": ("A",),
    "N": ("A_masked",),
    "head_output": ("N", "V"),
    "concat": ("head_output",),
    "output": ("concat",),
}


@cache
def upstream(stage: str) -> frozenset[str]:
    """Every stage that ``stage`` is computed from, near and far."""
    found: set[str] = set()
    left = list(NEEDS[stage])
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += NEEDS[name]
    return frozenset(found)


class Chain:
    """Stages as they come out with ``changes``, steps in place of the usual ones, and with ``own`` numbers.

    own: by stage and head (None for stages that are not per head) an array whose NaN stand for what is computed.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._base: Chain | None = None
        self._changes: Mapping[str, Step] = {}
        self._own: Own = {}
        self._touching: set[str] = set()
        self._kept: dict[str, T] = {}

    def with_changes(self, changes: Mapping[str, Step]) -> Chain:
        """This chain with some steps taken otherwise; own numbers stay, and stand in the way of changes before them."""
        return self._with({**self._changes, **changes}, self._own, set(changes))

    def with_own(self, own: Own) -> Chain:
        """This chain with numbers of one's own in place of what is computed."""
        return self._with(self._changes, {**self._own, **own}, {stage for stage, _ in own})

    def __getitem__(self, name: str) -> T:
        """A stage of all heads, [heads, rows, columns], or [rows, columns] where it is not per head."""
        if name not in self._kept:
            if self._base is not None and not self._touching & (upstream(name) | {name}):
                return self._base[name]
            self._kept[name] = self._with_numbers(name, self._changes.get(name, PLAIN[name])(self))
        return self._kept[name]

    def of(self, name: str, head: Head) -> T:
        """A stage of one head, or its mean over them, [rows, columns]."""
        stage = self[name]
        if not STAGES[name].per_head:
            return stage
        return stage.mean(dim=0) if head == "mean" else stage[head]

    def usual(self, name: str) -> T:
        """What ``name`` comes out as by the usual step, from the stages of this chain."""
        return PLAIN[name](self)

    def _with(self, changes: Mapping[str, Step], own: Own, touching: set[str]) -> Chain:
        chain = Chain(self.setting)
        chain._base, chain._changes, chain._own, chain._touching = self, changes, own, touching
        return chain

    def _with_numbers(self, name: str, made: T) -> T:
        for (stage, head), numbers in self._own.items():
            if stage == name:
                made = made.clone()
                place = made if head is None else made[head]
                given = torch.tensor(numbers, dtype=WORKING)
                place.copy_(torch.where(torch.isnan(given), place, given))
        return made


def rows_of(chain: Chain, letter: str) -> T:
    """What queries, keys or values are projected from, [n, d]."""
    e = chain.setting.e
    if letter == "Q":
        return chain["X_in"]
    if letter == "V" and e.values is not None:
        return chain["values"]
    return chain["X_in"] if _one_table(chain) else chain["context_in"]


def projected(chain: Chain, letter: str, W: T | None = None, b: T | None = None) -> T:
    """Queries, keys or values of the tokens, [heads or kv_heads, n, size]; by W and b in place of their own."""
    e, setting = chain.setting.e, chain.setting
    if not isinstance(e.source, FromTokens):
        return setting.tensor(e.source.parts()[letter])
    if W is None:
        W, b = setting.weight(f"W_{letter}"), setting.weight(f"b_{letter}")
    assert W is not None  # an experiment has checked its weights
    return attention.project(rows_of(chain, letter), W, b, e.heads if letter == "Q" else e.kv_heads, WORKING)


def for_heads(chain: Chain, rows: T, letter: str) -> T:
    """Keys or values of the tokens with those that are appended, [heads, n_k, size]."""
    e, setting = chain.setting.e, chain.setting
    parts = [rows, *(setting.tensor(getattr(k, letter).array()).reshape(len(rows), 1, -1) for k in e.appended)]
    return torch.cat(parts, dim=1).repeat_interleave(e.heads // e.kv_heads, dim=0)


def placed(chain: Chain, rows: T, letter: str, norm: QKNorm | None, rotary: Rotary | None) -> T:
    """Queries or keys, [heads, n, d_k], normalised and turned by where they stand; what is appended stays."""
    e, setting = chain.setting.e, chain.setting
    count = rows.shape[1] - (len(e.appended) if letter == "K" else 0)
    own, rest = rows[:, :count], rows[:, count:]
    if norm is not None:
        gain = norm.gain_q if letter == "Q" else norm.gain_k
        own = attention.normed(own, norm, None if gain is None else setting.tensor(gain), WORKING)
    if rotary is not None:
        cos, sin = rotary.tables(e.query_positions if letter == "Q" else e.key_positions, e.d_k)  # [n, pairs]
        own = attention.turned(own, setting.tensor(cos), setting.tensor(sin), rotary.layout, WORKING)
    return torch.cat([own, rest], dim=1)


def empty(A_masked: T) -> T:
    """Rows without any key, [.., n_q, 1] bool."""
    return torch.isneginf(A_masked).all(dim=-1, keepdim=True)


def weights(chain: Chain, A_masked: T) -> T:
    """The weights of the scores ``A_masked``, [heads, n_q, n_k]."""
    scoring, sinks = chain.setting.e.scoring, chain.setting.sinks
    return attention.weights(A_masked, scoring.normaliser, sinks, empty(A_masked), WORKING)


def _one_table(chain: Chain) -> bool:
    e = chain.setting.e
    return not e.variant.is_cross and e.past is None


def _inputs(name: str) -> Step:
    return lambda chain: chain.setting.projections.inputs(name)


def _positioned(name: str) -> Step:
    plain = "X" if name == "X_in" else "context"

    def step(chain: Chain) -> T:
        none = chain.setting.e.scoring.position.kind == "none"
        return chain[plain] if none else chain.setting.projections.inputs(name)

    return step


def _placed(letter: str) -> Step:
    def step(chain: Chain) -> T:
        scoring = chain.setting.e.scoring
        return placed(chain, chain[f"{letter}_projected"], letter, scoring.qk_norm, scoring.rotary)

    return step


def _biased(chain: Chain) -> T:
    return chain["capped"] if chain.setting.bias is None else chain["capped"] + chain["bias"]


def _bias(chain: Chain) -> T:
    bias = chain.setting.bias
    return torch.zeros_like(chain["capped"]) if bias is None else bias


def _capped(chain: Chain) -> T:
    """The scores before the bias: those that were given, where some were."""
    given = chain.setting.given("A")
    return (
        attention.capped_scores(chain["scaled"], chain.setting.e.scoring.softcap, WORKING) if given is None else given
    )


def _weights(chain: Chain) -> T:
    given = chain.setting.given("N")
    return weights(chain, chain["A_masked"]) if given is None else given


def _head_output(chain: Chain) -> T:
    nothing = empty(chain["A_masked"]) if chain.setting.e.has_scores else None
    return attention.head_output(chain["N"], chain["V"], nothing, WORKING)


def _output(chain: Chain) -> T:
    setting = chain.setting
    return attention.output(chain["concat"], setting.weight("W_O"), setting.weight("b_O"), WORKING)


PLAIN: dict[str, Step] = {
    "X": _inputs("X"),
    "context": _inputs("context"),
    "values": _inputs("values"),
    "X_in": _positioned("X_in"),
    "context_in": _positioned("context_in"),
    "Q_projected": lambda chain: projected(chain, "Q"),
    "K_projected": lambda chain: for_heads(chain, projected(chain, "K"), "K"),
    "Q": _placed("Q"),
    "K": _placed("K"),
    "V": lambda chain: for_heads(chain, projected(chain, "V"), "V"),
    "raw": lambda chain: attention.raw_scores(chain["Q"], chain["K"], WORKING),
    "scaled": lambda chain: attention.scaled_scores(chain["raw"], chain.setting.e.scale, WORKING),
    "capped": _capped,
    "bias": _bias,
    "A": _biased,
    "A_masked": lambda chain: attention.masked_scores(chain["A"], chain.setting.allowed),
    "N": _weights,
    "head_output": _head_output,
    "concat": lambda chain: attention.concat(chain["head_output"]),
    "output": _output,
}
