"""Dimensions of the mask: which cells it forbids, how it does so, and when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import torch

from attn_gui.compute import attention
from attn_gui.compute.diagnose.dimension import Dimension
from attn_gui.compute.diagnose.inputs import Block, Inputs
from attn_gui.compute.diagnose.state import State
from attn_gui.model.diagnosis import Choice
from attn_gui.model.masks import SlidingWindow
from attn_gui.model.window_shape import WindowShape, window_shape

How = Literal["forbid", "add", "multiply"]


@dataclass(frozen=True, eq=False)
class _Masking:
    """cells: [1 or heads, n_q, n_k] bool; None where everything is allowed."""

    choice: Choice
    cells: torch.Tensor | None
    how: How = "forbid"


class Masks:
    """The masks to try in place of the given one, each cell by cell; those that come to the same are tried once.

    masked: whether one was given, though it may allow everything.
    """

    def __init__(self, inputs: Inputs, masked: bool) -> None:
        self._inputs = inputs
        self._masked = masked
        self._maskings: dict[str, _Masking] = {}
        for masking in self._all():
            if not self._is_known(masking):
                self._maskings[masking.choice.name] = masking

    def dimension(self) -> Dimension:
        return Dimension("mask", self._step, tuple(masking.choice for masking in self._maskings.values()))

    def _step(self, block: Block, state: State, choice: Choice | None) -> State:
        masking = None if choice is None else self._maskings[choice.name]
        cells = self._inputs.allowed if masking is None else masking.cells
        A, working = state.stage("A"), block.inputs.working
        state = replace(state, clear=A)
        if cells is None:
            return _capped_late(block, state)
        cells = block.cut(cells)
        if masking is None or masking.how == "forbid":
            return replace(state, allowed=cells)
        if masking.how == "add":
            A, size = attention.biased_scores(A, cells.to(working)), state.size + 1
            return _capped_late(block, replace(state, A=A, size=size))
        return _capped_late(block, replace(state, A=A * cells.to(A.dtype)))

    def _is_known(self, new: _Masking) -> bool:
        known = [(self._inputs.allowed, "forbid"), *((m.cells, m.how) for m in self._maskings.values())]
        return any(how == new.how and _same(cells, new.cells) for cells, how in known)

    def _all(self) -> Iterator[_Masking]:
        given = self._inputs.allowed
        tokens = torch.arange(self._inputs.experiment.n_k, device=self._inputs.device) < self._inputs.tokens
        if given is not None:
            yield _Masking(_INVERTED, ~given | ~tokens)
        elif self._masked:
            everything = tokens.expand(1, self._inputs.experiment.n_q, -1)
            yield _Masking(_INVERTED, ~everything)
            # 1 more everywhere makes a difference to all but a softmax
            yield _Masking(_ADDED, everything, "add")
        if given is not None and not bool(given.all()):
            yield _Masking(_ADDED, given & tokens, "add")
            yield _Masking(_MULTIPLIED, given, "multiply")
            yield _Masking(_NONE, None)
        causal = {choice: self._causal(offset) for choice, offset in self._causal_choices()}
        for choice, cells in causal.items():
            yield _Masking(choice, cells)
        yield _Masking(_STRICT, self._causal(-1))
        if given is None:
            return
        for choice, cells in causal.items():
            both = Choice(
                "mask",
                f"{choice.name} and given",
                f"mask as given and {choice.title}",
                f"Besides the given mask, a causal one. {choice.meaning}",
                "scores.masked_fill(~(mask & torch.ones(n_q, n_k).tril()), -inf)",
            )
            yield _Masking(both, given & cells)
        yield from self._windows(given)

    def _causal_choices(self) -> Iterator[tuple[Choice, int]]:
        e = self._inputs.experiment
        first, last = 0, self._inputs.tokens - e.n_q
        yield (_CAUSAL if first == last else _TOP_LEFT), first
        if first != last:
            yield _BOTTOM_RIGHT, last

    def _causal(self, offset: int) -> torch.Tensor:
        """Keys up to the query's own place, shifted by ``offset``; appended keys are always allowed."""
        e, device = self._inputs.experiment, self._inputs.device
        i = torch.arange(e.n_q, device=device)[:, None]
        j = torch.arange(e.n_k, device=device)[None, :]
        return ((j <= i + offset) | (j >= self._inputs.tokens))[None]

    def _windows(self, given: torch.Tensor) -> Iterator[_Masking]:
        e, tokens = self._inputs.experiment, self._inputs.tokens
        shape = self._window_shape(given)
        if shape is None:
            return
        for choice, window in ((_SHORTER, shape.window - 1), (_LONGER, shape.window + 1)):
            if window >= 0:
                changed = replace(shape, window=window)
                cells = given.clone()
                cells[..., :tokens] = torch.tensor(changed.cells(e.n_q, tokens), device=given.device)
                meaning = choice.meaning.format(keys=window + 1)
                yield _Masking(replace(choice, meaning=meaning, value=changed), cells)

    def _window_shape(self, given: torch.Tensor) -> WindowShape | None:
        e = self._inputs.experiment
        if isinstance(e.rule, SlidingWindow) and not e.painted:
            # told by its rule: in a short sequence a long window looks causal
            return WindowShape(e.rule.window, e.rule.two_sided, e.offset)
        return window_shape(given[0, :, : self._inputs.tokens].cpu().numpy()) if len(given) == 1 else None


