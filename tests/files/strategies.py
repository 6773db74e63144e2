"""Random experiments and sessions, and whether two are the same to the last bit."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attn_gui.model.biases import Bias
from attn_gui.model.biases.additive import Additive
from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.columns import COLUMNS
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Combined, Imported, MaskRule, Term
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.painted import Painted, Rectangle
from attn_gui.model.parts import LARGEST_NUMBER, Parameter, Part
from attn_gui.model.positions import InputPosition
from attn_gui.model.positions.learned import Learned
from attn_gui.model.precision import Precision
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.rotary import Rotary
from attn_gui.model.rotary.imported import ImportedRotary
from attn_gui.model.scoring import SMALLEST, Scoring
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.sources import AppendedKey, FromTokens, GivenQKV
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
bounded = st.floats(-LARGEST_NUMBER, LARGEST_NUMBER)
positive = st.floats(SMALLEST, LARGEST_NUMBER)
# positions stay below it
REACH = 25


def arrays(*shape: int, elements: st.SearchStrategy[float] = finite) -> st.SearchStrategy[Any]:
    return hnp.arrays(np.float64, shape, elements=elements)


@st.composite
def columns_of(draw: st.DrawFn, n: int) -> dict[str, Any]:
    """Some of the per-token columns of ``n`` tokens."""
    values = {
        "pad": st.booleans(),
        "segment": st.integers(0, 2**63 - 1),
        "position": st.integers(0, 9),
        "special": st.booleans(),
        "word": st.integers(-1, 2**63 - 1),
    }
    found: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(sorted(COLUMNS)), unique=True)):
        if name == "parent":
            found[name] = [draw(st.integers(-1, token - 1)) for token in range(n)]
        else:
            found[name] = draw(st.lists(values[name], min_size=n, max_size=n))
    return found


@st.composite
def sequences(draw: st.DrawFn, width: int, length: int | None = None) -> TokenSequence:
    least, most = (1, 5) if length is None else (length, length)
    names = draw(st.lists(tokens, min_size=least, max_size=most))
    dimensions = draw(st.one_of(st.just(()), st.lists(st.one_of(st.none(), tokens), min_size=width, max_size=width)))
    columns = draw(columns_of(len(names)))
    return TokenSequence.of(names, draw(arrays(len(names), width)), tuple(dimensions), **columns)


def values_of(parameter: Parameter) -> st.SearchStrategy[Any]:
    """Whatever a parameter that is no array may be."""
    if parameter.kind == "flag":
        return st.booleans()
    if parameter.kind == "choice":
        return st.sampled_from(sorted(parameter.choices))
    if parameter.kind == "whole":
        return st.integers(int(parameter.least), int(parameter.most))
    assert parameter.kind == "number"
    return st.floats(parameter.least, parameter.most)


def simple_parts(family: type[Part], **fixed: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The parts of ``family`` whose parameters are no arrays; ``fixed`` parameters are drawn as told."""
    strategies = []
    for kind in family.kinds.values():
        parameters = dict(kind.parameters())
        if kind is not Combined and not any(parameter.kind == "array" for parameter in parameters.values()):
            drawn = {name: fixed.get(name, values_of(parameter)) for name, parameter in parameters.items()}
            strategies.append(st.builds(kind, **drawn))
    return st.one_of(strategies)


@st.composite
def rules(draw: st.DrawFn, heads: int, n_q: int, n_k: int) -> MaskRule:
    shape = st.sampled_from([(n_q, n_k), (heads, n_q, n_k)])
    single = st.one_of(simple_parts(MaskRule), shape.flatmap(lambda size: hnp.arrays(bool, size)).map(Imported))
    some = st.none() | st.lists(st.integers(0, heads - 1), min_size=1, max_size=3).map(tuple)
    terms = st.builds(Term, single, st.sampled_from(["and", "or"]), st.booleans(), some)
    return draw(st.one_of(single, st.lists(terms, max_size=3).map(lambda chosen: Combined(tuple(chosen)))))


@st.composite
def masks(draw: st.DrawFn, heads: int, n_q: int, n_k: int) -> dict[str, Any]:
    edges = st.tuples(st.integers(0, 3), st.integers(3, 6), st.integers(0, 3), st.integers(3, 6), st.booleans())
    painted = draw(st.lists(edges.map(lambda edge: Rectangle(*edge)), max_size=3))
    return {"rule": draw(rules(heads, n_q, n_k)), "painted": Painted(tuple(painted))}


@st.composite
def biases(draw: st.DrawFn, heads: int, n_q: int, n_k: int) -> Bias:
    kind = draw(st.sampled_from(sorted(Bias.kinds)))
    if kind == "additive":
        return Additive(draw(arrays(*draw(st.sampled_from([(n_q, n_k), (heads, n_q, n_k)])))))
    if kind == "relative_buckets":
        table = draw(arrays(draw(st.sampled_from([4, 6])), heads, elements=anything))
        return RelativeBuckets(table, draw(st.integers(4, 2**31 - 1)), draw(st.booleans()))
    return draw(simple_parts(Bias))


