"""Random experiments and sessions, and whether two are the same to the last bit."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, MaskRule, Padding, SlidingWindow
from attn_gui.model.painted import Painted, Rectangle
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.sources import FromTokens, GivenQKV
from attn_gui.model.table import Table, frozen
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights

# what CSV, spreadsheets and terminals trip over, beside whatever hypothesis thinks of
AWKWARD = [*",\"'\n\r \x00\x85\ufeff\u2028", '""', "''", "\r\n", "'=1", "=1+1", "+1", "-1", "@a", "\t=1", "＝1", " a "]
AWKWARD += ["👩‍👩‍👧", "שלום", "مرحبا", "e\u0301", "a;b", "null", "nan", "query", "head", "1"]
tokens = st.one_of(st.sampled_from(AWKWARD), st.text(min_size=1, max_size=8))
finite = st.floats(allow_nan=False, allow_infinity=False)
anything = st.floats(allow_nan=True, allow_infinity=True)


def arrays(*shape: int, elements: st.SearchStrategy[float] = finite) -> st.SearchStrategy[Any]:
    return hnp.arrays(np.float64, shape, elements=elements)


@st.composite
def sequences(draw: st.DrawFn, width: int) -> TokenSequence:
    names = draw(st.lists(tokens, min_size=1, max_size=5))
    n = len(names)
    dimensions = draw(st.one_of(st.just(()), st.lists(st.one_of(st.none(), tokens), min_size=width, max_size=width)))
    pad = draw(st.one_of(st.none(), st.lists(st.booleans(), min_size=n, max_size=n)))
    return TokenSequence.of(names, draw(arrays(n, width)), tuple(dimensions), pad)


@st.composite
def masks(draw: st.DrawFn) -> dict[str, Any]:
    rules = [MaskRule(), Causal(), Causal("bottom-right"), Padding(), SlidingWindow(2), SlidingWindow(0, True)]
    edges = st.tuples(st.integers(0, 3), st.integers(3, 6), st.integers(0, 3), st.integers(3, 6), st.booleans())
    painted = draw(st.lists(edges.map(lambda edge: Rectangle(*edge)), max_size=3))
    return {"rule": draw(st.sampled_from(rules)), "painted": Painted(tuple(painted))}


@st.composite
def experiments(draw: st.DrawFn) -> Experiment:
    variant = draw(st.sampled_from(list(Variant)))
    kv_heads = draw(st.integers(1, 2)) if variant.is_multi_head else 1
    heads = kv_heads * (draw(st.integers(1, 2)) if variant.is_multi_head else 1)
    d, d_context, d_k, d_v, d_out = (draw(st.integers(1, 3)) for _ in range(5))
    own = draw(sequences(d))
    context = draw(sequences(d_context)) if variant.is_cross or draw(st.booleans()) else None
    common = draw(masks()) | {
        "scoring": Scoring(draw(st.one_of(st.none(), finite)), draw(st.one_of(st.none(), st.floats(0.5, 50)))),
        "precision": draw(st.sampled_from(list(Precision))),
    }
    n_k = len(context) if variant.is_cross and context is not None else len(own)
    if draw(st.booleans()):
        sizes = ((heads, len(own), d_k), (kv_heads, n_k, d_k), (kv_heads, n_k, d_v))
        given = GivenQKV(*(frozen(draw(arrays(*size, elements=anything))) for size in sizes))
        return Experiment(own, given, variant, heads, kv_heads, context, **common)
    d_keys = d_context if variant.is_cross else d
    shapes = {"Q": (d, heads * d_k), "K": (d_keys, kv_heads * d_k), "V": (d_keys, kv_heads * d_v)}
    if variant.is_multi_head:
        shapes["O"] = (heads * d_v, d_out)
    tables = {f"W_{letter}": Table.of(draw(arrays(*shape))) for letter, shape in shapes.items()}
    for letter, shape in shapes.items():
        if draw(st.booleans()):
            tables[f"b_{letter}"] = Table.of(draw(arrays(1, shape[1])))
    return Experiment(own, FromTokens(Weights(**tables)), variant, heads, kv_heads, context, **common)


@st.composite
def named_experiments(draw: st.DrawFn) -> NamedExperiment:
    e = draw(experiments())
    places = st.tuples(*(st.integers(0, count - 1) for count in (e.heads, e.n_q, e.n_k)))
    return NamedExperiment(draw(st.text(max_size=8)), e, draw(st.text(max_size=8)), draw(st.none() | places))


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    plain = st.one_of(st.none(), st.booleans(), st.integers(), finite, st.text(max_size=5))
    view = draw(st.dictionaries(st.text(max_size=5), st.one_of(plain, st.lists(plain, max_size=3)), max_size=3))
    all_of_them = tuple(draw(st.lists(named_experiments(), min_size=1, max_size=3)))
    return Session(all_of_them, draw(st.integers(0, len(all_of_them) - 1)), view)


def differences(a: Any, b: Any, where: str = "") -> list[str]:
    """Where two values differ, field by field; arrays are compared by their bits, NaN to NaN, revisions not at all."""
    if isinstance(a, Table):
        return differences(a.array(), b.array(), where) if isinstance(b, Table) else [where]
    if isinstance(a, np.ndarray):
        same = a.shape == b.shape and a.dtype == b.dtype and np.array_equal(np.isnan(a), np.isnan(b))
        return [] if same and np.array_equal(_bits(a), _bits(b)) else [where]
    if is_dataclass(a) and not isinstance(a, type):
        if type(a) is not type(b):
            return [where]
        names = [f.name for f in fields(a) if f.name != "revision"]
        return [d for name in names for d in differences(getattr(a, name), getattr(b, name), f"{where}.{name}")]
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return [d for i, (x, y) in enumerate(zip(a, b, strict=True)) for d in differences(x, y, f"{where}[{i}]")]
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return [d for key in a for d in differences(a[key], b[key], f"{where}.{key}")]
    same = type(a) is type(b) and repr(a) == repr(b)  # repr tells -0.0 from 0.0
    return [] if same else [where]


def _bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.dtype == np.bool_:
        return array
    return np.where(np.isnan(array), 0.0, array).view(np.uint64)
