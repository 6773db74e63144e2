"""Marks: what the verdicts on the tables of an exercise come to, stage by stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.check import Checked, Verdict
from attn_gui.model.exercise import Exercise, asked_cells, heads_of
from attn_gui.model.experiment import Experiment


@dataclass(frozen=True)
class Mark:
    """Cells of ``stage`` over all heads. cause: what is likely to lie behind those that are wrong, in words, or "".

    solved: whether every cell is right, or follows from right tables of one's own that are rounded.
    """

    stage: str
    right: int
    carried: int
    wrong: int
    blank: int
    cause: str
    solved: bool

    @property
    def cells(self) -> int:
        return self.right + self.carried + self.wrong + self.blank

    @property
    def words(self) -> str:
        """``A: 20 of 25 right, 3 wrong, 2 blank``."""
        counted = ((self.carried, "carried forward"), (self.wrong, "wrong"), (self.blank, "blank"))
        return ", ".join(
            [f"{self.stage}: {self.right} of {self.cells} right", *(f"{n} {word}" for n, word in counted if n)]
        )


def marks_of(exercise: Exercise, experiment: Experiment, results: Sequence[Checked]) -> tuple[Mark, ...]:
    """A mark for each stage that is asked; ``results`` are of the tables of ``exercise``, in their order."""
    marks, left = [], list(results)
    for stage in exercise.asked:
        heads = heads_of(experiment, stage)
        of_stage, left = left[: len(heads)], left[len(heads) :]
        verdicts = [_asked(found, asked_cells(experiment, stage, h)) for found, h in zip(of_stage, heads, strict=True)]
        counts = np.bincount(np.concatenate(verdicts), minlength=len(Verdict))
        right, carried, wrong, blank = (int(counts[v]) for v in (Verdict.RIGHT, Verdict.CARRIED, Verdict.WRONG, 0))
        causes = dict.fromkeys(found.cause.words for found in of_stage if found.cause is not None)
        rounded = all(found.carried is None or found.carried.rounded for found in of_stage)
        solved = not wrong and not blank and (not carried or rounded)
        marks.append(Mark(stage, right, carried, wrong, blank, "; ".join(causes), solved))
    return tuple(marks)


def _asked(found: Checked, asked: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """The verdicts on the cells that are asked, [cells]; a table that could not be checked is wrong where answered."""
    if found.verdicts.shape == asked.shape:
        return found.verdicts[asked]
    answered = found.table.printed().answered
    return np.where(answered, Verdict.WRONG, Verdict.BLANK).astype(np.uint8)[asked]
