"""check: verdicts on the tables that somebody made of the stages of a trace."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute.check.causes import Start, found_cause
from attn_gui.compute.check.chain import NEEDS, Chain, upstream
from attn_gui.compute.check.comparing import Cells, Comparing
from attn_gui.compute.check.remarks import remarks_on
from attn_gui.compute.check.setting import Setting
from attn_gui.compute.threads import threads_for
from attn_gui.model.check.checked import Carried, Checked
from attn_gui.model.check.limit import too_large
from attn_gui.model.check.table import GivenTable, Printed
from attn_gui.model.check.verdict import Verdict
from attn_gui.model.errors import HiddenStage
from attn_gui.model.experiment import Experiment
from attn_gui.model.question import FORBIDS
from attn_gui.model.stage_shape import computed_stages_of, stage_shape
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head, Trace

ORDER = {name: place for place, name in enumerate(STAGES)}


def check(trace: Trace, tables: Sequence[GivenTable]) -> tuple[Checked, ...]:
    """Verdicts on ``tables``, in their order, against the stages of ``trace``.

    Each cell is compared at its own printed decimals, and either rounding of a half is right. A later stage is judged
    against the right numbers and against what follows from the tables of earlier stages. What cannot be checked comes
    back with its ``fault``.
    """
    steps = check_steps(trace, tables)
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            results: tuple[Checked, ...] = finished.value
            return results


def check_steps(trace: Trace, tables: Sequence[GivenTable]) -> Generator[float, None, tuple[Checked, ...]]:
    """As :func:`check`, in short steps: yields the part done, 0 to 1."""
    e = trace.experiment
    results = {at: Checked.refused(t, t.name(e.heads), fault) for at, t in enumerate(tables) if (fault := _fault(e, t))}
    left = sorted((at for at in range(len(tables)) if at not in results), key=lambda at: ORDER[tables[at].stage])
    if left:
        with torch.inference_mode(), threads_for(e):
            checking = _Checking(trace)
        for done, at in enumerate(left):
            steps = checking.steps(tables[at])
            while True:
                # entered anew around each step: between steps the worker serves other jobs on the same thread
                try:
                    with torch.inference_mode(), threads_for(e):
                        next(steps)
                except StopIteration as finished:
                    results[at] = finished.value
                    break
                yield done / len(left)
    return tuple(results[at] for at in range(len(tables)))


@dataclass(frozen=True, eq=False)
class _Own:
    """A table that was checked. continued: the stages with the slip that explains it, before any rounding."""

    table: GivenTable
    name: str
    printed: Printed
    right: bool
    continued: Chain | None


class _Checking:
    """Checks tables in the order of the computation; what was checked before may carry its errors on."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._e = trace.experiment
        self._setting = Setting(trace.experiment)
        self._right = Chain(self._setting)
        self._own: list[_Own] = []

    def steps(self, table: GivenTable) -> Generator[float, None, Checked]:
        e, stage, head = self._e, table.stage, table.head
        name, printed = table.name(e.heads), table.printed()
        comparing = Comparing(printed, e.precision)
        exact = self._right.of(stage, head).numpy()
        right = comparing.fits(exact, _shown(self._trace, stage, head))
        if stage == "A":  # as the window draws it, or as it is before the mask
            right |= comparing.fits(self._right.of("A_masked", head).numpy())
        yield 0.0
        before = [own for own in self._own if self._matters(own.table, stage, head)]
        starts = self._starts(before, stage, head)
        carried_cells, start = self._carried(starts, stage, head, comparing, printed.answered & ~right)
        wrong = printed.answered & ~right & ~carried_cells
        found = None
        if wrong.any():
            first = start if start is not None else next((each for each in starts if each.own), None)
            tried = [Start(self._right), *([] if first is None else [first])]
            # scores with −∞ where masked are compared as such
            masked = stage == "A" and bool((printed.values <= FORBIDS).any())
            of = "A_masked" if masked else stage
            found = yield from found_cause(self._setting, of, head, tried, comparing, wrong)
        carried = None
        if start is not None and carried_cells.any():
            rounded = all(own.right for own in before if own.name in start.own)
            carried = Carried(start.own, rounded)
        all_right = bool((right | ~printed.answered).all())
        self._own.append(_Own(table, name, printed, all_right, None if found is None else found.chain))
        with np.errstate(invalid="ignore", over="ignore"):
            differences = printed.values - exact
        return Checked(
            table,
            name,
            _verdicts(printed.answered, right, carried_cells),
            differences,
            None if found is None else found.cause,
            carried,
            starts[0].own if starts else (),
            () if all_right else remarks_on(e, table, printed),
        )

    def _matters(self, table: GivenTable, stage: str, head: Head) -> bool:
        """Whether ``stage`` is computed from ``table``, which says something."""
        if table.is_blank or table.stage not in upstream(stage):
            return False
        if table.head == "mean":
            return self._e.heads == 1
        joined = head == "mean" or not STAGES[stage].per_head
        return joined or not STAGES[table.stage].per_head or table.head == head

    def _starts(self, before: Sequence[_Own], stage: str, head: Head) -> list[Start]:
        """What ``stage`` may follow from: tables before it as printed, the latest ones first, or before rounding."""
        starts: list[Start] = []
        for count in range(len(before), 0, -1):
            used = before[:count]
            names = tuple(own.name for own in used if own.table.stage in _nearest(stage, {o.table.stage for o in used}))
            if names not in [start.own for start in starts]:
                numbers = {self._place(own.table): own.printed.values for own in used}
                starts.append(Start(self._right.with_own(numbers), names))
        # what is worked out with more digits than were written down follows from them as well
        exact = {
            self._place(own.table): own.continued.of(own.table.stage, own.table.head).numpy()
            for own in before
            if own.continued is not None
        }
        rest = {self._place(own.table): own.printed.values for own in before if not own.right}
        if exact and starts:
            starts.append(Start(self._right.with_own({**rest, **exact}), starts[0].own))
        starts += [Start(own.continued, (own.name,)) for own in reversed(before) if own.continued is not None]
        return starts

    def _place(self, table: GivenTable) -> tuple[str, int | None]:
        if not STAGES[table.stage].per_head:
            return table.stage, None
        return table.stage, 0 if table.head == "mean" else table.head

    def _carried(
        self, starts: Sequence[Start], stage: str, head: Head, comparing: Comparing, left: Cells
    ) -> tuple[Cells, Start | None]:
        """Which of the cells ``left`` follow from earlier tables, and from what most of them do."""
        best, best_start = np.zeros_like(left), None
        for start in starts if left.any() else ():
            fits = left & comparing.fits(start.chain.of(stage, head).numpy())
            if fits.sum() > best.sum():
                best, best_start = fits, start
        return best, best_start


