"""What the rows and columns of a stage are called in files."""

from __future__ import annotations

from dataclasses import dataclass

from attn_gui.model.experiment import Experiment
from attn_gui.model.stage_shape import OF_KEYS, stage_shape, stages_of
from attn_gui.model.stages import STAGES

_LETTERS = {"Q_projected": "q", "K_projected": "k", "Q": "q", "K": "k", "V": "v", "head_output": "o", "output": "o"}


@dataclass(frozen=True)
class Layout:
    """A stage as a table: ``row_kind`` is ``query`` or ``key``, ``column_kind`` is ``key`` or ``dimension``.

    first: the places of the first row and the first column, from 0, where the table is a part of the stage.
    """

    row_kind: str
    column_kind: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    first: tuple[int, int] = (0, 0)

    @property
    def cells(self) -> int:
        return len(self.rows) * len(self.columns)


def layout(experiment: Experiment, stage: str) -> Layout:
    """The labels of ``stage``: tokens for queries and keys, names or numbered letters (o1, o2, ...) for dimensions."""
    queries, keys = experiment.tokens.tokens, experiment.keys.tokens
    if STAGES[stage].square:
        return Layout("query", "key", queries, keys)
    if stage in ("context", "context_in", "values"):
        keys = experiment.key_rows.tokens
    kind, rows = ("key", keys) if stage in OF_KEYS else ("query", queries)
    return Layout(kind, "dimension", rows, _dimensions(experiment, stage))


def distinct_stages_of(experiment: Experiment) -> tuple[str, ...]:
    """The stages of ``experiment`` without those that are the same array as a later one: nothing is written twice."""
    same = set()
    if not experiment.scoring.biases:
        same.add("capped")  # A adds nothing to it
    if experiment.scoring.softcap is None:
        same |= {"scaled"} if "capped" in same else {"capped"}
    if experiment.rule.kind == "none" and not experiment.painted:
        same.add("A_masked")
    if experiment.weights is None or experiment.weights.W_O is None:
        same.add("concat")
        if experiment.heads == 1:
            same.add("head_output")
    return tuple(name for name in stages_of(experiment) if name not in same)


def _dimensions(experiment: Experiment, stage: str) -> tuple[str, ...]:
    sequences = {"X": experiment.tokens, "X_in": experiment.tokens, "values": experiment.value_rows}
    if stage in (*sequences, "context", "context_in"):
        sequence = sequences.get(stage, experiment.key_rows)
        return tuple(sequence.dimension_name(index) for index in range(sequence.width))
    if stage == "concat":
        return tuple(f"head{h + 1}_o{i + 1}" for h in range(experiment.heads) for i in range(experiment.d_v))
    _, width = stage_shape(experiment, stage)
    return tuple(f"{_LETTERS[stage]}{index + 1}" for index in range(width))
