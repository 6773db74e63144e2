"""Parts: declared parameters are checked, told and refused in words; every part of every family is in order."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import pytest

from attn_gui.model.biases import Bias
from attn_gui.model.errors import ExperimentError
from attn_gui.model.masks import MaskRule
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.normalisers.softmax import Softmax
from attn_gui.model.parts import Parameter, Part, array, choice, flag, number, numbers, whole, wholes
from attn_gui.model.positions import InputPosition
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.rotary import Rotary

FAMILIES: list[type[Part]] = [MaskRule, Normaliser, Bias, InputPosition, Rotary, QKNorm]
PARTS = [part for family in FAMILIES for part in family.kinds.values()]


@dataclass(frozen=True)
class Shape(Part, family="shape"):
    """A family of this test alone."""


@dataclass(frozen=True, eq=False)
class Everything(Shape):
    """One parameter of every kind."""

    kind: ClassVar[str] = "everything"
    title: ClassVar[str] = "Everything"
    cells: Any = array("Cells", (1, 2))
    count: int = whole(3, "Count", least=1, most=9)
    size: float = number(0.5, "Size", least=0.0)
    shift: float = number(0.0, "Shift")
    share: float = number(1.0, "Share", least=1.0, most=2.5e9, hint="How much of it")
    on: bool = flag(False, "on")
    colour: str = choice("red", "Colour", {"red": "Red", "blue": "Blue"})
    places: tuple[int, ...] = wholes((), "Places")
    factors: tuple[float, ...] = numbers((1.0,), "Factors")
    marks: Any = array("Marks", (1,), flags=True, optional=True)

    def check(self) -> None:
        if self.count == 9 and self.on:
            raise ExperimentError("shape everything count", "less than 9 where it is on", "9")


CELLS = np.ones(2)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("count", 0, "a whole number from 1 to 9"),
        ("count", 10, "a whole number of at most 9"),
        ("count", 3.0, "a whole number from 1 to 9"),
        ("count", True, "a whole number from 1 to 9"),
        ("count", np.int64(3), "a whole number from 1 to 9"),
        ("size", -0.1, "a finite number, 0 or more"),
        ("size", "0.5", "a finite number, 0 or more"),
        ("size", True, "a finite number, 0 or more"),
        ("size", 1e300, "a finite number from 0 to 1e30"),
        ("share", 0.5, "a finite number from 1 to 2.5e9"),
        ("share", 1e10, "a finite number from 1 to 2.5e9"),
        ("share", 10**400, "a finite number from 1 to 2.5e9"),
        ("shift", -1e300, "a finite number from -1e30 to 1e30"),
        ("shift", 10**400, "a finite number from -1e30 to 1e30"),
        ("shift", float("nan"), "a finite number"),
        ("shift", float("inf"), "a finite number"),
        ("shift", None, "a finite number"),
        ("on", 1, "true or false"),
        ("colour", "green", "red or blue"),
        ("colour", ["red"], "red or blue"),
        ("colour", None, "red or blue"),
        ("places", [1], "a list, each a whole number, 0 or more"),
        ("places", (1, -1), "a list, each a whole number, 0 or more"),
        ("places", (1, 2.0), "a list, each a whole number, 0 or more"),
        ("factors", (1.0, float("inf")), "a list, each a finite number"),
        ("factors", (1.0, 1e300), "a list, each a finite number from -1e30 to 1e30"),
        ("factors", 1.0, "a list, each a finite number"),
    ],
)
def test_what_a_parameter_cannot_be_is_refused_in_words(name: str, value: Any, expected: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        Everything(CELLS, **{name: value})
    assert str(caught.value) == f"shape everything {name}: expected {expected}, received {value!r}"


@pytest.mark.parametrize("cells", [np.ones(()), np.ones((1, 1, 1)), np.ones(0), np.ones((2, 0))])
def test_an_array_has_the_axes_it_should_have(cells: Any) -> None:
    with pytest.raises(ExperimentError) as caught:
        Everything(cells)
    assert caught.value.expected == "an array of 1 or 2 axes, not empty"
    assert caught.value.received == f"shape {cells.shape}"


def test_what_goes_well_by_itself_may_not_go_together() -> None:
    Everything(CELLS, count=9)
    with pytest.raises(ExperimentError, match="less than 9 where it is on"):
        Everything(CELLS, count=9, on=True)


def test_arrays_are_its_own_and_read_only() -> None:
    cells, marks = np.ones((2, 2), np.float32), np.array([1, 0])
    part = Everything(cells, marks=marks)
    cells[0, 0] = marks[0] = 7
    assert (part.cells.dtype, part.marks.dtype) == (np.float64, np.bool_)
    assert part.cells.tolist() == [[1, 1], [1, 1]] and part.marks.tolist() == [True, False]
    assert [held is part.cells or held is part.marks for held in part.arrays()] == [True, True]
    for held in part.arrays():
        with pytest.raises(ValueError, match="read-only"):
            held[0] = 0
    assert len(list(Everything(CELLS).arrays())) == 1


def test_as_plain_values() -> None:
    plain = Everything(CELLS, places=(1, 2)).to_plain(lambda held: f"array {held.shape}")
    assert plain == {
        "kind": "everything",
        "cells": "array (2,)",
        "count": 3,
        "size": 0.5,
        "shift": 0.0,
        "share": 1.0,
        "on": False,
        "colour": "red",
        "places": [1, 2],
        "factors": [1.0],
        "marks": None,
    }


def test_a_family_knows_its_parts() -> None:
    assert Shape.of_kind("everything") is Everything
    assert Shape.kinds == {"everything": Everything}
    assert "everything" not in MaskRule.kinds
    with pytest.raises(ExperimentError, match="shape kind: expected everything, received 'circle'"):
        Shape.of_kind("circle")
    assert Everything.described("size").label == "Size"
    assert Everything.described("size").hint == ""
    assert Everything.described("share").hint == "How much of it (1 to 2.5e9)"
    with pytest.raises(ExperimentError, match=r"shape everything: expected parameters cells, count, .*, received 'x'"):
        Everything.described("x")
    with pytest.raises(ExperimentError, match=r"normaliser softmax: expected parameters \(none\), received 'x'"):
        Softmax.described("x")
    assert not Everything.can_start()
    assert Softmax.can_start()


@pytest.mark.parametrize("part", PARTS, ids=lambda part: f"{part.family}-{part.kind}")
def test_every_part_is_in_order(part: type[Part]) -> None:
    assert part.family and part.title and part.__doc__
    assert part.of_kind(part.kind) is part
    declared = dict(part.parameters())
    assert set(declared) == {f.name for f in fields(part)} - {"terms"}
    for name, parameter in declared.items():
        assert parameter.label, name
        default = next(f for f in fields(part) if f.name == name).default
        if parameter.kind != "array":
            assert parameter.refusal(default) is None, "a default is what is allowed"
    if part.can_start():
        made = part()
        assert made.to_plain(lambda held: held)["kind"] == part.kind
        made.check()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.family)
def test_titles_within_a_family_differ(family: type[Part]) -> None:
    titles = [part.title for part in family.kinds.values()]
    assert len(set(titles)) == len(titles) > 0


def test_whole_numbers_stay_below_what_an_index_can_be() -> None:
    declared: Parameter = whole(0, "n").metadata["parameter"]
    assert declared.refusal(2**31 - 1) is None
    assert declared.refusal(2**31) == "a whole number of at most 2147483647"
