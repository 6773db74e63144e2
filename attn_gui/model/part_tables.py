"""The arrays of the scoring's parts as tables, from what the parts declare of them; and the sinks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from attn_gui.model.experiment import Experiment
from attn_gui.model.named_table import Axis, Called, NamedTable, always, as_array, as_table, named_head, numbered
from attn_gui.model.parts import Parameter, Part
from attn_gui.model.scoring import Scoring
from attn_gui.model.table import Floats, Table

FIELDS = ("position", "qk_norm", "rotary", "normaliser")
SINKS = "One more score in every row of a head; what it takes goes nowhere"

Put = Callable[[Any], Scoring]


def tables_of_scoring(experiment: Experiment) -> Iterator[NamedTable]:
    """A table for each array; a title that has occurred before gets a number."""
    seen: dict[str, int] = {}
    for table in _tables(experiment):
        count = seen[table.title] = seen.get(table.title, 0) + 1
        yield table if count == 1 else replace(table, title=f"{table.title} {count}")


def _tables(e: Experiment) -> Iterator[NamedTable]:
    scoring = e.scoring
    for place, bias in enumerate(scoring.biases):
        yield from _of_part(e, bias, f"bias {place + 1}", _put_bias(scoring, place))
    for field in FIELDS:
        part: Part | None = getattr(scoring, field)
        if part is not None:
            yield from _of_part(e, part, field, _put_part(scoring, field))
    if scoring.sinks is not None:

        def with_sinks(table: Table) -> Experiment:
            return replace(e, scoring=replace(scoring, sinks=tuple(table.array()[0].tolist())))

        sinks = Table.of([scoring.sinks])
        yield NamedTable("sinks", "Sinks", sinks, Axis(always("sink")), Axis(named_head), with_sinks, SINKS)


def _put_bias(scoring: Scoring, place: int) -> Put:
    before, after = scoring.biases[:place], scoring.biases[place + 1 :]
    return lambda bias: replace(scoring, biases=(*before, bias, *after))


def _put_part(scoring: Scoring, field: str) -> Put:
    def put(part: Any) -> Scoring:
        changes: dict[str, Any] = {field: part}
        return replace(scoring, **changes)

    return put


def _of_part(e: Experiment, part: Part, place: str, put: Put) -> Iterator[NamedTable]:
    """The arrays of ``part``; ``put`` gives the scoring with another part where it stands."""
    for name, parameter in part.parameters():
        array = getattr(part, name)
        if parameter.kind == "array" and not parameter.flags and array is not None:
            yield _of_array(e, part, f"{place} {name}", (name, parameter, array), put)


def _of_array(e: Experiment, part: Part, name: str, of: tuple[str, Parameter, Floats], put: Put) -> NamedTable:
    field, parameter, array = of

    def replaced(table: Table) -> Experiment:
        changes: dict[str, Any] = {field: as_array(table, array.shape)}
        return replace(e, scoring=put(replace(part, **changes)))

    down, across = ("", "", *parameter.counts)[-2:]
    called = always(parameter.label) if array.ndim == 1 else _called(e, part, down)
    rows = Axis(called, len(array) if array.ndim == 3 else 1)
    columns = Axis(_called(e, part, across))
    return NamedTable(name, parameter.label, as_table(array), rows, columns, replaced, parameter.hint)


def _called(e: Experiment, part: Part, counted: str) -> Called:
    """The names along an axis that counts ``counted``: in the part's own words, or in those of the experiment."""
    own = part.axis_names(counted)
    if own is not None:
        return own.__getitem__
    names: dict[str, Called] = {
        "query": e.tokens.tokens.__getitem__,
        "key": e.key_rows.tokens.__getitem__,
        "dimension": e.tokens.dimension_name,
        "head": named_head,
        # positions count from 0, as the position column does
        "position": lambda place: f"position {place}",
        "pair": lambda place: f"pair {place + 1}",
        "q": numbered("q"),
        "k": numbered("k"),
    }
    return names.get(counted, lambda place: str(place + 1))
