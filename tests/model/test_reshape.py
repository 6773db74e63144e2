"""Changes of shape: whatever the order of switches, the experiment is valid and keeps what can be kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attn_gui.compute.trace import trace
from attn_gui.model import edits, reshape
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Combined, Imported
from attn_gui.model.painted import Painted
from attn_gui.model.precision import Precision
from attn_gui.model.sources import FromTokens
from attn_gui.model.tables import with_table_cells
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights
from tests.strategies import experiments

SIDES: tuple[edits.Side, ...] = ("tokens", "context", "values", "past")


def other_sequence(data: st.DataObject) -> TokenSequence:
    n, d = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 8))
    return TokenSequence.of([f"s{i}" for i in range(n)], np.random.RandomState(n * d).standard_normal((n, d)))


def switch(data: st.DataObject, e: Experiment) -> tuple[str, Experiment]:
    """One random change of shape that the choices on offer allow."""
    kinds = ["variant", "heads", "biases", "dimensions", "sequence", "insert", "delete"]
    kind = data.draw(st.sampled_from(kinds))
    there: list[edits.Side] = [side for side in SIDES if getattr(e, side) is not None]
    side = data.draw(st.sampled_from(there))
    if kind == "variant":
        return kind, reshape.with_variant(e, data.draw(st.sampled_from(Variant)))
    if kind == "heads":
        offered = [count for count, reason in reshape.head_choices(e) if reason is None]
        return kind, reshape.with_heads(e, data.draw(st.sampled_from(offered)))
    if kind == "biases":
        return kind, reshape.with_biases(e, data.draw(st.booleans()))
    if kind == "dimensions":
        d = edits.sequence(e, side).width
        place = st.one_of(st.none(), st.integers(0, d - 1))
        return kind, reshape.rearrange_dimensions(e, side, data.draw(st.lists(place, min_size=1, max_size=8)))
    if kind == "sequence":
        return kind, reshape.with_sequence(e, side, other_sequence(data))
    if kind == "insert":
        return kind, edits.insert_tokens(e, side, 0, ["new"])
    if len(edits.sequence(e, side)) > 1:
        return kind, edits.delete_tokens(e, side, [0])
    return "nothing", e


def check_kept(before: Experiment, after: Experiment, kind: str) -> None:
    """Of mask and scoring, what cannot fail to fit is there; with no change of shape everything."""
    old, new = before.scoring, after.scoring
    for name in ("scale", "softcap", "temperature", "normaliser"):
        assert getattr(new, name) == getattr(old, name), name
    assert (new.sinks is None) == (old.sinks is None)
    assert sum(bias.kind == "alibi" for bias in new.biases) == sum(bias.kind == "alibi" for bias in old.biases)
    if not isinstance(before.rule, Combined | Imported):
        assert after.rule == before.rule
    if kind == "biases":
        assert (new, after.rule, after.appended, after.past) == (old, before.rule, before.appended, before.past)
    if kind == "insert" and before.past is not None:
        assert after.past is not None


@given(experiments(sources=("tokens",)), st.data())
@settings(max_examples=100)
def test_any_order_of_switches_gives_something_that_can_be_computed(e: Experiment, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 8))):
        before = e
        kind, e = switch(data, e)
        assert isinstance(e.source, FromTokens)
        assert e.precision is before.precision
        check_kept(before, e, kind)
        if kind in ("variant", "heads", "biases"):
            assert e.tokens is before.tokens
            assert before.context is None or e.context is before.context
        if kind in ("heads", "biases"):
            assert e.painted == before.painted
    assert trace(e).stage("output").shape[0] == e.n_q


@given(experiments(sources=("given",)), st.data())
def test_variants_of_given_q_k_and_v(e: Experiment, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 5))):
        before = e
        variant = data.draw(st.sampled_from(Variant))
        too_many_heads = e.heads > 1 and not variant.is_multi_head
        if too_many_heads or (e.n_q != len(e.present_keys) and not variant.is_cross):
            with pytest.raises(ExperimentError):
                reshape.with_variant(e, variant)
            continue
        e = reshape.with_variant(e, variant)
        assert e.source is before.source
        assert e.past is before.past
        e = edits.insert_tokens(e, "tokens", 0, ["new"])
    assert trace(e).stage("N").shape == (e.heads, e.n_q, e.n_k)


def test_given_keys_find_their_tokens_when_cross_is_chosen_again() -> None:
    e = Experiment.from_qkv(np.ones((2, 3)), np.ones((2, 3)), np.ones((2, 3)))
    e = reshape.with_variant(reshape.with_variant(e, Variant.CROSS), Variant.SELF)
    e = edits.insert_tokens(e, "tokens", 0, ["new"])
    assert reshape.with_variant(e, Variant.CROSS).n_k == 3


def karina(**fields: Any) -> Experiment:
    return Experiment.from_tokens(["karina", "is", "to"], [[1.0, 0], [0, 1], [1, 1]], **fields)


def weights_of(e: Experiment) -> Weights:
    assert e.weights is not None
    return e.weights


@given(experiments(sources=("tokens",)), st.sampled_from(Variant), st.data())
def test_weights_that_fit_are_kept(e: Experiment, variant: Variant, data: st.DataObject) -> None:
    after = reshape.with_variant(e, variant)
    old, new = weights_of(e), weights_of(after)
    for name, table in old.items():
        now = new.get(name)
        if now is not None and now.shape == table.shape:
            assert now is table, name
    if variant is e.variant:
        assert dict(new.items()) == dict(old.items())
        assert after.painted == e.painted


def test_self_to_multi_head_and_back() -> None:
    X = np.random.RandomState(0).standard_normal((3, 4))
    W = [np.random.RandomState(k).standard_normal((4, 4)) for k in range(3)]
    single = Experiment.from_tokens("abc", X, Weights.of(*W), precision=Precision.FLOAT64)
    multi = reshape.with_variant(single, Variant.MULTI_HEAD_SELF)
    assert (multi.heads, multi.kv_heads, multi.d_k) == (2, 2, 2)
    for name in ("W_Q", "W_K", "W_V"):
        assert weights_of(multi).get(name) is weights_of(single).get(name)
    W_O = weights_of(multi).W_O
    assert W_O is not None
    assert np.array_equal(W_O.array(), np.eye(4))
    back = reshape.with_variant(multi, Variant.SELF)
    assert np.array_equal(trace(back).stage("output"), trace(single).stage("output"))
    one_head = reshape.with_heads(multi, 1)
    np.testing.assert_allclose(trace(one_head).stage("output"), trace(single).stage("output"), rtol=1e-12)


@pytest.mark.parametrize(
    ("d_model", "heads"), [(1, 1), (2, 2), (3, 3), (4, 2), (5, 5), (6, 2), (7, 7), (9, 3), (512, 2)]
)
def test_multi_head_starts_with_a_count_that_divides(d_model: int, heads: int) -> None:
    e = Experiment.from_tokens("ab", np.ones((2, d_model)))
    assert reshape.with_variant(e, Variant.MULTI_HEAD_SELF).heads == heads


def test_cross_attention_starts_with_a_copy_of_the_tokens() -> None:
    e = karina(painted=Painted().with_cells([(0, 1)], False))
    cross = reshape.with_variant(e, Variant.CROSS)
    assert cross.context is e.tokens
    assert not cross.painted  # keys are other tokens now
    assert np.array_equal(trace(cross).stage("N"), trace(karina()).stage("N"))
    changed = edits.set_cells(cross, "context", 0, 0, 9.0)
    again = reshape.with_variant(reshape.with_variant(changed, Variant.SELF), Variant.CROSS)
    assert again.context is changed.context  # kept while it was not in use


def test_a_context_of_another_width() -> None:
    cross = reshape.with_variant(karina(), Variant.CROSS)
    wide = TokenSequence.of(["un", "deux"], np.arange(8.0).reshape(2, 4))
    after = reshape.with_sequence(cross, "context", wide)
    assert (after.n_k, after.d_k) == (2, 2)
    assert weights_of(after).W_Q is weights_of(cross).W_Q
    assert weights_of(after).W_K.shape == (4, 2)


def test_a_sentence_of_another_width_gets_weights_with_room_for_it() -> None:
    sentence = TokenSequence.of("abcde", np.eye(5))
    after = reshape.with_sequence(karina(), "tokens", sentence)
    assert np.array_equal(weights_of(after).W_Q.array(), np.eye(5))
    assert (trace(after).stage("output") > 0).any(axis=1).all()
    multi = reshape.with_sequence(reshape.with_variant(karina(), Variant.MULTI_HEAD_SELF), "tokens", sentence)
    assert (multi.heads, multi.d_k) == (2, 3)  # 2 heads of 3 have room for 5 dimensions
    assert trace(multi).stage("output").shape == (5, 5)
    assert np.array_equal(weights_of(multi).W_Q.array(), np.eye(5, 6))


def test_a_sentence_of_the_same_width_keeps_the_weights_and_drops_the_painted_cells() -> None:
    e = reshape.with_biases(karina(painted=Painted().with_cells([(0, 1)], False)), True)
    after = reshape.with_sequence(e, "tokens", TokenSequence.of("vwxyz", np.ones((5, 2))))
    assert dict(weights_of(after).items()) == dict(weights_of(e).items())
    assert not after.painted


def test_an_unused_context_can_be_replaced_and_changes_nothing_else() -> None:
    e = reshape.with_variant(reshape.with_variant(karina(), Variant.CROSS), Variant.SELF)
    painted = Painted().with_cells([(0, 1)], False)
    e = Experiment(e.tokens, e.source, context=e.context, painted=painted)
    after = reshape.with_sequence(e, "context", TokenSequence.of("v", np.ones((1, 9))))
    assert after.painted == painted
    assert dict(weights_of(after).items()) == dict(weights_of(e).items())


def grouped() -> Experiment:
    """4 query heads on 2 kv heads, d_model 6, values of 3."""
    random = np.random.RandomState(0)
    shapes = {"W_Q": (6, 8), "W_K": (6, 4), "W_V": (6, 6), "W_O": (12, 6)}
    weights = Weights.of(**{name: random.standard_normal(shape) for name, shape in shapes.items()})
    return Experiment.from_tokens("abc", random.standard_normal((3, 6)), weights, heads=4, kv_heads=2)


def test_grouped_heads_stay_grouped() -> None:
    e = grouped()
    sentence = TokenSequence.of("vwxyz", np.ones((5, 6)))
    after = reshape.with_sequence(e, "tokens", sentence)
    assert (after.heads, after.kv_heads) == (4, 2)
    assert dict(weights_of(after).items()) == dict(weights_of(e).items())
    narrow = reshape.with_sequence(e, "tokens", TokenSequence.of("vw", np.ones((2, 5))))
    assert (narrow.heads, narrow.kv_heads, narrow.d_k) == (4, 2, 2)
    cross = reshape.with_variant(e, Variant.MULTI_HEAD_CROSS)
    assert (cross.heads, cross.kv_heads) == (4, 2)
    assert dict(weights_of(cross).items()) == dict(weights_of(e).items())


def test_other_head_counts_keep_the_numbers() -> None:
    e = Experiment.from_tokens("abc", np.ones((3, 8)), heads=4)
    for heads in (1, 2, 8):
        after = reshape.with_heads(e, heads)
        assert (after.heads, after.kv_heads, after.d_k) == (heads, heads, 8 // heads)
        assert dict(weights_of(after).items()) == dict(weights_of(e).items())
    assert reshape.with_heads(e, 4) is e
    fewer = reshape.with_heads(Experiment.from_tokens("abc", np.ones((3, 8)), heads=4, kv_heads=2), 2)
    assert (fewer.heads, fewer.kv_heads) == (2, 1)


def test_which_head_counts_are_offered_and_why_not_the_others() -> None:
    e = Experiment.from_tokens("ab", np.ones((2, 6)), heads=2)
    choices = dict(reshape.head_choices(e))
    assert [count for count, reason in choices.items() if reason is None] == [1, 2, 3, 6]
    assert choices[4] == "4 heads do not divide d = 6"
    assert list(choices) == [1, 2, 3, 4, 5, 6]
    wide = dict(reshape.head_choices(Experiment.from_tokens("ab", np.ones((2, 64)), heads=8)))
    assert list(wide) == [*range(1, 17), 32, 64]
    assert set(dict(reshape.head_choices(karina())).values()) == {
        None,
        "Self-attention has one head: choose a multi-head variant",
    }
    given_qkv = Experiment.from_qkv(np.ones((3, 2, 4)), np.ones((3, 2, 4)), np.ones((3, 2, 4)))
    assert reshape.head_choices(given_qkv) == [(3, None)]


@pytest.mark.parametrize(
    ("heads", "reason"),
    [(4, "4 heads do not divide d = 6"), (0, "0 heads do not divide d = 6"), (100, "100 heads do not divide d = 6")],
)
def test_head_counts_that_do_not_fit_are_refused(heads: int, reason: str) -> None:
    e = Experiment.from_tokens("ab", np.ones((2, 6)), heads=2)
    with pytest.raises(ExperimentError) as caught:
        reshape.with_heads(e, heads)
    assert caught.value.received == reason


@given(experiments(sources=("tokens",)), st.data())
def test_scores_do_not_change_with_the_order_of_dimensions(e: Experiment, data: st.DataObject) -> None:
    # a position on the inputs has dimensions of its own, which stay where they are
    assume(e.scoring.position.kind == "none")
    order = data.draw(st.permutations(range(e.d_model)))
    before = Experiment(
        **{f: getattr(e, f) for f in e.__dataclass_fields__ if f not in ("revision", "precision")},
        precision=Precision.FLOAT64,
    )
    after = reshape.rearrange_dimensions(before, "tokens", [*order, None])
    assert after.d_model == e.d_model + 1
    assert [after.tokens.dimensions[k] for k in range(e.d_model)] == [e.tokens.dimensions[k] for k in order]
    np.testing.assert_allclose(trace(after).stage("raw"), trace(before).stage("raw"), atol=1e-12)
    np.testing.assert_allclose(trace(after).stage("output"), trace(before).stage("output"), atol=1e-12)


@given(experiments(sources=("tokens",)), st.data())
def test_the_dimensions_of_every_table_can_be_rearranged_with_what_reads_them(
    e: Experiment, data: st.DataObject
) -> None:
    """A new dimension of zeros changes nothing, in whichever table; the cache goes with the present keys."""
    assume(e.scoring.position.kind == "none")
    side = data.draw(st.sampled_from([s for s in ("tokens", "context", "values", "past") if getattr(e, s) is not None]))
    before = Experiment(
        **{f: getattr(e, f) for f in e.__dataclass_fields__ if f not in ("revision", "precision")},
        precision=Precision.FLOAT64,
    )
    width = getattr(e, side).width
    after = reshape.rearrange_dimensions(before, side, [None, *reversed(range(width))])
    assert getattr(after, side).width == width + 1
    if e.past is not None:
        assert after.past is not None and after.past.width == after.present_keys.width
    np.testing.assert_allclose(trace(after).stage("output"), trace(before).stage("output"), atol=1e-12)


def test_identity_weights_stay_the_identity_when_a_dimension_is_added() -> None:
    after = reshape.rearrange_dimensions(karina(), "tokens", [0, 1, None])
    for name in ("W_Q", "W_K", "W_V"):
        table = weights_of(after).get(name)
        assert table is not None
        assert np.array_equal(table.array(), np.eye(3))
    assert after.d_k == 3


def test_biases_come_as_zeros_and_keep_what_was_there() -> None:
    e = karina()
    with_zeros = reshape.with_biases(e, True)
    assert np.array_equal(trace(with_zeros).stage("output"), trace(e).stage("output"))
    edited = with_table_cells(with_zeros, "b_Q", 0, 1, 2.0)
    assert weights_of(reshape.with_biases(edited, True)).b_Q is weights_of(edited).b_Q
    assert not weights_of(reshape.with_biases(edited, False)).has_biases
    multi = reshape.with_variant(edited, Variant.MULTI_HEAD_SELF)
    assert weights_of(multi).b_Q is weights_of(edited).b_Q
    assert weights_of(multi).b_O is not None


GIVEN = Experiment.from_qkv(np.ones((2, 2, 3)), np.ones((2, 2, 3)), np.ones((2, 2, 3)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: reshape.with_heads(GIVEN, 1), "heads: expected a count that fits"),
        (
            lambda: reshape.with_biases(GIVEN, True),
            "biases: expected tokens projected by weights, received given Q, K and V",
        ),
        (
            lambda: reshape.with_sequence(GIVEN, "tokens", karina().tokens),
            "tokens: expected tokens projected by weights",
        ),
        (
            lambda: reshape.rearrange_dimensions(GIVEN, "tokens", [None]),
            "dimensions: expected tokens projected by weights",
        ),
        (
            lambda: reshape.with_variant(GIVEN, Variant.SELF),
            "variant: expected a multi-head one for 2 given heads, received Self",
        ),
        (
            lambda: reshape.rearrange_dimensions(karina(), "tokens", []),
            "tokens: expected at least 1 dimension to be left",
        ),
        (
            lambda: reshape.rearrange_dimensions(karina(), "context", [0]),
            "context: expected a token table of that name",
        ),
    ],
)
def test_what_is_refused_and_in_which_words(change: Any, words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        change()
    assert str(caught.value).startswith(words)
