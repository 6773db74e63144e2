"""Combined: and, or and not, from the first to the last, for some heads or all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attn_gui.model.errors import ExperimentError
from attn_gui.model.masks import Causal, Combined, Imported, MaskRule, Padding, SlidingWindow, Term
from attn_gui.model.masks.document import Document
from attn_gui.model.masks.prefix_lm import PrefixLM
from tests.model.masks.checking import Setting, check_rule, drawn, settings_of_masks
from tests.strategies import single_rules

HEADS = 3


@st.composite
def terms(draw: st.DrawFn, at: Setting) -> Term:
    shape = draw(st.sampled_from([(at.n_q, at.n_k), (at.heads, at.n_q, at.n_k)]))
    rule = draw(st.one_of(single_rules(), hnp.arrays(bool, shape).map(Imported)))
    heads = st.sets(st.integers(0, HEADS - 1), min_size=1).map(lambda chosen: tuple(sorted(chosen)))
    return Term(rule, draw(st.sampled_from(["and", "or"])), draw(st.booleans()), draw(st.none() | heads))


@given(settings_of_masks(heads=HEADS), st.data())
def test_it_is_the_definition(at: Setting, data: st.DataObject) -> None:
    check_rule(Combined(tuple(data.draw(st.lists(terms(at), max_size=4)))), at)


def test_and_or_and_not_are_read_from_the_first_to_the_last() -> None:
    causal, near = Term(Causal()), Term(SlidingWindow(1, two_sided=True))
    assert drawn(Combined((causal, near)), 3, 3) == "#.. ##. .##"
    assert drawn(Combined((causal, Term(PrefixLM(2), "or"))), 3, 3) == "##. ##. ###"
    assert drawn(Combined((Term(Causal(), negated=True),)), 3, 3) == ".## ..# ..."
    # (causal or the neighbours) and not the own place
    own = Term(SlidingWindow(0), "and", negated=True)
    assert drawn(Combined((causal, Term(near.rule, "or"), own)), 3, 3) == ".#. #.# ##."
    assert drawn(Combined((causal, own, Term(near.rule, "or"))), 3, 3) == "##. ### ###"


def test_the_first_term_has_nothing_before_it_whatever_its_join() -> None:
    for join in ("and", "or"):
        assert drawn(Combined((Term(Causal(), join),)), 2, 2) == "#. ##"
        later = Combined((Term(Padding(), heads=(0,)), Term(Causal(), join, heads=(1,))))
        assert drawn(later, 2, 2, head=1, pad=[True, True]) == "#. ##"


def test_heads_that_no_term_concerns_attend_to_all() -> None:
    rule = Combined((Term(Causal(), heads=(0, 2)),))
    assert [drawn(rule, 2, 2, head=head) for head in range(3)] == ["#. ##", "## ##", "#. ##"]
    assert drawn(Combined(), 2, 2) == "## ##"
    assert rule.per_head
    assert not Combined((Term(Causal()),)).per_head


def test_it_reads_what_its_terms_read_and_holds_what_they_hold() -> None:
    cells = np.ones((2, 2), bool)
    rule = Combined((Term(Document()), Term(Padding()), Term(Document(), "or"), Term(Imported(cells))))
    assert rule.reads == ("segment", "pad")
    assert [array.shape for array in rule.arrays()] == [(2, 2)]


def test_the_text_of_a_combination_needs_the_text_of_all_and_one_for_all_heads() -> None:
    words = Combined((Term(Causal()), Term(Padding(), "or", negated=True))).expression()
    assert words == "((j <= i) | ~((i >= 0) & ~key_pad[j]))"
    assert Combined((Term(Causal()), Term(Imported(np.ones((2, 2), bool))))).expression() is None
    assert Combined((Term(Causal(), heads=(0,)),)).expression() is None
    assert Combined().expression() is None


def test_terms_follow_their_tokens() -> None:
    cells = np.array([[True, False], [False, True]])
    moved = Combined((Term(Causal()), Term(Imported(cells), "or", heads=(1,)))).rearranged([1, 0], [1, 0])
    assert isinstance(moved, Combined)
    assert [(term.join, term.heads) for term in moved.terms] == [("and", None), ("or", (1,))]
    followed = moved.terms[1].rule
    assert isinstance(followed, Imported)
    assert np.array_equal(followed.cells, cells[::-1, ::-1])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Term(Causal(), "xor"), "mask join: expected and or or, received 'xor'"),
        (lambda: Term(Combined()), "mask term: expected a single rule, received a combination of rules"),
        (lambda: Term(Causal(), heads=()), "mask heads: expected at least one head, counted from 0, received ()"),
        (lambda: Term(Causal(), heads=(-1,)), "mask heads: expected at least one head, counted from 0, received (-1,)"),
        (
            lambda: Combined((Term(MaskRule()), Term(Causal(), heads=(0, 2)))).check_fits(2, 2, 2),
            "mask heads of rule 2: expected 0 to 1, received 2",
        ),
        (
            lambda: Combined((Term(Imported(np.ones((2, 2), bool))),)).check_fits(2, 3, 1),
            "mask imported cells: expected shape (2, 3) or (1, 2, 3), received (2, 2)",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_in_words(make: Any, words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        make()
    assert str(caught.value) == words
