"""The cache: keys that stand before the present ones and ask nothing, as in decoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from attn_gui.model.edits import moved_cells, moved_parts
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, MaskRule
from attn_gui.model.sources import FromTokens
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence


def most_past(experiment: Experiment) -> int:
    """How many tokens the cache can hold: all but one."""
    return experiment.offset + len(experiment.present_keys) - 1


def with_past(experiment: Experiment, count: int) -> Experiment:
    """With the first ``count`` keys as the cache; the others are the present.

    No key changes, and a causal mask stays one: it is aligned to the last key. In a self-attention the tokens of the
    cache no longer ask; where they come back, they ask again (given queries, which are no longer there, as zeros).
    """
    e = experiment
    if not 0 <= count <= most_past(e):
        raise ExperimentError("past", f"0 to {most_past(e)} tokens", str(count))
    if e.values is not None:
        raise ExperimentError("past", "none where values have embeddings of their own", str(count))
    if count == e.offset:
        return e
    everything = e.key_rows
    n = len(everything)
    fields: dict[str, Any] = {
        "past": _part(everything, range(count)) if count else None,
        "context" if e.variant.is_cross else "tokens": _part(everything, range(count, n)),
    }
    if e.variant.is_cross:
        return replace(e, **fields)
    queries: list[int | None] = [k - e.offset if k >= e.offset else None for k in range(count, n)]
    fields |= moved_cells(e, queries, list(range(n)))
    fields["rule"] = _up_to_the_last(fields.get("rule", e.rule))
    if not isinstance(e.source, FromTokens):
        fields["source"] = moved_parts(e.source, queries, None)
    return replace(e, **fields)


def _up_to_the_last(rule: MaskRule) -> MaskRule:
    """A causal rule counted from the first key would have the queries after a cache look at its beginning alone."""
    if isinstance(rule, Combined):
        return Combined(tuple(replace(term, rule=_up_to_the_last(term.rule)) for term in rule.terms))
    return replace(rule, alignment="bottom-right") if isinstance(rule, Causal) else rule


def _part(of: TokenSequence, rows: Sequence[int]) -> TokenSequence:
    embeddings = of.embeddings.rows(rows[0], rows[-1] + 1)
    columns = {name: values for name, values in of.rearranged(list(rows)).items() if name != "position"}
    if "position" in of.columns:
        columns["position"] = of.columns["position"][rows[0] : rows[-1] + 1]
    return TokenSequence(tuple(of.tokens[row] for row in rows), Table.of(embeddings), of.dimensions, columns)
