"""Slips of the projections and of what stands before them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from attn_gui.compute.check.chain import Chain, for_heads, placed, projected, rows_of
from attn_gui.compute.check.setting import Setting
from attn_gui.compute.check.slips.slip import Slip
from attn_gui.model.check.checked import both
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.rotary import Rotary

T = torch.Tensor
LETTERS = ("Q", "K", "V")
STAGE = {"Q": "Q_projected", "K": "K_projected", "V": "V"}

Step = Callable[[Chain], T]


def weight_slips(setting: Setting, within: frozenset[str]) -> Iterator[Slip]:
    """Of the projections that lead to one of the stages ``within``; none where Q, K and V were given."""
    e = setting.e
    if e.weights is None:
        return
    letters = [letter for letter in LETTERS if STAGE[letter] in within]
    yield from _each("W", "transposed", {letter: _transposed(setting, letter) for letter in letters})
    yield from _each("W", "forgotten", {letter: _forgotten(setting, letter) for letter in letters})
    yield from _each("b", "forgotten", {letter: _without_bias(setting, letter) for letter in letters})
    b_O = setting.weight("b_O")
    if b_O is not None and "output" in within:
        without = {k: step for k in LETTERS if (step := _without_bias(setting, k)) is not None}
        if without:
            of = both([f"b_{k}" for k in without] + ["b_O"])
            changes = {STAGE[k]: step for k, step in without.items()}
            yield Slip("biases_forgotten", f"{of} forgotten", {**changes, "output": lambda c: c.usual("output") - b_O})
    if e.heads > 1:
        yield from _split_otherwise(letters)
    if 1 < e.kv_heads < e.heads:
        yield Slip("kv_heads_in_turn", "key and value heads taken in turn, not in groups", {k: _tiled(k) for k in "KV"})


def placing_slips(setting: Setting) -> Iterator[Slip]:
    """Positions, norm and rotary positions left out."""
    scoring = setting.e.scoring
    if scoring.position.kind != "none":
        inputs: dict[str, Step] = {"X_in": lambda c: c["X"]}
        if setting.e.variant.is_cross or setting.e.past is not None:
            inputs["context_in"] = lambda c: c["context"]
        yield Slip("positions_forgotten", "the positions not added to X", inputs)
    norm, rotary = scoring.qk_norm, scoring.rotary
    if rotary is not None:
        yield Slip(
            "rotary_forgotten",
            "the rotary positions forgotten",
            {letter: _placed(letter, norm, None) for letter in "QK"},
        )
    if norm is not None:
        yield Slip(
            "norm_forgotten",
            "the norm of queries and keys forgotten",
            {letter: _placed(letter, None, rotary) for letter in "QK"},
        )


def _placed(letter: str, norm: QKNorm | None, rotary: Rotary | None) -> Step:
    return lambda c: placed(c, c[f"{letter}_projected"], letter, norm, rotary)


def _each(symbol: str, what: str, steps: dict[str, Step | None]) -> Iterator[Slip]:
    """A slip of all letters that it is possible with, and one of each."""
    able = {letter: step for letter, step in steps.items() if step is not None}
    if len(able) > 1:
        names = both([f"{symbol}_{letter}" for letter in able])
        yield Slip(f"{symbol}_{what}", f"{names} {what}", {STAGE[letter]: step for letter, step in able.items()})
    for letter, step in able.items():
        yield Slip(f"{symbol}_{letter}_{what}", f"{symbol}_{letter} {what}", {STAGE[letter]: step})


def _split_otherwise(letters: list[str]) -> Iterator[Slip]:
    """Columns of the projections given to the heads in another way."""
    turns = {
        STAGE[k]: _cut_into_heads(k, lambda rows, heads: rows.unflatten(1, (-1, heads)).permute(2, 0, 1))
        for k in letters
    }
    yield Slip("heads_in_turn", "columns dealt to the heads in turn, not head after head", turns)
    cut = {STAGE[k]: _cut_into_heads(k, lambda rows, heads: rows.reshape(heads, len(rows), -1)) for k in letters}
    yield Slip("heads_reshaped", "heads cut out without a transpose, so that they mix tokens", cut)


def _cut_into_heads(letter: str, cut: Callable[[T, int], T]) -> Step:
    def step(chain: Chain) -> T:
        rows = projected(chain, letter)  # [heads, n, size]
        return _whole(chain, letter, cut(rows.transpose(0, 1).flatten(1), len(rows)))

    return step


def _transposed(setting: Setting, letter: str) -> Step | None:
    W, b = setting.weight(f"W_{letter}"), setting.weight(f"b_{letter}")
    if W is None or W.shape[0] != W.shape[1]:
        return None
    return lambda c: _whole(c, letter, projected(c, letter, W.T, b))


def _without_bias(setting: Setting, letter: str) -> Step | None:
    W, b = setting.weight(f"W_{letter}"), setting.weight(f"b_{letter}")
    return None if b is None else lambda c: _whole(c, letter, projected(c, letter, W, None))


def _forgotten(setting: Setting, letter: str) -> Step | None:
    """The embeddings themselves, cut into heads."""
    W = setting.weight(f"W_{letter}")
    if W is None or W.shape[0] != W.shape[1]:
        return None
    heads = setting.e.heads if letter == "Q" else setting.e.kv_heads

    def step(chain: Chain) -> T:
        rows = rows_of(chain, letter)
        return _whole(chain, letter, rows.reshape(len(rows), heads, -1).transpose(0, 1))

    return step


def _tiled(letter: str) -> Step:
    def step(chain: Chain) -> T:
        e = chain.setting.e
        stage = chain.usual(letter)[:: e.heads // e.kv_heads]  # [kv_heads, n_k, size]
        return stage.repeat(e.heads // e.kv_heads, 1, 1)

    return step


def _whole(chain: Chain, letter: str, rows: T) -> T:
    return rows if letter == "Q" else for_heads(chain, rows, letter)
