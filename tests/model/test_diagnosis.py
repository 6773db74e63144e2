"""Diagnoses as they are read."""

from __future__ import annotations

from dataclasses import replace

from attn_gui.model.diagnosis import Choice, Convention, Departure, Diagnosis, Miss

SCALE = Choice("scale", "1", "no scale", "Dot products are used as they are.", "q @ k.T", 1.0)
MASK = Choice("mask", "inverted", "mask inverted", "True marks what a query may not attend to.", "")
DEPARTURE = Departure("N", 1, 2, 0, None, 0.25, 0.5)
MISS = Miss(Convention((SCALE,)), 0.25, 1, 50, DEPARTURE)


def test_titles() -> None:
    assert Convention().title == "the standard, with nothing changed"
    both = Convention((SCALE, MASK))
    assert both.title == "no scale, mask inverted"
    assert both.choice("mask") is MASK
    assert both.choice("rotary") is None
    other = Choice("scale", "1", SCALE.title, SCALE.meaning, SCALE.written, 2.0)
    assert other == SCALE  # what it sets is no part of it


def test_places_count_from_one() -> None:
    assert DEPARTURE.sentence == "weights, head 2, query 3, key 1: 0.25 where 0.5 was expected"
    assert Departure("output", None, 0, None, 3, 1.0, 2.0).place == "output, query 1, dimension 4"
    assert Departure("K", 0, None, 1, 2, 1.0, 2.0).place == "keys, head 1, key 2, dimension 3"


def test_headlines() -> None:
    def headline(matches: int, tried: int, *asked: str) -> str:
        return Diagnosis(asked, (Convention(),) * matches, None, None, tried).headline

    assert headline(1, 1, "output") == "One convention reproduces the output (the first that was tried)."
    assert headline(2, 1234, "scores", "weights") == "2 conventions reproduce the scores and weights (1,234 tried)."
    assert headline(0, 9, "scores", "weights", "output") == (
        "No convention reproduces the scores, weights and output (9 tried)."
    )


def test_the_report_of_a_match() -> None:
    diagnosis = Diagnosis(("weights",), (Convention((SCALE, MASK)), Convention()), DEPARTURE, None, 40, ("A note.",))
    assert str(diagnosis).splitlines() == [
        "2 conventions reproduce the weights (40 tried).",
        "1. no scale, mask inverted",
        "   Dot products are used as they are.",
        "   as in: q @ k.T",
        "   True marks what a query may not attend to.",
        "2. the standard, with nothing changed",
        "The standard first departs at weights, head 2, query 3, key 1: 0.25 where 0.5 was expected.",
        "- A note.",
    ]


def test_the_report_of_a_miss() -> None:
    lines = str(Diagnosis(("weights",), (), None, MISS, 40)).splitlines()
    assert lines[:3] == ["No convention reproduces the weights (40 tried).", "Nearest: no scale", f"   {SCALE.meaning}"]
    assert " ".join(lines[4:]) == (
        "First departs at weights, head 2, query 3, key 1: 0.25 where 0.5 was expected; "
        "1 of 50 cells departs, by up to 0.25."
    )
    assert max(map(len, lines)) <= 100


def test_where_most_cells_depart_nothing_is_near() -> None:
    assert MISS.label == "Nearest"
    assert replace(MISS, departing=26).label == "Nothing is near. Least far"
    lines = str(Diagnosis(("weights",), (), None, replace(MISS, departing=26), 40)).splitlines()
    assert lines[1] == "Nothing is near. Least far: no scale"
