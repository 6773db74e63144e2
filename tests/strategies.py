"""Random experiments for hypothesis: every variant, head count, mask, scoring and precision, in small sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from attn_gui.model.experiment import Experiment, FromTokens, GivenQKV
from attn_gui.model.masks import Causal, MaskRule, Padding, SlidingWindow
from attn_gui.model.painted import Painted
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.table import frozen
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights


def rules() -> st.SearchStrategy[MaskRule]:
    return st.one_of(
        st.just(MaskRule()),
        st.builds(Causal, st.sampled_from(["top-left", "bottom-right"])),
        st.just(Padding()),
        st.builds(SlidingWindow, st.integers(0, 4), st.booleans()),
    )


def scorings() -> st.SearchStrategy[Scoring]:
    scale = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 0.37, -0.5]))
    return st.builds(Scoring, scale, st.one_of(st.none(), st.sampled_from([0.5, 2.0, 30.0])))


@st.composite
def painteds(draw: st.DrawFn, n_q: int, n_k: int) -> Painted:
    painted = Painted()
    for _ in range(draw(st.integers(0, 3))):
        top, left = draw(st.integers(0, n_q - 1)), draw(st.integers(0, n_k - 1))
        bottom, right = draw(st.integers(top + 1, n_q)), draw(st.integers(left + 1, n_k))
        cells = [(i, j) for i in range(top, bottom) for j in range(left, right)]
        painted = painted.with_cells(cells, draw(st.booleans()))
    return painted


@st.composite
def sequences(draw: st.DrawFn, random: np.random.RandomState, length: int, width: int) -> TokenSequence:
    """Tokens that repeat, a pad column or none, some dimensions with names."""
    names = [f"t{draw(st.integers(0, 9))}" for _ in range(length)]
    pad = draw(st.one_of(st.none(), st.lists(st.booleans(), min_size=length, max_size=length)))
    dimensions = draw(st.lists(st.sampled_from([None, "noun", "verb"]), min_size=width, max_size=width))
    return TokenSequence.of(names, random.standard_normal((length, width)), dimensions, pad)


@st.composite
def experiments(
    draw: st.DrawFn, precision: Precision | None = None, sources: tuple[str, ...] = ("tokens", "given")
) -> Experiment:
    """A valid experiment. Numbers are normally distributed, so that scores stay where a tolerance means something."""
    random = np.random.RandomState(draw(st.integers(0, 2**32 - 1)))
    variant = draw(st.sampled_from(Variant))
    heads = draw(st.integers(1, 4)) if variant.is_multi_head else 1
    kv_heads = draw(st.sampled_from([k for k in range(1, heads + 1) if heads % k == 0]))
    n_q = draw(st.integers(1, 7))
    n_k = draw(st.integers(1, 7)) if variant.is_cross else n_q
    d_k, d_v = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    given = draw(st.sampled_from(sources)) == "given"
    d_model, d_context = (0, 0) if given else (draw(st.integers(1, 6)), draw(st.integers(1, 6)))
    fields: dict[str, Any] = {
        "tokens": draw(sequences(random, n_q, d_model)),
        "context": draw(sequences(random, n_k, d_context)) if variant.is_cross else None,
    }
    if given:
        shapes = (heads, n_q, d_k), (kv_heads, n_k, d_k), (kv_heads, n_k, d_v)
        fields["source"] = GivenQKV(*(frozen(random.standard_normal(shape)) for shape in shapes))
    else:
        rows = d_context if variant.is_cross else d_model
        shape = {"Q": (d_model, heads * d_k), "K": (rows, kv_heads * d_k), "V": (rows, kv_heads * d_v)}
        if variant.is_multi_head:
            shape["O"] = (heads * d_v, draw(st.integers(1, 5)))
        arrays = {f"W_{s}": random.standard_normal(size) / np.sqrt(size[0]) for s, size in shape.items()}
        with_bias = [s for s in shape if draw(st.booleans())]
        arrays |= {f"b_{s}": 0.3 * random.standard_normal(shape[s][1]) for s in with_bias}
        fields["source"] = FromTokens(Weights.of(**arrays))
    return Experiment(
        variant=variant,
        heads=heads,
        kv_heads=kv_heads,
        rule=draw(rules()),
        painted=draw(painteds(n_q, n_k)),
        scoring=draw(scorings()),
        precision=draw(st.sampled_from(Precision)) if precision is None else precision,
        **fields,
    )
