"""What masks a cell: what is named forbids it, and nothing else is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from attn_gui.model.experiment import Experiment
from attn_gui.model.forbidding import forbidding
from attn_gui.model.masks import Causal, Combined, SlidingWindow, Term
from attn_gui.model.painted import Painted
from tests.strategies import experiments


@given(experiments(sources=("given",)), st.data())
def test_whatever_is_named_forbids_the_cell(e: Experiment, data: st.DataObject) -> None:
    head = data.draw(st.integers(0, e.heads - 1))
    cells = np.argwhere(~e.allowed(slice(0, e.n_q), slice(0, e.n_k), head))
    assume(len(cells))
    i, j = data.draw(st.sampled_from(cells.tolist()))
    because = forbidding(e, i, j, head)
    if not because:
        assert e.painted.at(i, j) is False
    for term in because:
        assert term.heads is None or head in term.heads
        alone = replace(e, rule=Combined((term,)), painted=Painted())
        assert not alone.allowed(slice(i, i + 1), slice(j, j + 1), head)[0, 0]


@given(experiments(sources=("given",)), st.data())
def test_the_mean_names_what_any_head_does(e: Experiment, data: st.DataObject) -> None:
    rows, columns = slice(0, e.n_q), slice(0, e.n_k)
    masked = ~np.any([e.allowed(rows, columns, head) for head in range(e.heads)], axis=0)
    assume(masked.any())
    i, j = data.draw(st.sampled_from(np.argwhere(masked).tolist()))
    each = [forbidding(e, i, j, head) for head in range(e.heads)]
    found = forbidding(e, i, j, "mean")
    assert all(any(term is other for head in each for other in head) for term in found if e.rule.kind == "combined")
    assert len(found) >= max(len(head) for head in each)


def test_the_mean_over_heads_that_are_masked_each_by_another_rule() -> None:
    first, second = Term(Causal(), heads=(0,)), Term(SlidingWindow(1), heads=(1,))
    e = Experiment.from_tokens("abcd", np.eye(4), heads=2, rule=Combined((first, second)))
    assert forbidding(e, 0, 3, 0) == (first,)
    assert forbidding(e, 0, 3, 1) == (second,)
    assert forbidding(e, 0, 3, "mean") == (first, second)
