"""Random experiments for hypothesis: every variant, head count, mask, scoring and precision, in small sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attn_gui.model.biases import Bias
from attn_gui.model.biases.additive import Additive
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.columns import COLUMNS
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, Imported, MaskRule, Padding, SlidingWindow, Term
from attn_gui.model.masks.block_sparse import BlockSparse
from attn_gui.model.masks.dilated import Dilated
from attn_gui.model.masks.document import Document
from attn_gui.model.masks.global_window import GlobalWindow
from attn_gui.model.masks.prefix_lm import PrefixLM
from attn_gui.model.masks.random_cells import RandomCells
from attn_gui.model.masks.tree import Tree
from attn_gui.model.normalisers.entmax15 import Entmax15
from attn_gui.model.normalisers.sigmoid import Sigmoid
from attn_gui.model.normalisers.softmax import Softmax
from attn_gui.model.normalisers.softmax_one import SoftmaxOne
from attn_gui.model.normalisers.sparsemax import Sparsemax
from attn_gui.model.painted import Painted
from attn_gui.model.positions import InputPosition
from attn_gui.model.positions.learned import Learned
from attn_gui.model.positions.sinusoidal import Sinusoidal
from attn_gui.model.precision import Precision
from attn_gui.model.qk_norm.l2_norm import L2Norm
from attn_gui.model.qk_norm.layer_norm import LayerNorm
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary import Rotary
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.rotary.imported import ImportedRotary
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import AppendedKey, FromTokens, GivenQKV
from attn_gui.model.table import Table, frozen
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights

REACH = 30


def single_rules() -> st.SearchStrategy[MaskRule]:
    """Every rule that needs no array, with parameters that matter at small sizes."""
    few = st.integers(0, 4)
    return st.one_of(
        st.just(MaskRule()),
        st.builds(Causal, st.sampled_from(["top-left", "bottom-right"])),
        st.just(Padding()),
        st.builds(SlidingWindow, few, st.booleans()),
        st.builds(PrefixLM, few),
        st.just(Document()),
        st.builds(Dilated, few, st.integers(1, 3), st.booleans()),
        st.builds(GlobalWindow, few, few),
        st.builds(BlockSparse, st.integers(1, 3), st.integers(0, 2)),
        st.just(Tree()),
        st.builds(RandomCells, st.floats(0, 1), st.integers(0, 2**31 - 1), st.booleans()),
    )


@st.composite
def rules(draw: st.DrawFn, shape: tuple[int, int, int] = (1, 1, 1)) -> MaskRule:
    """A rule for ``shape`` (heads, n_q, n_k without appended keys), or several joined, some for some heads only."""
    heads, n_q, n_k = shape
    cells = st.sampled_from([(n_q, n_k), (heads, n_q, n_k)]).flatmap(lambda size: hnp.arrays(bool, size))
    one = st.integers(0, 9).flatmap(lambda pick: single_rules() if pick else cells.map(Imported))
    if draw(st.integers(0, 3)):
        return draw(one)
    some = st.one_of(st.none(), st.sets(st.integers(0, heads - 1), min_size=1).map(lambda s: tuple(sorted(s))))
    terms = st.builds(Term, one, st.sampled_from(["and", "or"]), st.booleans(), some)
    return Combined(tuple(draw(st.lists(terms, max_size=3))))


@st.composite
def scorings(
    draw: st.DrawFn, shape: tuple[int, int, int] = (1, 1, 1), d_k: int = 1, widths: tuple[int, ...] = ()
) -> Scoring:
    """For ``shape`` (heads, n_q, n_k without appended keys); positions stay below REACH.

    widths: of the tables of queries and keys; none where Q, K and V are given.
    """
    heads, n_q, n_k = shape
    random = np.random.RandomState(draw(st.integers(0, 2**32 - 1)))
    kinds = ["alibi", "relative", "additive"]
    biases: list[Bias] = []
    for kind in draw(st.lists(st.sampled_from(kinds), max_size=2, unique=True)):
        if kind == "alibi":
            biases.append(ALiBi())
        elif kind == "relative":
            table = random.standard_normal((draw(st.sampled_from([8, 12])), heads))
            biases.append(RelativeBuckets(table, draw(st.integers(7, 20)), draw(st.booleans())))
        else:
            sizes = (heads, n_q, n_k) if draw(st.booleans()) else (n_q, n_k)
            biases.append(Additive(random.standard_normal(sizes)))
    position = InputPosition()
    if widths and draw(st.booleans()):
        position = Sinusoidal(draw(st.sampled_from([10.0, 10000.0])))
        if len(set(widths)) == 1 and draw(st.booleans()):
            position = Learned(random.standard_normal((REACH, widths[0])))
    rotary = draw(st.one_of(st.none(), rotaries(d_k))) if d_k > 1 else None
    norm = draw(st.sampled_from([None, RMSNorm, LayerNorm, L2Norm]))
    gains = [random.uniform(0.5, 2, d_k) if draw(st.booleans()) else None for _ in range(2)]
    normaliser = draw(
        st.sampled_from([Softmax(), Softmax(), SoftmaxOne(), Sparsemax(), Entmax15(), Sigmoid(), Sigmoid(-1.5)])
    )
    sinks = tuple(random.standard_normal(heads).tolist()) if normaliser.sinks and draw(st.integers(0, 3)) == 0 else None
    return Scoring(
        draw(st.one_of(st.none(), st.sampled_from([0.0, 1.0, 0.37, -0.5]))),
        draw(st.one_of(st.none(), st.sampled_from([0.5, 2.0, 30.0]))),
        draw(st.sampled_from([1.0, 1.0, 0.5, 3.0])),
        tuple(biases),
        position,
        None if norm is None else norm(1e-3, *gains),
        rotary,
        normaliser,
        sinks,
    )


@st.composite
def rotaries(draw: st.DrawFn, d_k: int) -> Rotary:
    layout = draw(st.sampled_from(["halves", "interleaved"]))
    whole = [2 * k for k in range(1, d_k // 2 + 1)]
    width = draw(st.sampled_from(whole if d_k % 2 else [0, *whole]))
    offset = draw(st.integers(-3, 3))
    scaling = draw(st.sampled_from(["none", "linear", "ntk", "yarn", "llama3", "imported"]))
    if scaling == "imported":
        angles = np.random.RandomState(draw(st.integers(0, 99))).uniform(0, 7, (REACH, (width or d_k) // 2))
        return ImportedRotary(layout, 0, abs(offset), np.cos(angles), np.sin(angles))
    return Frequencies(layout, width, offset, draw(st.sampled_from([10.0, 10000.0])), scaling, 4.0, 16)


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
    """Tokens that repeat, some columns, some dimensions with names."""
    names = [f"t{draw(st.integers(0, 9))}" for _ in range(length)]
    columns: dict[str, Any] = {}
    for column in draw(st.lists(st.sampled_from(sorted(COLUMNS)), unique=True, max_size=3)):
        if column == "pad":
            values: Any = draw(st.lists(st.booleans(), min_size=length, max_size=length))
        elif column == "parent":
            values = [draw(st.integers(-1, token - 1)) for token in range(length)]
        else:
            values = draw(st.lists(st.integers(0, 3 if column == "segment" else 9), min_size=length, max_size=length))
        columns[column] = values
    dimensions = draw(st.lists(st.sampled_from([None, "noun", "verb"]), min_size=width, max_size=width))
    return TokenSequence.of(names, random.standard_normal((length, width)), dimensions, **columns)


@st.composite
def experiments(
    draw: st.DrawFn,
    precision: Precision | None = None,
    sources: tuple[str, ...] = ("tokens", "given"),
    variants: tuple[Variant, ...] = tuple(Variant),
    tables: tuple[str, ...] = ("past", "values"),
) -> Experiment:
    """A valid experiment. Numbers are normally distributed, so that scores stay where a tolerance means something.

    tables: which it may have besides tokens and context.
    """
    random = np.random.RandomState(draw(st.integers(0, 2**32 - 1)))
    variant = draw(st.sampled_from(variants))
    heads = draw(st.integers(1, 4)) if variant.is_multi_head else 1
    kv_heads = draw(st.sampled_from([k for k in range(1, heads + 1) if heads % k == 0]))
    n_q = draw(st.integers(1, 7))
    present = draw(st.integers(1, 7)) if variant.is_cross else n_q
    past = draw(st.sampled_from([0, 0, 0, 1, 3])) if "past" in tables else 0
    n_k = past + present
    d_k, d_v = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    given = draw(st.sampled_from(sources)) == "given"
    d_model, d_context = (0, 0) if given else (draw(st.integers(1, 6)), draw(st.integers(1, 6)))
    fields: dict[str, Any] = {
        "tokens": draw(sequences(random, n_q, d_model)),
        "context": draw(sequences(random, present, d_context)) if variant.is_cross else None,
    }
    rows = d_context if variant.is_cross else d_model
    if past:
        fields["past"] = draw(sequences(random, past, rows))
    d_values = rows
    if "values" in tables and not given and not past and draw(st.integers(0, 3)) == 0:
        d_values = draw(st.integers(1, 4))
        fields["values"] = draw(sequences(random, present, d_values))
    fields["appended"] = tuple(
        AppendedKey(name, Table.of(random.standard_normal((1, kv_heads * d_k))), Table.of(np.ones((1, kv_heads * d_v))))
        for name in draw(st.sampled_from([(), (), (), ("bias",), ("bias", "zero")]))
    )
    if given:
        shapes = (heads, n_q, d_k), (kv_heads, n_k, d_k), (kv_heads, n_k, d_v)
        fields["source"] = GivenQKV(*(frozen(random.standard_normal(shape)) for shape in shapes))
    else:
        shape = {"Q": (d_model, heads * d_k), "K": (rows, kv_heads * d_k), "V": (d_values, kv_heads * d_v)}
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
        rule=draw(rules((heads, n_q, n_k))),
        painted=draw(painteds(n_q, n_k + len(fields["appended"]))),
        scoring=draw(scorings((heads, n_q, n_k), d_k, () if given else (d_model, rows))),
        precision=draw(st.sampled_from(Precision)) if precision is None else precision,
        **fields,
    )