def _same(a: torch.Tensor | None, b: torch.Tensor | None) -> bool:
    """Whether two masks allow the same; None allows everything."""
    if a is None or b is None:
        return all(cells is None or bool(cells.all()) for cells in (a, b))
    return bool((a == b).all())


def of_lateness() -> Dimension:
    """Whether the mask comes before the softmax or after it."""
    late = Choice(
        "masking",
        "after softmax",
        "mask after the softmax",
        "The softmax runs over all keys; masked weights are set to 0 afterwards, so that rows sum to less than 1.",
        "softmax(scores, dim=-1) * mask, without dividing by the new sums",
    )
    return Dimension("masking", _mask, (late,), lambda block, state: state.allowed is not None)


def _mask(block: Block, state: State, choice: Choice | None) -> State:
    if state.allowed is None:
        return state
    if choice is not None:
        return replace(_capped_late(block, state), late=True)
    masked = replace(state, A=attention.masked_scores(state.stage("A"), state.allowed))
    if state.cap is not None:  # -inf becomes -cap: no key is forbidden any more
        return replace(_capped_late(block, masked), allowed=None)
    return masked


def _capped_late(block: Block, state: State) -> State:
    """With the softcap that was put off until after the mask."""
    if state.cap is None:
        return state
    return replace(state, A=attention.capped_scores(state.stage("A"), state.cap, block.inputs.working), cap=None)


_INVERTED = Choice(
    "mask",
    "inverted",
    "mask inverted",
    "True (or 1) in the mask marks what a query may not attend to.",
    "nn.MultiheadAttention's attn_mask and key_padding_mask; scores.masked_fill(mask, -inf)",
)
_ADDED = Choice(
    "mask",
    "added",
    "mask added to the scores",
    "The mask's 1 and 0 are added to the scores as numbers, which forbids nothing.",
    "scores + mask.float() where the mask was to be 0 and -inf",
)
_MULTIPLIED = Choice(
    "mask",
    "multiplied",
    "mask multiplied into the scores",
    "Masked scores become 0 in place of −∞, so that masked keys still get weight.",
    "softmax(scores * mask, dim=-1)",
)
_NONE = Choice("mask", "absent", "no mask", "The mask is not used.", "scaled_dot_product_attention without attn_mask")
_CAUSAL = Choice(
    "mask",
    "causal",
    "causal mask",
    "A query attends to its own place and to those before it, whatever the given mask says.",
    "scaled_dot_product_attention(.., is_causal=True); torch.ones(n, n).tril()",
)
_TOP_LEFT = Choice(
    "mask",
    "causal top-left",
    "causal mask from the first key",
    "Query i attends to keys j ≤ i, counted from the first key.",
    "scaled_dot_product_attention(.., is_causal=True); causal_upper_left",
)
_BOTTOM_RIGHT = Choice(
    "mask",
    "causal bottom-right",
    "causal mask up to the last key",
    "The last query attends to every key: j ≤ i + n_k − n_q, as in decoding with a cache.",
    "causal_lower_right; flash_attn(.., causal=True)",
)
_STRICT = Choice(
    "mask",
    "strictly causal",
    "causal mask that leaves out the own place",
    "Query i attends to keys j < i: its own place is masked too.",
    "masked_fill(torch.ones(n, n).triu(diagonal=0).bool(), -inf) in place of diagonal=1",
)
_SHORTER = Choice(
    "mask",
    "window shorter",
    "window of one key less",
    "The window holds {keys} keys counting the query's own, one less than here.",
    "sliding_window=W in transformers and Mistral: W keys, the query's own included",
)
_LONGER = Choice(
    "mask",
    "window longer",
    "window of one key more",
    "The window holds {keys} keys counting the query's own, one more than here.",
    "window_size=(W, 0) in flash_attn: W previous keys and the query's own",
)
