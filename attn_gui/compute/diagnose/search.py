"""Search: conventions of so many changes, each prefix of the computation once for all that share it."""

from __future__ import annotations

from collections.abc import Collection, Generator
from dataclasses import dataclass

from attn_gui.compute.diagnose.comparing import Verdict
from attn_gui.compute.diagnose.dimension import Dimension
from attn_gui.compute.diagnose.inputs import Block
from attn_gui.compute.diagnose.levels import Level
from attn_gui.compute.diagnose.state import State
from attn_gui.compute.diagnose.trials import Chosen, Judged, Trials, dimensions_of
from attn_gui.model.diagnosis import Choice
from attn_gui.model.question import Question

# how many changes there may be with one that looks at every query at once, where the sample is not all of them
WHOLE_DEPTH = 2


@dataclass
class _Walk:
    """One pass over the tree: where it looks, what it leaves out, and what it has found.

    whole: only conventions that look at every query at once, where the sample is not all of them. most: how many
    changes may be made up to and with each step.
    """

    block: Block
    whole: bool
    most: list[int]
    known: Collection[frozenset[Choice]]
    found: list[Judged]


class Search(Trials):
    """Conventions at one level. ``tried`` counts those judged; ``nearest`` is the best that failed, if any did."""

    def __init__(self, question: Question, level: Level, device: str) -> None:
        super().__init__(question, level, device)
        # how many more changes can be made from each step on
        self._rooms = [
            sum(bool(each.choices) for each in dimensions_of(self.steps[at:])) for at in range(len(self.steps) + 1)
        ]
        self.tried = 0
        self.nearest: Judged | None = None
        self._verdicts: dict[tuple[bool, int, Chosen], Verdict] = {}
        self._least: dict[int, int] = {}  # changes that a given stage takes to be reproduced, by its step

    @property
    def reach(self) -> int:
        """How many changes there may be: as many as the level allows after the last stage that is settled."""
        settled = [least for stage, least in self._least.items() if stage + 1 < len(self.steps)]
        return self.level.depth + max(settled, default=0)

    def count(self, depth: int) -> int:
        """How many conventions there are of ``depth`` changes, at most."""
        counts = [1] + [0] * depth
        for dimension in self.dimensions:
            for changes in range(depth, 0, -1):
                counts[changes] += counts[changes - 1] * len(dimension.choices)
        return counts[depth]

    def at_depth(self, depth: int, known: Collection[frozenset[Choice]]) -> Generator[int, None, list[Judged]]:
        """The conventions of ``depth`` changes that reproduce the numbers, without those that hold a known one.

        Yields how many more were tried, 0 or 1.
        """
        most = self._limits(depth)
        walk = _Walk(self.sample, False, most, known, [])
        yield from self._descend(walk, 0, self._start(self.sample), (), (), depth)
        if not self.sample.has_every_row:
            if 0 < depth <= WHOLE_DEPTH and not self.left_out and any(each.whole for each in self.dimensions):
                whole = _Walk(self._wholes[0], True, most, known, walk.found)
                yield from self._descend(whole, 0, self._start(whole.block), (), (), depth)
            walk.found = yield from self._verified(walk.found)
        return walk.found

    def _descend(
        self, walk: _Walk, at: int, state: State, chosen: Chosen, verdicts: tuple[Verdict, ...], left: int
    ) -> Generator[int, None, None]:
        """Go on from step ``at`` with ``left`` changes to make."""
        if not left:
            if not walk.whole or any(map(self._is_whole, chosen)):
                yield from self._finish(walk, at, state, chosen, verdicts)
            return
        step = self.steps[at]
        if isinstance(step, str):
            with self.computing():
                verdict = self._verdict(walk, at, state, chosen, verdicts)
            yield 0
            if verdict.agrees and self._rooms[at + 1] >= left:
                yield from self._descend(walk, at + 1, state, chosen, (*verdicts, verdict), left)
            return
        if self._rooms[at + 1] >= left and not (walk.whole and self._is_last_whole(at, chosen)):
            with self.computing():
                after = step.step(walk.block, state, None)
            yield 0
            yield from self._descend(walk, at + 1, after, chosen, verdicts, left)
        for choice in self._choices(walk, at, state, chosen):
            with self.computing():
                after = step.step(walk.block, state, choice)
            yield 1
            yield from self._descend(walk, at + 1, after, (*chosen, choice), verdicts, left - 1)

    def _finish(
        self, walk: _Walk, at: int, state: State, chosen: Chosen, verdicts: tuple[Verdict, ...]
    ) -> Generator[int, None, None]:
        """Go on from step ``at`` with the standard alone."""
        for place in range(at, len(self.steps)):
            step = self.steps[place]
            if isinstance(step, Dimension):
                with self.computing():
                    state = step.step(walk.block, state, None)
                yield 0
                continue
            with self.computing():
                verdict = self._verdict(walk, place, state, chosen, verdicts)
            yield 0
            if not verdict.agrees:
                return
            verdicts = (*verdicts, verdict)
        self.tried += 1
        walk.found.append(Judged(chosen, verdicts))

    def _choices(self, walk: _Walk, at: int, state: State, chosen: Chosen) -> list[Choice]:
        """What may be chosen at step ``at`` besides the standard."""
        step = self.steps[at]
        assert isinstance(step, Dimension)
        if not step.choices or len(chosen) >= walk.most[at]:
            return []
        with self.computing():
            if not step.applies(walk.block, state):
                return []
        return [
            choice
            for choice in step.choices
            if (walk.block.has_every_row or choice.name not in step.whole)
            and not any(known.issubset((*chosen, choice)) for known in walk.known)
        ]

    def _verdict(self, walk: _Walk, at: int, state: State, chosen: Chosen, before: tuple[Verdict, ...]) -> Verdict:
        key = (walk.whole, at, chosen)
        if key not in self._verdicts:
            stage = self.steps[at]
            assert isinstance(stage, str)
            verdict = self._verdicts[key] = self.theirs.compare(stage, walk.block, state).verdict()
            if verdict.agrees:
                self._least[at] = min(len(chosen), self._least.get(at, len(chosen)))
            else:
                self.tried += 1
                self._miss(Judged(chosen, (*before, verdict)))
        return self._verdicts[key]

    def _limits(self, depth: int) -> list[int]:
        """How many changes may be made up to each step: beyond the level's depth, what settled the stages after it."""
        if depth <= self.level.depth:
            return [depth] * len(self.steps)
        return [
            min([least for stage, least in self._least.items() if stage > at], default=depth)
            for at in range(len(self.steps))
        ]

    def _miss(self, judged: Judged) -> None:
        if self.nearest is None or judged.rank < self.nearest.rank:
            self.nearest = judged

    def _verified(self, found: list[Judged]) -> Generator[int, None, list[Judged]]:
        """Those of ``found`` that hold for every query, and not just for the sample."""
        held = []
        for each in found:
            judged = yield from self._judged_on(self.blocks(each.chosen), each.chosen)
            if judged is not None and judged.agrees:
                held.append(judged)
            elif judged is not None:
                self._miss(judged)
        return held

    def _is_last_whole(self, at: int, chosen: Chosen) -> bool:
        """Whether step ``at`` is the last chance to look at every query at once, and nothing does so yet."""
        later = any(isinstance(step, Dimension) and step.whole for step in self.steps[at + 1 :])
        step = self.steps[at]
        here = isinstance(step, Dimension) and bool(step.whole)
        return here and not later and not any(map(self._is_whole, chosen))
