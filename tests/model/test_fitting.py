"""What an experiment keeps when its shapes change: each thing that still fits."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from attn_gui.model.biases.additive import Additive
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.fitting import fields_of, with_what_fits
from attn_gui.model.initialise import initial_weights
from attn_gui.model.masks import Causal, Combined, Imported, MaskRule, Padding, Term
from attn_gui.model.normalisers.sigmoid import Sigmoid
from attn_gui.model.normalisers.sparsemax import Sparsemax
from attn_gui.model.positions import InputPosition
from attn_gui.model.positions.learned import Learned
from attn_gui.model.positions.sinusoidal import Sinusoidal
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import AppendedKey, FromTokens
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence
from tests.strategies import experiments

RANDOM = np.random.RandomState(0)


def rich() -> Experiment:
    """4 tokens of 4 dimensions, 2 heads of 2, with one of everything."""
    return Experiment.from_tokens(
        "abcd",
        RANDOM.standard_normal((4, 4)),
        heads=2,
        past=TokenSequence.of("p", np.ones((1, 4))),
        appended=(AppendedKey("bias", Table.of(np.ones((1, 4))), Table.of(np.ones((1, 4)))),),
        rule=Imported(np.ones((2, 4, 5), bool)),
        scoring=Scoring(
            scale=0.5,
            softcap=3.0,
            temperature=2.0,
            biases=(ALiBi(), Additive(np.ones((4, 5))), RelativeBuckets(np.ones((8, 2)))),
            position=Learned(np.ones((5, 4))),
            qk_norm=RMSNorm(gain_q=np.ones(2)),
            rotary=Frequencies(),
            normaliser=Sparsemax(),
            sinks=(1.0, 2.0),
        ),
    )


def changed(e: Experiment, **changes: Any) -> Experiment:
    return with_what_fits(fields_of(e) | changes)


@given(experiments())
def test_where_nothing_changes_everything_is_kept(e: Experiment) -> None:
    same = with_what_fits(fields_of(e))
    for f in fields(e):
        if f.name not in ("revision", "scoring"):
            assert getattr(same, f.name) is getattr(e, f.name) or f.name in ("rule", "appended"), f.name
    assert same.appended == e.appended
    assert same.scoring == e.scoring
    assert np.array_equal(
        same.allowed(slice(0, e.n_q), slice(0, e.n_k), e.heads - 1),
        e.allowed(slice(0, e.n_q), slice(0, e.n_k), e.heads - 1),
    )


def with_other_tokens(e: Experiment, n: int) -> Experiment:
    tokens = TokenSequence.of([f"t{i}" for i in range(n)], np.ones((n, e.d_model)))
    return changed(e, tokens=tokens)


def test_another_number_of_tokens_drops_what_goes_cell_by_cell() -> None:
    e = rich()
    after = with_other_tokens(e, 6)
    assert after.rule == MaskRule()
    assert after.scoring.biases == (e.scoring.biases[0], e.scoring.biases[2])
    assert after.past is e.past
    assert after.appended == e.appended
    position = after.scoring.position
    assert isinstance(position, Learned)
    assert position.table.tolist() == [[1] * 4] * 5 + [[0] * 4] * 2, "seven positions, two of them new"
    kept = replace(after.scoring, biases=e.scoring.biases, position=e.scoring.position)
    assert kept == e.scoring


def test_another_width_drops_what_has_the_old_one() -> None:
    e = rich()
    weights = initial_weights("normal", 6, 6, 2)  # heads of 3
    after = changed(e, tokens=TokenSequence.of("abcd", np.ones((4, 6))), source=FromTokens(weights))
    assert after.past is None
    assert after.appended == ()
    assert after.scoring.position == InputPosition()
    assert after.scoring.qk_norm is None
    assert after.scoring.rotary is None, "3 dimensions cannot be turned in pairs"
    # without the cache there are fewer keys than the cells of mask and bias are for
    assert after.rule == MaskRule()
    assert after.scoring.biases == (e.scoring.biases[0], e.scoring.biases[2])
    assert (after.scoring.softcap, after.scoring.temperature, after.scoring.sinks) == (3.0, 2.0, (1.0, 2.0))


def test_another_number_of_heads() -> None:
    after = changed(rich(), heads=4, kv_heads=4)
    assert after.scoring.sinks == (1.0, 2.0, 0.0, 0.0)
    assert [bias.kind for bias in after.scoring.biases] == ["alibi", "additive"]
    assert after.rule == MaskRule()
    assert after.scoring.qk_norm is None
    fewer = changed(rich(), heads=1, kv_heads=1)
    assert fewer.scoring.sinks == (1.0,)
    assert len(fewer.appended) == 1


def test_rules_of_heads_that_are_gone_go_too() -> None:
    def rule_after(*terms: Term, heads: int) -> MaskRule:
        e = Experiment.from_tokens("ab", np.ones((2, 4)), heads=4, rule=Combined(terms))
        return changed(e, heads=heads, kv_heads=heads).rule

    causal, padding = Term(Causal(), heads=(0, 3)), Term(Padding(), "or", heads=(2,))
    assert rule_after(causal, padding, heads=4) == Combined((causal, padding))
    assert rule_after(causal, padding, heads=2) == Combined((Term(Causal(), heads=(0,)),))
    assert rule_after(padding, heads=1) == MaskRule()


def test_sinks_go_where_the_normaliser_has_none() -> None:
    e = rich()
    after = with_what_fits(fields_of(e) | {"scoring": replace(e.scoring, sinks=None, normaliser=Sigmoid())})
    assert after.scoring.normaliser == Sigmoid()


def test_given_keys_keep_their_cache() -> None:
    Q, K = RANDOM.standard_normal((1, 2, 3)), RANDOM.standard_normal((1, 5, 3))
    e = Experiment.from_qkv(Q, K, K, tokens="ab", key_tokens="cde", past=2)
    assert changed(e).past is e.past
    assert changed(e, scoring=Scoring(position=Sinusoidal())).scoring.position == InputPosition()


def test_what_does_not_go_together_at_all_is_refused() -> None:
    with pytest.raises(ExperimentError, match="heads: expected 1 or more"):
        changed(rich(), heads=0)