@st.composite
def positions(draw: st.DrawFn, width: int | None) -> InputPosition:
    """For tables of ``width`` numbers, None where they differ."""
    if width is not None and draw(st.booleans()):
        return Learned(draw(arrays(REACH, width, elements=anything)))
    return draw(simple_parts(InputPosition))


@st.composite
def rotaries(draw: st.DrawFn, d_k: int) -> Rotary:
    widths = [2 * pairs for pairs in range(1, d_k // 2 + 1)] + ([0] if d_k % 2 == 0 else [])
    width = draw(st.sampled_from(widths))
    if draw(st.booleans()):
        layout, offset = draw(st.sampled_from(["halves", "interleaved"])), draw(st.integers(0, 5))
        cos, sin = (draw(arrays(REACH, (width or d_k) // 2, elements=anything)) for _ in range(2))
        return ImportedRotary(layout, 0, offset, cos, sin)
    return draw(simple_parts(Rotary, width=st.just(width)))


@st.composite
def qk_norms(draw: st.DrawFn, d_k: int) -> QKNorm:
    kind = draw(st.sampled_from(sorted(QKNorm.kinds)))
    gains = (draw(st.none() | arrays(d_k, elements=anything)) for _ in range(2))
    return QKNorm.of_kind(kind)(draw(st.floats(0, 1)), *gains)


@st.composite
def scorings(draw: st.DrawFn, shape: tuple[int, int, int], d_k: int, width: int | None, given: bool) -> Scoring:
    normaliser = draw(simple_parts(Normaliser))
    temperature = draw(positive)
    largest = 0.999 * LARGEST_NUMBER * min(1.0, temperature)
    sinks = draw(st.none() | st.lists(bounded, min_size=shape[0], max_size=shape[0]).map(tuple))
    return Scoring(
        scale=draw(st.none() | st.floats(-largest, largest)),
        softcap=draw(st.none() | positive),
        temperature=temperature,
        biases=tuple(draw(st.lists(biases(*shape), max_size=3))),
        position=InputPosition() if given else draw(positions(width)),
        qk_norm=draw(st.none() | qk_norms(d_k)),
        rotary=draw(st.none() | rotaries(d_k)) if d_k > 1 else None,
        normaliser=normaliser,
        sinks=sinks if normaliser.sinks else None,
    )


@st.composite
def experiments(draw: st.DrawFn) -> Experiment:
    variant = draw(st.sampled_from(list(Variant)))
    kv_heads = draw(st.integers(1, 2)) if variant.is_multi_head else 1
    heads = kv_heads * (draw(st.integers(1, 2)) if variant.is_multi_head else 1)
    d, d_context, d_k, d_v, d_out, d_values = (draw(st.integers(1, 3)) for _ in range(6))
    own = draw(sequences(d))
    context = draw(sequences(d_context)) if variant.is_cross or draw(st.booleans()) else None
    present = context if variant.is_cross and context is not None else own
    apart = draw(st.sampled_from(["past", "values", "neither"]))
    past = draw(sequences(present.width)) if apart == "past" else None
    values = draw(sequences(d_values, len(present))) if apart == "values" else None
    n_k = len(present) + (0 if past is None else len(past))
    given = draw(st.booleans())
    names = draw(st.lists(tokens, max_size=2))
    rows = kv_heads * d_k, kv_heads * d_v
    width = d if present.width == d else None
    common = draw(masks(heads, len(own), n_k)) | {
        "past": past,
        "values": values,
        "appended": tuple(AppendedKey(name, *(Table.of(draw(arrays(1, size))) for size in rows)) for name in names),
        "scoring": draw(scorings((heads, len(own), n_k), d_k, width, given)),
        "precision": draw(st.sampled_from(list(Precision))),
    }
    if given:
        sizes = ((heads, len(own), d_k), (kv_heads, n_k, d_k), (kv_heads, n_k, d_v))
        source = GivenQKV(*(frozen(draw(arrays(*size, elements=anything))) for size in sizes))
        return Experiment(own, source, variant, heads, kv_heads, context, **common)
    of_values = present.width if values is None else d_values
    shapes = {"Q": (d, heads * d_k), "K": (present.width, kv_heads * d_k), "V": (of_values, kv_heads * d_v)}
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
        alike = isinstance(b, np.ndarray) and a.shape == b.shape and a.dtype == b.dtype
        return [] if alike and _bits(a) == _bits(b) else [where]
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


def _bits(array: np.ndarray[Any, Any]) -> bytes:
    return (np.where(np.isnan(array), np.nan, array) if array.dtype.kind == "f" else array).tobytes()
