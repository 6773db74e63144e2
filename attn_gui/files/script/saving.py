"""save: a session into its file, or one more attention layer into it, in one line inside any forward pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any, overload

import numpy as np

from attn_gui.files import session
from attn_gui.files.numbers import row_text
from attn_gui.files.script.appending import Manifest, append
from attn_gui.files.script.layers import Item, Layer, Names, items_of
from attn_gui.model.errors import ExperimentError
from attn_gui.model.given import precision_of, widened
from attn_gui.model.layer_place import LayerPlace
from attn_gui.model.session import NamedExperiment, Session

# characters of the numbers of ``out`` that one layer's session keeps for Check my work, and all of them together
LAYER_CHARACTERS, ALL_CHARACTERS = 4_000, 44_000
# no model has more layers, and a session holds numbers of 64 bits
MOST_LAYER = 1_000_000
NOTE = "Saved from a forward pass."


@overload
def save(session: Session, path: str | Path, /) -> None: ...
@overload
def save(path: str | Path, session: Session, /) -> None: ...
@overload
def save(
    path: str | PathLike[str],
    /,
    *,
    q: Any = None,
    k: Any = None,
    v: Any = None,
    mask: Any = None,
    out: Any = None,
    scores: Any = None,
    weights: Any = None,
    tokens: Names | None = None,
    key_tokens: Names | None = None,
    scale: float | None = None,
    layer: int | None = None,
    module: str = "",
) -> None: ...
def save(
    what: Any,
    path: Any = None,
    /,
    *,
    q: Any = None,
    k: Any = None,
    v: Any = None,
    mask: Any = None,
    out: Any = None,
    scores: Any = None,
    weights: Any = None,
    tokens: Names | None = None,
    key_tokens: Names | None = None,
    scale: float | None = None,
    layer: int | None = None,
    module: str = "",
) -> None:
    """Write a session to ``path``, or add one attention layer to the session that is in it (or begin one).

    >>> attn_gui.save("x.attn", q=q, k=k, v=v, mask=mask, layer=3)

    q [batch, heads, n_q, d_k], k [batch, kv_heads, n_k, d_k], v [batch, kv_heads, n_k, d_v]; scores (after scale,
    before bias and mask) and weights [batch, heads, n_q, n_k]; out [batch, heads, n_q, d_v] or
    [batch, n_q, heads * d_v], what the heads gathered.
    The axes of batch and heads may be left out. numpy arrays, or tensors of torch on any device, in any type of
    number, with a gradient or without; they are kept in their type. What is needed is q, k and v, or scores, or
    weights; weights or scores besides what they come from are kept to be compared with, and so is, for Check my work,
    the beginning of ``out``.

    mask: whatever broadcasts to the shape of the weights: flags, or 0 and 1 in any type of number, true where a query
    may attend, or other numbers, which are added to the scores; or [batch, n_k], which marks the keys that are no
    padding. Scores of -inf are a mask as well, and so are, where neither says one, zeros of the weights that are a rule
    (causal, padding). tokens, key_tokens: their
    names, a list of each item or one for all. scale: what the products are multiplied by; 1 / sqrt(d_k) without.
    layer: its number in the model, a whole number from 0; without, the one after the last in the file. module: its name
    in the model.

    Each item of a batch becomes an experiment. Nothing that is in the file is lost: a layer that is there already is
    added once more. Delete the file to begin anew. The file is replaced whole or not at all. Raises ExperimentError,
    naming the argument, and FileError; the file is then as it was.
    """
    handed = Layer(q, k, v, mask, out, scores, weights, tokens, key_tokens, scale)
    if isinstance(path, Session):
        what, path = path, what
    if isinstance(what, Session) and path is not None and handed.is_empty:
        session.save(what, path)
    elif path is None and isinstance(what, str | PathLike):
        append_layers(Path(what), [(None if layer is None else _number(layer), handed)], module)
    else:
        raise TypeError("save takes a session and a path, or a path and arrays by their names (q=, k=, v=, ...)")


def append_layers(path: Path, layers: Iterable[tuple[int | None, Layer]], module: str = "") -> None:
    """Add ``layers``, each with its number or None for the next; raises ExperimentError and FileError."""
    if not isinstance(module, str):
        raise ExperimentError("module", "the name of a module", repr(module)[:60])
    # before the file is looked at, so that what does not fit costs nothing
    made = [(number, list(items_of(layer))) for number, layer in layers]

    def more(manifest: Manifest) -> tuple[list[NamedExperiment], Manifest]:
        return _named(made, manifest, module)

    append(path, more)


def _named(
    layers: list[tuple[int | None, list[Item]]], manifest: Manifest, module: str
) -> tuple[list[NamedExperiment], Manifest]:
    """The experiments of ``layers``, by names that are not taken yet, and what Check my work is to compare."""
    taken = {plain["name"] for plain in manifest["experiments"] if isinstance(plain, dict) and "name" in plain}
    last = max((_number_of(plain) for plain in manifest["experiments"]), default=-1)
    tables = dict(_dict(_dict(manifest.get("view")).get("check")))
    named = []
    for number, items in layers:
        last = _number(last + 1) if number is None else number
        for item in items:
            e = item.experiment
            place = LayerPlace(last, module, "cross" if e.variant.is_cross else "self", item.batch)
            name = _free_name(place, taken)
            taken.add(name)
            named.append(NamedExperiment(name, e, NOTE, place=place, original=item.original))
            if item.out is not None and (written := _table(item, _size(tables))):
                tables[name] = written
    return named, {"check": tables} if tables else {}


def _number(layer: Any) -> int:
    """``layer`` as it was handed over, from any library that counts; raises ExperimentError."""
    expected = f"a whole number from 0 to {MOST_LAYER:,}"
    try:
        if isinstance(layer, bool | np.bool_) or str(getattr(layer, "dtype", "")).endswith("bool"):
            raise TypeError
        number = index(layer)
    except (TypeError, ValueError, RuntimeError) as error:
        received = repr(layer)
        raise ExperimentError("layer", expected, received if len(received) <= 60 else received[:59] + "…") from error
    if not 0 <= number <= MOST_LAYER:
        received = str(number) if number.bit_length() <= 64 else "a number of " + f"{number.bit_length():,} bits"
        raise ExperimentError("layer", expected, received)
    return number


def _number_of(plain: Any) -> int:
    number = _dict(_dict(plain).get("place")).get("layer")
    return number if type(number) is int else -1


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _free_name(place: LayerPlace, taken: set[str]) -> str:
    name = f"Layer {place.layer + 1}" + ("" if place.kind == "self" else ", cross")
    name += "" if place.batch is None else f", item {place.batch + 1}"
    free, count = name, 2
    while free in taken:
        free, count = f"{name} ({count})", count + 1
    return free


def _size(tables: Mapping[str, Any]) -> int:
    rows = (row for each in tables.values() if isinstance(each, list) for table in each for row in table["rows"])
    return sum(map(len, rows))


def _table(item: Item, kept: int) -> list[dict[str, Any]]:
    """What the first head gathered, as far as there is room for it, as Check my work keeps what is typed there."""
    out = item.out
    assert out is not None
    room = min(LAYER_CHARACTERS, ALL_CHARACTERS - kept)
    rows: list[str] = []
    for row in widened(out[0]):
        text = row_text(row, precision_of(out.dtype)).decode("ascii").replace(",", "\t")
        room -= len(text) + 1
        if room < 0:
            break
        rows.append(text)
    return [{"stage": "head_output", "head": 0, "rows": rows}] if rows else []
