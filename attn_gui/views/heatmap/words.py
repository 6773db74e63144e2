"""What a heatmap says of a cell, of picked cells, and to a screen reader."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from attn_gui.model.answers import Reading, Sum
from attn_gui.model.experiment import Experiment
from attn_gui.model.picture import MASKED, Picture
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head
from attn_gui.views.figures import figure
from attn_gui.views.heatmap.labels import token_text
from attn_gui.views.masks.words import forbidden_by


class Sentence(NamedTuple):
    """What is said, and where there is little room the same with parts left out, the fewest first."""

    full: str
    shorter: tuple[str, ...] = ()


_NOUNS = {"N": "weight", "A": "score", "A_masked": "score", "raw": "dot product", "scaled": "scaled score"}


def noun(stage: str) -> str:
    """What one number of ``stage`` is called."""
    return _NOUNS.get(stage, f"value of {STAGES[stage].what}")


def head_name(head: Head) -> str:
    return "mean over heads" if head == "mean" else f"head {head + 1}"


def pictured(picture: Picture | None, i: int, j: int) -> tuple[float, bool] | None:
    """The value at (i, j) and whether it is allowed, if ``picture`` shows that very cell."""
    if picture is None or not picture.exact:
        return None
    (top, bottom), (left, right) = picture.request.rows, picture.request.columns
    if not (top <= i < bottom and left <= j < right):
        return None
    return float(picture.values[i - top, j - left]), int(picture.index[i - top, j - left]) != MASKED


def read(reading: Reading, stage: str) -> tuple[float, bool]:
    """The value of ``stage`` that ``reading`` tells, and whether the mask allows the cell."""
    by_stage = {"N": reading.N, "raw": reading.raw, "scaled": reading.scaled}
    return by_stage.get(stage, reading.A), reading.allowed


def cell_sentence(
    experiment: Experiment,
    cell: tuple[int, int],
    found: tuple[float, bool] | None,
    reading: Reading | None,
    decimals: int,
) -> Sentence:
    """The read-out of a cell: ``query is → key the: 0.2226``, ``...: masked by “Causal”; its score would be 0.7071``.

    ``found`` is its value and whether it is allowed, None while that is not known; ``reading`` tells of a masked cell
    by what and the score that it would have, None while that is not known.
    """
    query, key = _tokens(experiment, cell)
    where, there = f"query {query} → key {key}: ", f"{query} → {key}: "
    if found is None:
        told = "…"
    else:
        value, allowed = found
        told = figure(value, decimals) if allowed else "masked"
        if not allowed and reading is not None:
            by = f"{told} {forbidden_by(reading.because)}"
            longer = f"{by}; its score would be {figure(reading.A, decimals)}"
            return Sentence(where + longer, (there + longer, there + by, by, there + told, told))
    return Sentence(where + told, (there + told, told))


def cell_description(
    experiment: Experiment,
    stage: str,
    head: Head,
    cell: tuple[int, int],
    found: tuple[float, bool] | None,
    decimals: int,
) -> str:
    """The cell for a screen reader: ``query is, key the, head 1, weight 0.2226, allowed``."""
    query, key = _tokens(experiment, cell)
    parts = [f"query {query}", f"key {key}", head_name(head)]
    if found is not None:
        value, allowed = found
        parts += [f"{noun(stage)} {figure(value, decimals)}"] if allowed or stage == "N" else []
        parts += ["allowed" if allowed else "masked"]
    return ", ".join(parts)


def sum_sentence(experiment: Experiment, answer: Sum, decimals: int) -> Sentence:
    """The read-out of picked tokens, labelled as a sum: ``sum over 3 keys for 'is': 0.5612``."""
    queries = [i for i in answer.ask.queries if i < experiment.n_q]
    keys = [j for j in answer.ask.keys if j < experiment.n_k]
    if len(queries) == 1:
        over = f"{_counted(keys, 'key')} for '{token_text(experiment.tokens.tokens[queries[0]])}'"
    elif len(keys) == 1:
        over = f"{_counted(queries, 'query')} for key '{key_name(experiment, keys[0])}'"
    else:
        over = f"{_counted(queries, 'query')} × {_counted(keys, 'key')}"
    total = figure(answer.total, decimals)
    told = f"sum over {over}: {total}"
    shorter = (told, f"sum: {total}")
    return Sentence(f"{told} ({answer.masked} masked left out)", shorter) if answer.masked else Sentence(told, shorter)


def key_name(experiment: Experiment, j: int) -> str:
    """Key ``j`` by its name, and whether it is of the cache or no token's: ``the (cache)``."""
    name = token_text(experiment.keys.tokens[j])
    if j < experiment.offset:
        return f"{name} (cache)"
    return f"{name} (appended)" if j >= experiment.n_k - len(experiment.appended) else name


def _tokens(experiment: Experiment, cell: tuple[int, int]) -> tuple[str, str]:
    return token_text(experiment.tokens.tokens[cell[0]]), key_name(experiment, cell[1])


def _counted(items: Collection[int], one: str) -> str:
    many = "queries" if one == "query" else f"{one}s"
    return f"{len(items)} {one if len(items) == 1 else many}"
