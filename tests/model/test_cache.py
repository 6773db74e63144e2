"""The cache: what was the beginning of a sequence is no longer asked, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.compute.trace import trace
from attn_gui.model.biases.additive import Additive
from attn_gui.model.cache import most_past, with_past
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, Imported, MaskRule, Padding, SlidingWindow, Term
from attn_gui.model.masks.block_sparse import BlockSparse
from attn_gui.model.masks.dilated import Dilated
from attn_gui.model.masks.document import Document
from attn_gui.model.masks.global_window import GlobalWindow
from attn_gui.model.masks.prefix_lm import PrefixLM
from attn_gui.model.painted import Painted, Rectangle
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import GivenQKV
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from tests.strategies import experiments


def parts(e: Experiment, data: st.DataObject) -> int:
    """A count of tokens for the cache."""
    return data.draw(st.integers(0, most_past(e)))


@given(experiments(tables=("past",)), st.data())
def test_no_key_and_no_value_changes_by_a_bit(e: Experiment, data: st.DataObject) -> None:
    count = parts(e, data)
    cached = with_past(e, count)
    assert (cached.offset, cached.n_k) == (count, e.n_k)
    assert cached.keys.tokens == e.keys.tokens
    assert np.array_equal(cached.key_positions, e.key_positions)
    assert np.array_equal(cached.key_rows.embeddings.array(), e.key_rows.embeddings.array())
    for name in ("pad", "segment", "position"):
        assert np.array_equal(cached.key_rows.column(name), e.key_rows.column(name)), name
    before, after = trace(e), trace(cached)
    for name in ("K", "V"):
        assert np.array_equal(after.stage(name), before.stage(name)), name


@given(experiments(tables=("past",)), st.data())
def test_there_and_back_is_the_identity_on_keys(e: Experiment, data: st.DataObject) -> None:
    back = with_past(with_past(e, parts(e, data)), e.offset)
    assert (back.offset, back.n_q, back.n_k) == (e.offset, e.n_q, e.n_k)
    assert back.present_keys.tokens == e.present_keys.tokens
    for now, was in ((back.past, e.past), (back.present_keys, e.present_keys)):
        assert (now is None) == (was is None)
        if now is not None and was is not None:
            assert np.array_equal(now.embeddings.array(), was.embeddings.array())
            assert np.array_equal(now.column("pad"), was.column("pad"))
            assert np.array_equal(now.column("segment"), was.column("segment"))
    assert np.array_equal(back.key_positions, e.key_positions)
    assert np.array_equal(back.query_positions, e.query_positions)
    if isinstance(e.source, GivenQKV) and isinstance(back.source, GivenQKV):
        assert back.source.K is e.source.K
        assert back.source.V is e.source.V


rules = st.one_of(
    st.just(MaskRule()),
    st.just(Causal("bottom-right")),
    st.just(Padding()),
    st.just(Document()),
    st.builds(SlidingWindow, st.integers(0, 4), st.booleans()),
    st.builds(PrefixLM, st.integers(0, 4)),
    st.builds(Dilated, st.integers(0, 3), st.integers(1, 3), st.booleans()),
    st.builds(GlobalWindow, st.integers(0, 3), st.integers(0, 3)),
    st.builds(BlockSparse, st.integers(1, 3), st.integers(0, 2)),
)


@given(experiments(Precision.FLOAT64, variants=(Variant.SELF, Variant.MULTI_HEAD_SELF), tables=()), rules, st.data())
def test_decoding_with_a_cache_is_the_tail_of_the_whole(e: Experiment, rule: MaskRule, data: st.DataObject) -> None:
    e = replace(e, rule=rule)
    count = parts(e, data)
    before, after = trace(e), trace(with_past(e, count))
    for name in ("Q", "A", "A_masked", "N", "head_output"):
        np.testing.assert_allclose(after.stage(name), before.stage(name)[:, count:], atol=1e-12, err_msg=name)
    np.testing.assert_allclose(after.stage("output"), before.stage("output")[count:], atol=1e-12)


def test_what_goes_cell_by_cell_goes_with_its_query() -> None:
    cells = np.arange(9.0).reshape(3, 3)
    e = Experiment.from_tokens(
        "abc",
        np.eye(3),
        rule=Imported(cells > 3),
        painted=Painted((Rectangle(0, 2, 1, 2, False),)),
        scoring=Scoring(biases=(Additive(cells),)),
    )
    cached = with_past(e, 1)
    assert cached.tokens.tokens == ("b", "c")
    assert cached.allowed(slice(0, 2), slice(0, 3)).tolist() == [[False, False, True], [True, True, True]]
    bias = cached.scoring.biases[0]
    assert isinstance(bias, Additive)
    assert np.array_equal(bias.cells, cells[1:])
    back = with_past(cached, 0)
    # what the first query had is gone with it
    assert back.allowed(slice(0, 3), slice(0, 3)).tolist() == [[True] * 3, [False, False, True], [True] * 3]


def test_given_queries_that_went_come_back_as_zeros() -> None:
    Q = np.arange(1.0, 7.0).reshape(1, 3, 2)
    cached = with_past(Experiment.from_qkv(Q, Q, Q), 2)
    assert isinstance(cached.source, GivenQKV)
    assert cached.source.Q.tolist() == [[[5, 6]]]
    back = with_past(cached, 1)
    assert isinstance(back.source, GivenQKV)
    assert back.source.Q.tolist() == [[[0, 0], [5, 6]]]
    assert not back.source.Q.flags.writeable


def test_the_cache_of_a_cross_attention_is_the_beginning_of_its_context() -> None:
    context = TokenSequence.of("xyz", np.eye(3), segment=[1, 2, 3])
    e = Experiment.from_tokens("ab", np.ones((2, 3)), context=context)
    cached = with_past(e, 2)
    assert cached.tokens is e.tokens
    assert cached.past is not None and cached.context is not None
    assert (cached.past.tokens, cached.context.tokens) == (("x", "y"), ("z",))
    assert cached.context.column("segment").tolist() == [3]


def test_one_token_must_be_present() -> None:
    e = Experiment.from_tokens("abc", np.eye(3))
    assert most_past(e) == most_past(with_past(e, 1)) == 2
    assert with_past(e, 0) is e
    for count in (-1, 3):
        with pytest.raises(ExperimentError, match=f"past: expected 0 to 2 tokens, received {count}"):
            with_past(e, count)
    apart = replace(e, values=TokenSequence.of("abc", np.eye(3)))
    with pytest.raises(ExperimentError, match="past: expected none where values have embeddings of their own"):
        with_past(apart, 1)


def test_a_causal_mask_stays_one_when_keys_become_a_cache() -> None:
    random = np.random.default_rng(0)
    e = Experiment.from_tokens("abcdef", random.normal(size=(6, 4)), rule=Causal())
    combined = replace(e, rule=Combined((Term(Causal()), Term(SlidingWindow(3)))))
    for whole in (e, combined):
        cached = with_past(whole, 4)
        assert np.allclose(trace(cached).stage("N"), trace(whole).stage("N")[:, 4:], atol=1e-6)
