"""The mask that scores or weights show by themselves: by cells of -inf, or what stands for it, or of exact zeros."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from attn_gui.files.tensors.masking import Masked
from attn_gui.files.tensors.stand_ins import floor_of
from attn_gui.files.tensors.stored import Array
from attn_gui.model.experiment import Experiment
from attn_gui.model.given import widened
from attn_gui.model.mapped import fetched
from attn_gui.model.mask_import import all_of
from attn_gui.model.masks import Combined, Imported, MaskRule, Padding
from attn_gui.model.question import recognised
from attn_gui.model.tensors.axes import Role
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.mask_source import LOOKED_THROUGH, scores_that_block, zeros_that_block
from attn_gui.model.tensors.problem import source_of
from attn_gui.model.tensors.reading import Reading

Cells = NDArray[np.bool_]


def mask_in_numbers(scores: Array | None, weights: Array | None, *, beside_queries: bool) -> Masked | None:
    """What ``scores`` block, or else ``weights``, both [heads, n_q, n_k] and of one layer; None for neither.

    beside_queries: whether Q and K are there, so that numbers of the scores that stand for -inf block as well.
    """
    found = None if scores is None else allowed_in_scores(scores, stand_ins=beside_queries)
    if found is None and weights is not None:
        found = allowed_in_weights(weights)
    return None if found is None else masked_by(found)


def allowed_by_file(
    contents: Contents, reading: Reading, group: str, layer: int | None, given: Mapping[Role, Array]
) -> Cells | None:
    """What the numbers of the file's own scores allow in a layer, or else those of its weights; None for no mask.

    given: the arrays of the layer, [heads, n_q, n_k]. The cells have the axis of heads where these differ.
    """
    scores, weights = given.get(Role.SCORES), given.get(Role.WEIGHTS)
    if scores is not None and scores_that_block(contents, reading, group) is not None:
        found = allowed_in_scores(scores, stand_ins=source_of(reading, group) is Role.QKV)
        if found is not None:
            return found
    zeros = zeros_that_block(contents, reading, group)
    return allowed_in_weights(weights) if weights is not None and zeros is not None and zeros[1].get(layer) else None


def allowed_in_scores(scores: Array, *, stand_ins: bool) -> Cells | None:
    """What the cells of -inf in ``scores`` [heads, n_q, n_k] leave, of that shape; None without any.

    stand_ins: whether numbers that stand for -inf (:func:`floor_of`) block as well. None also for scores of over
    LOOKED_THROUGH bytes. Raises ChangedFile.
    """
    if scores.nbytes > LOOKED_THROUGH:
        return None
    floor = floor_of(fetched(head) for head in scores) if stand_ins else None
    lowest = -np.inf if floor is None else floor
    # NaN blocks nothing: it is to be seen
    allowed = np.stack([~(widened(fetched(head)) <= lowest) for head in scores])
    return None if allowed.all() else allowed


def allowed_in_weights(weights: Array) -> Cells | None:
    """What the rule (causal, sliding window, padding) that exact zeros of ``weights`` [heads, n_q, n_k] are leaves.

    [n_q, n_k]; None for no rule. A zero in one head alone is none: a small weight of few bits rounds to 0 too. Rows of
    NaN are blocked in whole, as softmax leaves them. None also over LOOKED_THROUGH bytes. Raises ChangedFile.
    """
    if weights.nbytes > LOOKED_THROUGH:
        return None
    there = attended(weights)
    if there.all() or not there.any():
        return None
    if not isinstance(_only(masked_by(there)), Imported):
        return there
    # besides those of the rule there may be zeros that were rounded, or dropped out
    n_q, n_k = weights.shape[1:]
    whole = np.tri(n_q, n_k, n_k - n_q, dtype=bool)
    live = ~_blank(there)[np.newaxis]
    for allowed in (whole & live, np.broadcast_to(live, there.shape)):
        if not allowed.all() and not (there & ~allowed).any():
            return np.array(allowed)
    return None


def attended(weights: Array) -> Cells:
    """Where some head's weight of ``weights`` [heads, n_q, n_k] is not 0, [n_q, n_k]; raises ChangedFile."""
    there: Cells = np.zeros(weights.shape[1:], bool)
    for head in weights:
        numbers = widened(fetched(head))
        there |= (numbers != 0) & ~np.isnan(numbers)
    return there


def with_mask(e: Experiment, found: Masked) -> Experiment:
    """``e`` under the rule that was ``found``, and its own where that forbids more, with padding marked."""
    shown = _padded(e, found.pad, found.rule)
    # a mask of the file says mostly what its scores say too
    if e.rule.kind == MaskRule.kind or _within(shown, e):
        return shown
    if _within(e, shown):
        return e
    own = e.present_keys.columns.get("pad")
    pad = found.pad if own is None else np.asarray(own, bool) | (False if found.pad is None else found.pad)
    # those of cells are equal whatever their cells are
    more = [rule for rule in _terms(found.rule) if isinstance(rule, Imported) or rule not in _terms(e.rule)]
    return _padded(e, pad, all_of((*_terms(e.rule), *more)))


def _padded(e: Experiment, pad: Cells | None, rule: MaskRule) -> Experiment:
    """``e`` under ``rule``, with the keys of ``pad`` marked."""
    if pad is None:
        return replace(e, rule=rule)
    if e.context is not None:
        return replace(e, rule=rule, context=e.context.with_column("pad", pad))
    return replace(e, rule=rule, tokens=e.tokens.with_column("pad", pad))


def _terms(rule: MaskRule) -> tuple[MaskRule, ...]:
    """The rules that :func:`all_of` made one of."""
    return tuple(term.rule for term in rule.terms) if isinstance(rule, Combined) else (rule,)


def _within(first: Experiment, second: Experiment) -> bool:
    """Whether ``first`` allows nothing that ``second`` forbids."""
    whole = slice(0, first.n_q), slice(0, first.n_k)
    return not any((first.allowed(*whole, head) & ~second.allowed(*whole, head)).any() for head in range(first.heads))


def _only(found: Masked) -> MaskRule:
    """The rule, or the part of it that is cell by cell."""
    return next((rule for rule in _terms(found.rule) if isinstance(rule, Imported)), found.rule)


def masked_by(allowed: Cells) -> Masked:
    """Cells [n_q, n_k] or [heads, n_q, n_k] by their name, keys that nothing may attend to as padding."""
    rule = recognised(allowed)
    if not isinstance(rule, Imported) or rule.cells.ndim == 3:
        return Masked(rule, None, None)
    pad = _blank(rule.cells)
    n_q, n_k = rule.cells.shape
    causal = np.tri(n_q, n_k, n_k - n_q, dtype=bool)
    rest = causal if np.array_equal(rule.cells, causal & ~pad) else rule.cells | pad
    named = recognised(rest)
    if pad.any() and not isinstance(named, Imported):
        return Masked(all_of((named, Padding())), None, pad)
    return Masked(rule, None, None)


def _blank(allowed: Cells) -> Cells:
    """Which keys, at one end or the other, no query may attend to, [n_k]; none where that is all of them."""
    live = np.flatnonzero(allowed.any(axis=0))
    blank = np.full(allowed.shape[1], bool(live.size))
    if live.size:
        blank[live[0] : live[-1] + 1] = False
    return blank
