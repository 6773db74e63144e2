"""Exercise: an experiment with stages left blank, what is asked of them, and what has been answered so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.check import GivenTable, NotANumber, read_cell
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.recipe import WEIGHTS, Recipe
from attn_gui.model.sources import FromTokens
from attn_gui.model.stage_shape import computed_stages_of, stage_shape
from attn_gui.model.stages import STAGES
from attn_gui.model.table import Table

LEAST_DECIMALS, MOST_DECIMALS = 1, 6
MOST_TRIES = 99
LONGEST_STUDENT = 200
LONGEST_CELL = 40
# of one stage: more than anyone types
MOST_CELLS = 2_000
TALLY = "exercise"

# each stage that can be asked, with all that says the same of it, and the one that is made of it
_SAYING = {
    "Q": ("Q_projected", "Q"),
    "K": ("K_projected", "K"),
    "V": ("V",),
    "A": ("raw", "scaled", "capped", "A", "A_masked"),
    "N": ("N",),
    "output": ("head_output", "concat", "output"),
}
_MAKES = {"Q": "A", "K": "A", "V": "output", "A": "N", "N": "output"}
ASKABLE = tuple(_SAYING)


def hidden_by(blank: Iterable[str]) -> frozenset[str]:
    """The stages that reveal any of ``blank``: those themselves, and all that is made of them."""
    hidden: set[str] = set()
    for stage in blank:
        at: str | None = stage
        while at is not None:
            hidden.update(_SAYING[at])
            at = _MAKES.get(at)
    return frozenset(hidden)


@dataclass(frozen=True)
class Exercise:
    """What is asked of an experiment.

    asked: stages of ASKABLE, in the order of the computation; ``decimals`` is how exactly. tries: how many checks come
    before the answers may be shown, None where they never are. student: whose it is, "" where anybody's. recipe: how
    the student's numbers were drawn, None where all have the same. fingerprint: of the experiment as it was handed out.
    opened: what is asked and hidden no longer. answers: a table for each asked stage and head that has been begun.
    Raises ExperimentError.
    """

    asked: tuple[str, ...]
    decimals: int = 3
    tries: int | None = None
    student: str = ""
    recipe: Recipe | None = None
    fingerprint: str = ""
    opened: tuple[str, ...] = ()
    answers: tuple[GivenTable, ...] = ()

    def __post_init__(self) -> None:
        if not self.asked or tuple(s for s in ASKABLE if s in self.asked) != self.asked:
            raise ExperimentError("asked", f"some of {', '.join(ASKABLE)}, in this order", ", ".join(self.asked))
        if not LEAST_DECIMALS <= self.decimals <= MOST_DECIMALS:
            raise ExperimentError("decimals", f"{LEAST_DECIMALS} to {MOST_DECIMALS}", str(self.decimals))
        if self.tries is not None and not 1 <= self.tries <= MOST_TRIES:
            raise ExperimentError("tries", f"1 to {MOST_TRIES}, or null", str(self.tries))
        if len(self.student) > LONGEST_STUDENT:
            raise ExperimentError("student", f"at most {LONGEST_STUDENT} characters", str(len(self.student)))
        for stage in (*self.opened, *(table.stage for table in self.answers)):
            if stage not in self.asked:
                raise ExperimentError("answers", f"stages that are asked ({', '.join(self.asked)})", stage)
        if len({(table.stage, table.head) for table in self.answers}) < len(self.answers):
            raise ExperimentError("answers", "one table for each stage and head", "two")

    @property
    def blank(self) -> tuple[str, ...]:
        """What is asked and still hidden."""
        return tuple(stage for stage in self.asked if stage not in self.opened)

    @property
    def hidden(self) -> frozenset[str]:
        """The stages that are not to be seen."""
        return hidden_by(self.blank)

    def answer(self, experiment: Experiment, stage: str, head: int) -> GivenTable:
        """What has been typed for ``stage`` of ``head``, in the shape that the experiment gives it."""
        head = max(h for h in heads_of(experiment, stage) if h <= head)
        found = next((t for t in self.answers if (t.stage, t.head) == (stage, head)), GivenTable(stage, head, ()))
        return found.fitted(*stage_shape(experiment, stage))

    def with_answer(self, table: GivenTable) -> Exercise:
        """With ``table`` in place of what was typed for its stage and head."""
        others = [t for t in self.answers if (t.stage, t.head) != (table.stage, table.head)]
        kept = others if table.is_blank else [*others, table]
        return replace(self, answers=tuple(sorted(kept, key=lambda t: (ASKABLE.index(t.stage), str(t.head)))))

    def opening(self, stages: Iterable[str]) -> Exercise:
        """With ``stages`` hidden no longer."""
        opened = {*self.opened, *stages}
        return replace(self, opened=tuple(stage for stage in self.asked if stage in opened))

    def too_large(self, experiment: Experiment) -> str | None:
        """The first stage that is asked and has more cells than anyone types, as another number of tokens may make."""
        return next((stage for stage in self.asked if cells_of(experiment, stage) > MOST_CELLS), None)

    def tables(self, experiment: Experiment) -> tuple[GivenTable, ...]:
        """A table for every stage that is asked and every head, to be judged: each number as exact as is asked.

        What stands in cells that are not asked is left out.
        """
        return tuple(
            _to_judge(self.answer(experiment, stage, head), asked_cells(experiment, stage, head), self.decimals)
            for stage in self.asked
            for head in heads_of(experiment, stage)
        )


def heads_of(experiment: Experiment, stage: str) -> range:
    """The heads with a table of ``stage`` of their own: of query heads that share a key head, the first."""
    e = experiment
    if not STAGES[stage].per_head:
        return range(1)
    return range(0, e.heads, e.heads // e.kv_heads if stage in ("K", "V") else 1)


def asked_cells(experiment: Experiment, stage: str, head: int) -> NDArray[np.bool_]:
    """Which cells of ``stage`` are to be filled in, [rows, columns]: of scores and weights those that are allowed."""
    rows, columns = stage_shape(experiment, stage)
    if not STAGES[stage].square:
        return np.ones((rows, columns), bool)
    return experiment.allowed(slice(0, rows), slice(0, columns), head)


def cells_of(experiment: Experiment, stage: str) -> int:
    """How many cells the tables of ``stage`` have together."""
    rows, columns = stage_shape(experiment, stage)
    return rows * columns * len(heads_of(experiment, stage))


def _to_judge(table: GivenTable, asked: NDArray[np.bool_], decimals: int) -> GivenTable:
    """``table`` with zeros after numbers of fewer decimals: 0.2 is no answer where 0.223 is asked."""
    cells = [
        tuple(_padded(cell, decimals) if wanted else "" for cell, wanted in zip(row, flags, strict=True))
        for row, flags in zip(table.cells, asked.tolist(), strict=True)
    ]
    return replace(table, cells=tuple(cells))


def _padded(text: str, decimals: int) -> str:
    try:
        number = read_cell(text)
    except NotANumber:
        return text
    if number is None or number.decimals >= decimals or abs(number.value) == float("inf"):
        return text
    return f"{number.value:.{decimals}f}"


def askable(experiment: Experiment, drawn: Sequence[str] = ()) -> dict[str, str | None]:
    """Each stage of ASKABLE, with the reason why it cannot be asked of ``experiment``, or None.

    drawn: the tables that are drawn for each student, of :data:`~attn_gui.model.recipe.DRAWN`.
    """
    return {stage: _why_not(experiment, stage, drawn) for stage in ASKABLE}


def _why_not(e: Experiment, stage: str, drawn: Sequence[str]) -> str | None:
    if stage not in computed_stages_of(e):
        return "not there"
    if not isinstance(e.source, FromTokens) and stage in e.source.parts() and not (stage == "A" and e.scoring.biases):
        return "given"
    if stage in "QKV" and WEIGHTS not in drawn and _is_as_given(e, stage):
        return "as the tokens, by weights that are the identity"
    cells = cells_of(e, stage)
    return f"{cells:,} numbers to type; at most {MOST_CELLS:,}" if cells > MOST_CELLS else None


def _is_as_given(e: Experiment, stage: str) -> bool:
    """Whether ``stage`` holds the numbers of a token table as they are."""
    assert e.weights is not None
    if e.scoring.position.kind != "none" or (stage != "V" and (e.scoring.rotary or e.scoring.qk_norm)):
        return False
    matrix, bias = e.weights.get(f"W_{stage}"), e.weights.get(f"b_{stage}")
    return matrix is not None and _is_identity(matrix) and (bias is None or not bias.array().any())


def _is_identity(table: Table) -> bool:
    rows, columns = table.shape
    return rows == columns and all(table[r, c] == (r == c) for r in range(rows) for c in range(columns))


@dataclass(frozen=True)
class Tally:
    """What happened in an exercise that no undo takes back: how often it was checked, and whether answers were shown.

    last: which answers were checked last; the same ones checked again are no other try.
    """

    checks: int = 0
    last: str = ""
    shown: bool = False

    @classmethod
    def of(cls, view: Mapping[str, Any]) -> Tally:
        """From the view choices of a session, which may hold anything."""
        found = view.get(TALLY)
        at: Mapping[str, Any] = found if isinstance(found, dict) else {}
        checks, last = at.get("checks"), at.get("last")
        return cls(
            checks if type(checks) is int and 0 <= checks < 1 << 31 else 0,
            last if isinstance(last, str) else "",
            at.get("shown") is True,
        )

    def plain(self) -> dict[str, Any]:
        """As view choices keep it."""
        return {"checks": self.checks, "last": self.last, "shown": self.shown}

    def may_show(self, exercise: Exercise) -> bool:
        """Whether the answers may be shown by now."""
        return exercise.tries is not None and self.checks >= exercise.tries
