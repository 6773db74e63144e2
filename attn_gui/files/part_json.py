"""Parts (mask rules, normalisers, biases, positions) as JSON: ``{"kind": "sliding_window", "window": 3, ..}``."""

from __future__ import annotations

from typing import Any, TypeVar

from attn_gui.files.errors import FileError
from attn_gui.files.places import Place
from attn_gui.model.errors import ExperimentError
from attn_gui.model.masks import MaskRule
from attn_gui.model.masks.combined import Combined, Term
from attn_gui.model.parts import Parameter, Part

MAX_TERMS = 100

P = TypeVar("P", bound=Part)


def read_part(family: type[P], place: Place) -> P:
    """The part of ``family`` that stands at ``place``; raises FileError naming what is wrong."""
    fields = dict(place.items())
    if "kind" not in fields:
        raise FileError(place.path, place.where, "“kind”", "an object without it")
    kind = fields["kind"].text()
    if family is MaskRule and kind == Combined.kind:
        combined: Any = _combined(place)
        return combined
    try:
        part = family.of_kind(kind)
        values = {name: _value(part.described(name), at) for name, at in fields.items() if name != "kind"}
        for name, parameter in part.parameters():
            if parameter.kind == "array" and not parameter.optional and name not in values:
                raise FileError(place.path, place.where, f"“{name}”", "an object without it")
        return part(**values)
    except ExperimentError as error:
        # "mask sliding_window window" speaks of the member "window"
        at = fields.get(error.field.rpartition(" ")[2])
        if at is None:
            raise place.refused(error) from error
        raise FileError(at.path, at.where, error.expected, error.received) from error


def _value(parameter: Parameter, place: Place) -> Any:
    if parameter.kind == "array":
        if place.value is None and parameter.optional:
            return None
        return place.flags(parameter.axes) if parameter.flags else place.array(*parameter.axes)
    if parameter.kind == "wholes":
        return tuple(each.whole() for each in place.elements())
    if parameter.kind == "numbers":
        return tuple(each.number() for each in place.elements())
    if parameter.kind == "number":
        return place.number()
    expected = parameter.refusal(place.value)
    if expected is not None and isinstance(place.value, dict | list):
        place.refuse(expected)  # which does not write it out, however deep it goes
    return place.value


def _combined(place: Place) -> Combined:
    terms = []
    places = place.keys(("kind", "terms"))["terms"].elements()
    if len(places) > MAX_TERMS:
        place.refuse(f"at most {MAX_TERMS} rules")
    for each in places:
        at = each.keys(("rule",), ("join", "negated", "heads"))
        given: dict[str, Any] = {}
        if "join" in at:
            given["join"] = at["join"].text()
        if "negated" in at:
            given["negated"] = at["negated"].of(bool, "true or false")
        if "heads" in at and at["heads"].value is not None:
            given["heads"] = tuple(head.whole() for head in at["heads"].elements())
        if isinstance(at["rule"].value, dict) and at["rule"].value.get("kind") == Combined.kind:
            at["rule"].refuse("a single rule")
        try:
            terms.append(Term(read_part(MaskRule, at["rule"]), **given))
        except ExperimentError as error:
            raise each.refused(error) from error
    return Combined(tuple(terms))
