"""An exercise as JSON, beside the experiment that it asks about.

::

    {"asked": ["A", "N"], "decimals": 3, "tries": 3, "student": "..",
     "recipe": {"seed": "..", "drawn": ["embeddings"], "least": 0, "most": 20, "decimals": 1},
     "fingerprint": "..", "opened": [], "answers": [{"stage": "A", "head": 0, "cells": [["0.5", ""], ..]}]}

What is answered is kept as it was typed. The right answers are not there in any form: they are computed anew from the
numbers of the experiment.
"""

from __future__ import annotations

from typing import Any

from attn_gui.files.errors import FileError
from attn_gui.files.places import Place
from attn_gui.model.check import GivenTable
from attn_gui.model.errors import ExperimentError
from attn_gui.model.exercise import ASKABLE, LONGEST_CELL, MOST_CELLS, Exercise
from attn_gui.model.recipe import DRAWN, Recipe

RECIPE = ("seed", "drawn", "least", "most", "decimals")
MOST_TABLES = 1_000


def to_plain(exercise: Exercise) -> dict[str, Any]:
    """The exercise as values for :func:`~attn_gui.files.json_text.dumps`."""
    e, recipe = exercise, exercise.recipe
    return {
        "asked": list(e.asked),
        "decimals": e.decimals,
        "tries": e.tries,
        "student": e.student,
        "recipe": None if recipe is None else {name: _listed(getattr(recipe, name)) for name in RECIPE},
        "fingerprint": e.fingerprint,
        "opened": list(e.opened),
        "answers": [{"stage": t.stage, "head": t.head, "cells": [list(row) for row in t.cells]} for t in e.answers],
    }


def from_place(place: Place) -> Exercise:
    """The exercise that stands at ``place``; raises FileError naming the place of what is wrong."""
    at = place.keys(("asked",), ("decimals", "tries", "student", "recipe", "fingerprint", "opened", "answers"))
    fields: dict[str, Any] = {"asked": _words(at["asked"], ASKABLE)}
    given = {name: each for name, each in at.items() if each.value is not None}
    fields |= {name: given[name].whole() for name in ("decimals", "tries") if name in given}
    fields |= {name: given[name].text() for name in ("student", "fingerprint") if name in given}
    if "recipe" in given:
        fields["recipe"] = _recipe(given["recipe"])
    if "opened" in given:
        fields["opened"] = _words(given["opened"], ASKABLE)
    if "answers" in given:
        tables = given["answers"].elements()
        if len(tables) > MOST_TABLES:
            given["answers"].refuse(f"at most {MOST_TABLES:,} tables")
        fields["answers"] = tuple(_table(table) for table in tables)
    try:
        return Exercise(**fields)
    except ExperimentError as error:
        raise place.refused(error) from error


def _recipe(place: Place) -> Recipe:
    at = place.keys(RECIPE)
    try:
        return Recipe(
            at["seed"].text(),
            _words(at["drawn"], DRAWN),
            *(at[name].whole() for name in ("least", "most", "decimals")),
        )
    except ExperimentError as error:
        raise place.refused(error) from error


def _table(place: Place) -> GivenTable:
    at = place.keys(("stage", "head", "cells"))
    stage, head = at["stage"].one_of(*ASKABLE), at["head"].whole()
    rows = at["cells"].elements()
    cells = []
    for row in rows:
        cells.append(tuple(cell.text() for cell in row.elements()))
        longest = max(map(len, cells[-1]), default=0)
        if longest > LONGEST_CELL:
            raise FileError(place.path, row.where, f"cells of at most {LONGEST_CELL} characters", f"one of {longest:,}")
        if len(cells) * len(cells[0]) > MOST_CELLS or len(cells[-1]) != len(cells[0]):
            raise FileError(place.path, row.where, f"rows of one length, at most {MOST_CELLS:,} cells", "others")
    return GivenTable.of(stage, head, cells)


def _words(place: Place, possible: tuple[str, ...]) -> tuple[str, ...]:
    found = {each.one_of(*possible) for each in place.elements()}
    return tuple(word for word in possible if word in found)


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