def _nearest(stage: str, own: set[str]) -> set[str]:
    """Which of the stages ``own`` come last on the ways to ``stage``."""
    found: set[str] = set()
    left = list(NEEDS[stage])
    while left:
        name = left.pop()
        if name in own:
            found.add(name)
        else:
            left += NEEDS[name]
    return found


def _shown(trace: Trace, stage: str, head: Head) -> NDArray[Any] | None:
    """A stage as the window shows it; None where it hides it."""
    try:
        if head == "mean":
            rows, columns = trace.matrix(stage, "mean").shape
            return trace.matrix(stage, "mean").block(slice(0, rows), slice(0, columns))
        return trace.stage(stage, head)
    except HiddenStage:
        return None


def _verdicts(answered: Cells, right: Cells, carried: Cells) -> NDArray[np.uint8]:
    verdicts = np.full(answered.shape, Verdict.WRONG, np.uint8)
    verdicts[carried] = Verdict.CARRIED
    verdicts[right] = Verdict.RIGHT
    verdicts[~answered] = Verdict.BLANK
    return verdicts


def _fault(e: Experiment, table: GivenTable) -> str:
    """Why ``table`` cannot be checked, or ""."""
    stage, head = table.stage, table.head
    if stage not in computed_stages_of(e):
        return f"This experiment has no stage {stage}"
    if head == "mean" and not STAGES[stage].square:
        return f"{stage} has no mean over the heads: choose one of them"
    if isinstance(head, int) and not 0 <= head < e.heads:
        return f"There is no head {head + 1}: there are {e.heads}"
    shape = stage_shape(e, stage)
    if table.shape != shape or any(len(row) != shape[1] for row in table.cells):
        return f"Expected {shape[0]} × {shape[1]} numbers for {stage}, received {table.shape[0]} × {table.shape[1]}"
    return too_large(e)
