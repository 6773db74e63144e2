"""Masks in words, against a reckoning of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.experiment import Experiment
from attn_gui.model.forbidding import forbidding
from attn_gui.model.masks import Causal, Combined, MaskRule, Padding, SlidingWindow, Term
from attn_gui.model.masks.prefix_lm import PrefixLM
from attn_gui.model.masks.random_cells import RandomCells
from attn_gui.views.masks.cells import allowed_in
from attn_gui.views.masks.words import described, forbidden_by, heads_text, read_heads
from tests.strategies import experiments


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (MaskRule(), "None"),
        (Causal(), "Causal"),
        (Combined(()), "None"),
        (Combined((Term(Causal()), Term(RandomCells(), "and", True, (0, 1)))), "causal and not random (heads 1–2)"),
        (Combined((Term(PrefixLM(), heads=(3,)), Term(Padding(), "or"))), "prefix-LM (head 4) or padding"),
    ],
)
def test_rules_in_words(rule: MaskRule, words: str) -> None:
    assert described(rule) == words


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("all", None),
        ("", None),
        ("All ", None),
        ("1", (0,)),
        ("3, 1", (0, 2)),
        ("1-3", (0, 1, 2)),
        ("2–3; 4", (1, 2, 3)),
    ],
)
def test_heads_as_they_are_typed(text: str, heads: tuple[int, ...] | None) -> None:
    assert read_heads(text, 4) == heads


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0", "there are heads 1 to 4"),
        ("5", "there are heads 1 to 4"),
        ("3-1", "there are heads 1 to 4"),
        ("two", "'two' is no head"),
        ("1.5", "'1.5' is no head"),
        ("-1", "'-1' is no head"),
    ],
)
def test_heads_that_there_are_not(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_heads(text, 4)


@given(st.one_of(st.none(), st.sets(st.integers(0, 30), min_size=1)))
def test_heads_come_back_from_their_text(heads: set[int] | None) -> None:
    wanted = None if heads is None else tuple(sorted(heads))
    assert read_heads(heads_text(wanted), 31) == wanted


def masked_by(rule: MaskRule, i: int, j: int, head: Any = 0, heads: int = 1) -> str:
    e = Experiment.from_tokens("abcd", np.eye(4), heads=heads if heads > 1 else None, rule=rule)
    return forbidden_by(forbidding(e, i, j, head))


def test_what_masks_a_cell() -> None:
    causal, window = Term(Causal()), Term(SlidingWindow(1))
    assert masked_by(Causal(), 0, 1) == "by “Causal”"
    both = Combined((causal, window))
    assert masked_by(both, 0, 1) == "by “Causal”"
    assert masked_by(both, 3, 0) == "by “Sliding window”"
    either = Combined((window, replace(causal, join="or")))
    assert masked_by(either, 0, 3) == "by “Sliding window” and “Causal”"
    assert masked_by(Combined((Term(Causal(), negated=True),)), 3, 0) == "by “not Causal”"
    some = Combined((replace(causal, heads=(1,)), replace(window, heads=(0,))))
    assert masked_by(some, 0, 3, 1, 2) == "by “Causal”"
    assert masked_by(some, 3, 0, 0, 2) == "by “Sliding window”"
    e = Experiment.from_tokens("abcd", np.eye(4), rule=Causal())
    painted = replace(e, painted=e.painted.with_cells([(0, 3)], False))
    assert forbidden_by(forbidding(painted, 0, 3, 0)) == "by hand"


@given(experiments(), st.data())
def test_the_mean_shows_what_any_head_allows(e: Experiment, data: st.DataObject) -> None:
    rows, columns = slice(0, e.n_q), slice(0, e.n_k)
    each = [e.allowed(rows, columns, head) for head in range(e.heads)]
    np.testing.assert_array_equal(allowed_in(e, rows, columns, "mean"), np.any(each, axis=0))
    head = data.draw(st.integers(0, e.heads - 1))
    np.testing.assert_array_equal(allowed_in(e, rows, columns, head), each[head])
    np.testing.assert_array_equal(allowed_in(e, rows, columns, e.heads + 3), each[-1])
