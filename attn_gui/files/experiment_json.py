"""An Experiment as JSON: in sessions, beside exports, and as the examples that ship with the program.

::

    {"format": "attn-experiment", "version": 2, "name": "..", "note": "..",
     "variant": "self", "heads": 1, "kv_heads": 1, "precision": "float32",
     "tokens": {"tokens": [..], "dimensions": [..], "embeddings": [[..]], "columns": {"pad": [..], "segment": [..]}},
     "context": null, "values": null, "past": null, "appended": [{"name": "..", "K": [..], "V": [..]}],
     "source": {"kind": "weights", "W_Q": [[..]], "W_K": .., "W_V": .., "W_O": null, "b_Q": null, ..},
     "mask": {"rule": {"kind": "none"}, "painted": [[top, bottom, left, right, allowed], ..]},
     "scoring": {"scale": null, "temperature": 1, "softcap": null, "biases": [{"kind": "alibi"}],
                 "position": {"kind": "none"}, "qk_norm": null, "rotary": null, "normaliser": {"kind": "softmax"},
                 "sinks": null}}

``source`` may be ``{"kind": "qkv", "Q": [[[..]]], "K": .., "V": ..}`` instead, or what else was given
(:mod:`~attn_gui.files.given_json`). A dimension without a name is null; what is not finite is "nan", "inf", "-inf". An
exercise is a part of its own, ``exercise`` (:mod:`~attn_gui.files.exercise_json`), and so are where an experiment comes
from, ``place`` and ``origin`` (:mod:`~attn_gui.files.origin_json`). ``original`` is what it is compared with: an object
of all that decides the picture, ``variant`` to ``scoring``.

Version 1 knew four masks, scale and softcap only, version 2 nothing of given scores and weights, types of number other
than float64, place, origin and original, and of the columns special and word. What needs none of these is written in
version 2 still.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from attn_gui.files import exercise_json, origin_json, recipes
from attn_gui.files.errors import FileError, cannot_read, check_size
from attn_gui.files.given_json import GIVEN, PutGiven, plain_given, read_given
from attn_gui.files.lost import NOWHERE, Located, relocated, told_of
from attn_gui.files.part_json import read_part
from attn_gui.files.places import Place, parsed
from attn_gui.files.regular import size_of_file
from attn_gui.model.biases import Bias
from attn_gui.model.columns import column_of
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import MaskRule
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.painted import MAX_RECTANGLES, Painted, Rectangle
from attn_gui.model.parts import Part
from attn_gui.model.positions import InputPosition
from attn_gui.model.precision import Precision
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.rotary import Rotary
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import NamedExperiment
from attn_gui.model.sources import AppendedKey, FromTokens, Source
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.model.weights import BIASES, MATRICES, Weights

FORMAT, VERSION = "attn-experiment", 3
MAX_BYTES = 1 << 28
TABLES = ("context", "values", "past")
SCORING_NUMBERS = ("scale", "temperature", "softcap")
SCORING_PARTS: dict[str, type[Part]] = {
    "position": InputPosition,
    "qk_norm": QKNorm,
    "rotary": Rotary,
    "normaliser": Normaliser,
}
REQUIRED = ("variant", "tokens", "source")
OPTIONAL = ("heads", "kv_heads", "precision", "mask", "scoring", "appended", *TABLES)
SINCE_3 = ("place", "origin", "original")
COLUMNS_SINCE_3 = ("special", "word")
Put = Callable[[NDArray[Any]], Any]


def _itself(array: NDArray[Any]) -> Any:
    return array


def to_plain(named: NamedExperiment, put: Put = _itself, session: Path | None = None) -> dict[str, Any]:
    """The experiment as values for :func:`~attn_gui.files.json_text.dumps`; ``put`` says what stands for an array.

    session: the file that it is written to; arrays of a file beside it are then found by their way from there.
    """
    put_given = origin_json.putting(named, put)
    plain: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": named.name,
        "note": named.note,
        "focus": None if named.focus is None else list(named.focus),
        **_plain_experiment(named.experiment, put, put_given),
    }
    if named.exercise is not None:
        plain["exercise"] = exercise_json.to_plain(named.exercise)
    if named.place is not None:
        plain["place"] = origin_json.plain_place(named.place)
    if named.origin is not None:
        plain["origin"] = origin_json.plain_origin(named.origin, session)
    if named.original is not None:
        plain["original"] = _plain_experiment(named.original, put, put_given)
    if not any(name in plain for name in SINCE_3) and not _is_new(plain):
        plain["version"] = 2
    return plain


def _is_new(plain: dict[str, Any]) -> bool:
    source = plain["source"]
    columns = {name for table in ("tokens", *TABLES) if plain[table] is not None for name in plain[table]["columns"]}
    return "dtypes" in source or source["kind"] not in ("weights", "qkv") or not columns.isdisjoint(COLUMNS_SINCE_3)


def _plain_experiment(e: Experiment, put: Put, put_given: PutGiven) -> dict[str, Any]:
    source = _plain_weights(e.source, put) if isinstance(e.source, FromTokens) else plain_given(e.source, put_given)
    return {
        "variant": e.variant.value,
        "heads": e.heads,
        "kv_heads": e.kv_heads,
        "precision": e.precision.value,
        "tokens": _plain_sequence(e.tokens, put),
        "context": None if e.context is None else _plain_sequence(e.context, put),
        "source": source,
        "values": None if e.values is None else _plain_sequence(e.values, put),
        "past": None if e.past is None else _plain_sequence(e.past, put),
        "appended": [{"name": key.name, "K": put(key.K.array()[0]), "V": put(key.V.array()[0])} for key in e.appended],
        "mask": {"rule": e.rule.to_plain(put), "painted": [list(r) for r in e.painted.rectangles]},
        "scoring": _plain_scoring(e.scoring, put),
    }


def _plain_scoring(scoring: Scoring, put: Put) -> dict[str, Any]:
    plain: dict[str, Any] = {name: getattr(scoring, name) for name in SCORING_NUMBERS}
    plain["biases"] = [bias.to_plain(put) for bias in scoring.biases]
    for name in SCORING_PARTS:
        part = getattr(scoring, name)
        plain[name] = None if part is None else part.to_plain(put)
    plain["sinks"] = None if scoring.sinks is None else list(scoring.sinks)
    return plain


def _plain_sequence(sequence: TokenSequence, put: Put) -> dict[str, Any]:
    named = any(name is not None for name in sequence.dimensions)
    return {
        "tokens": list(sequence.tokens),
        "dimensions": list(sequence.dimensions) if named else None,
        "embeddings": put(sequence.embeddings.array()),
        "columns": {name: put(column) for name, column in sequence.columns.items()},
    }


def _plain_weights(source: FromTokens, put: Put) -> dict[str, Any]:
    plain: dict[str, Any] = {"kind": "weights"} | dict.fromkeys(MATRICES + BIASES)
    for name, table in source.weights.items():
        plain[name] = put(table.array()[0] if name in BIASES else table.array())
    return plain


def read(path: str | Path, located: Located = NOWHERE) -> NamedExperiment:
    """The experiment of a JSON file, which may hold recipes (:mod:`~attn_gui.files.recipes`); raises FileError.

    located: where files of tensors are now that are not where it says; LostFile asks for one.
    """
    path = Path(path)
    check_size(path, "", size_of_file(path), MAX_BYTES)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise cannot_read(path, error) from error
    value = parsed(path, "", data)
    with told_of(located, relocated([value], path, located)):
        return from_place(Place(value, path))


def check_version(place: Place, name: str, version: int) -> None:
    """Check ``format`` and ``version`` of an object, before anything else of it is looked at."""
    found = place.of(dict, "an object")
    for key in ("format", "version"):
        if key not in found:
            raise FileError(place.path, place.where, f"“{key}”", "an object without it")
    number = found["version"]
    if found["format"] != name:
        Place(found["format"], place.path, place.where).refuse(f"“format” to be “{name}”")
    if type(number) is not int or number < 1:
        Place(number, place.path, place.where).refuse("“version” to be a whole number from 1")
    if number > version:
        received = f"version {number}, which a newer attn_gui wrote: update attn_gui to open it"
        raise FileError(place.path, place.where, f"version {version} or older of {name}", received)


def from_place(place: Place) -> NamedExperiment:
    """The experiment that stands at ``place``; raises FileError naming the place of what is wrong."""
    check_version(place, FORMAT, VERSION)
    at = place.keys(("format", "version", "name", *REQUIRED), ("note", "focus", "exercise", *SINCE_3, *OPTIONAL))
    found: dict[str, NDArray[Any]] = {}
    if "origin" in at:
        at = origin_json.with_arrays(at, found)
    note = at["note"].text() if "note" in at else ""
    focus = _focus(at["focus"]) if "focus" in at and at["focus"].value is not None else None
    try:
        return NamedExperiment(
            at["name"].text(),
            _experiment(at),
            note,
            focus,
            exercise_json.from_place(at["exercise"]) if "exercise" in at else None,
            origin_json.read_place(at["place"]) if "place" in at else None,
            _experiment(_keys_of_experiment(at["original"])) if "original" in at else None,
            origin_json.read_origin(at["origin"]) if "origin" in at else None,
            found,
        )
    except ExperimentError as error:
        raise place.refused(error) from error


def _keys_of_experiment(place: Place) -> Mapping[str, Place]:
    return place.keys(REQUIRED, OPTIONAL)


def _experiment(at: Mapping[str, Place]) -> Experiment:
    fields: dict[str, Any] = {"variant": Variant(at["variant"].one_of(*Variant))}
    fields["heads"] = at["heads"].whole() if "heads" in at else 1
    fields["kv_heads"] = at["kv_heads"].whole() if "kv_heads" in at else fields["heads"]
    if "precision" in at:
        fields["precision"] = Precision(at["precision"].one_of(*Precision))
    tokens = _sequence(at["tokens"])
    for name in TABLES:
        fields[name] = _sequence(at[name]) if name in at and at[name].value is not None else None
    if "appended" in at:
        fields["appended"] = tuple(_appended(key) for key in at["appended"].elements())
    if "mask" in at:
        mask = at["mask"].keys((), ("rule", "painted"))
        fields["rule"] = read_part(MaskRule, mask["rule"]) if "rule" in mask else MaskRule()
        fields["painted"] = _painted(mask["painted"]) if "painted" in mask else Painted()
    if "scoring" in at:
        fields["scoring"] = _scoring(at["scoring"])
    fields["source"] = _source(at["source"], tokens, fields)
    return Experiment(tokens, **fields)


def _focus(place: Place) -> tuple[int, int, int]:
    places = [at.whole() for at in place.elements()]
    if len(places) != 3:
        place.refuse("[head, query, key], counted from 0")
    return places[0], places[1], places[2]


def _sequence(place: Place) -> TokenSequence:
    at = place.keys(("tokens", "embeddings"), ("dimensions", "columns"))
    dimensions: list[str | None] = []
    if "dimensions" in at and at["dimensions"].value is not None:
        dimensions = [None if d.value is None else d.text() for d in at["dimensions"].elements()]
    columns = dict(at["columns"].items()) if "columns" in at else {}
    try:
        return TokenSequence(
            tuple(token.text() for token in at["tokens"].elements()),
            recipes.embeddings(at["embeddings"]) or at["embeddings"].table(),
            tuple(dimensions),
            {name: column.flags() if column_of(name).marks else column.wholes() for name, column in columns.items()},
        )
    except ExperimentError as error:
        raise place.refused(error) from error


def _source(place: Place, tokens: TokenSequence, fields: dict[str, Any]) -> Source:
    kind = _kind(place)
    if kind.one_of("weights", "random", *GIVEN) in GIVEN:
        return read_given(place, kind.value)
    if kind.value == "random":
        return FromTokens(recipes.weights(place, tokens, fields))
    at = place.keys(("kind", "W_Q", "W_K", "W_V"), ("W_O", *BIASES))
    tables = {}
    for name in MATRICES + BIASES:
        if name in at and at[name].value is not None:
            tables[name] = at[name].table(1 if name in BIASES else 2)
    for name in ("W_Q", "W_K", "W_V"):
        if name not in tables:
            at[name].refuse("a matrix")
    return FromTokens(Weights(**tables))


def _kind(place: Place) -> Place:
    fields = dict(place.items())
    if "kind" not in fields:
        raise FileError(place.path, place.where, "“kind”", "an object without it")
    return fields["kind"]


def _painted(place: Place) -> Painted:
    rectangles = []
    if len(place.of(list, "a list")) > MAX_RECTANGLES:
        place.refuse(f"at most {MAX_RECTANGLES:,} rectangles")
    for at in place.elements():
        values = at.elements()
        if len(values) != 5:
            at.refuse("[top, bottom, left, right, allowed]")
        top, bottom, left, right = (edge.whole() for edge in values[:4])
        if not (0 <= top <= bottom and 0 <= left <= right):
            at.refuse("0 <= top <= bottom and 0 <= left <= right")
        rectangles.append(Rectangle(top, bottom, left, right, values[4].of(bool, "true or false")))
    return Painted(tuple(rectangles))


def _scoring(place: Place) -> Scoring:
    at = place.keys((), (*SCORING_NUMBERS, *SCORING_PARTS, "biases", "sinks"))
    given = {name: each for name, each in at.items() if each.value is not None}
    fields: dict[str, Any] = {name: given[name].number() for name in SCORING_NUMBERS if name in given}
    fields |= {name: read_part(family, given[name]) for name, family in SCORING_PARTS.items() if name in given}
    if "biases" in given:
        fields["biases"] = tuple(read_part(Bias, each) for each in given["biases"].elements())
    if "sinks" in given:
        fields["sinks"] = tuple(each.number() for each in given["sinks"].elements())
    try:
        return Scoring(**fields)
    except ExperimentError as error:
        raise place.refused(error) from error


def _appended(place: Place) -> AppendedKey:
    at = place.keys(("name", "K", "V"))
    return AppendedKey(at["name"].text(), at["K"].table(1), at["V"].table(1))
