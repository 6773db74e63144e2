"""Search: conventions of so many changes, each prefix of the computation once for all that share it."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from attn_gui.compute.diagnose.comparing import Pair, Theirs, Verdict
from attn_gui.compute.diagnose.dimension import Dimension
from attn_gui.compute.diagnose.dimensions import dimensions
from attn_gui.compute.diagnose.inputs import Block, Inputs
from attn_gui.compute.diagnose.levels import Level
from attn_gui.compute.diagnose.outputs import projects
from attn_gui.compute.diagnose.state import State
from attn_gui.compute.threads import threads_for
from attn_gui.model.diagnosis import Choice
from attn_gui.model.question import Question

# cells of A that each convention is tried on: of more, the first, the last and some queries between
SAMPLE_CELLS = 1 << 16
# what looks at every query at once is tried on some heads, with one other change at most; not on more than the second
WHOLE_CELLS = 1 << 18
MOST_WHOLE_CELLS = 1 << 22
WHOLE_DEPTH = 2

Chosen = tuple[Choice, ...]


@dataclass(frozen=True)
class Judged:
    """A convention as far as it was computed: a verdict for each given stage up to the first that it fails."""

    chosen: Chosen
    verdicts: tuple[Verdict, ...]

    @property
    def agrees(self) -> bool:
        return self.verdicts[-1].agrees

    @property
    def rank(self) -> tuple[int, float, int]:
        """The smaller, the nearer: more stages reproduced, then the smaller misfit, then fewer changes."""
        return -len(self.verdicts), self.verdicts[-1].misfit, len(self.chosen)

    @property
    def mean(self) -> float:
        """The mean difference, over the stages."""
        return sum(verdict.mean for verdict in self.verdicts)


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


class Search:
    """Conventions at one level. ``tried`` counts those judged; ``nearest`` is the best that failed, if any did."""

    def __init__(self, question: Question, level: Level, device: str) -> None:
        self.level = level
        self._experiment = question.experiment
        with self.computing():
            self.inputs = Inputs(question.experiment, level, device)
            self.theirs = Theirs(question, self.inputs)
            self.steps = dimensions(question, self.inputs)
        # how many more changes can be made from each step on
        self._rooms = [
            sum(bool(each.choices) for each in _dimensions(self.steps[at:])) for at in range(len(self.steps) + 1)
        ]
        self.tried = 0
        self.nearest: Judged | None = None
        self._verdicts: dict[tuple[bool, int, Chosen], Verdict] = {}
        self._least: dict[int, int] = {}  # changes that a given stage takes to be reproduced, by its step
        e = self._experiment
        self._rows = max(1, SAMPLE_CELLS // (e.heads * e.n_k))
        self.sample = Block(self.inputs, _spread(e.n_q, self._rows, self.inputs.device))
        self._wholes = self._whole_blocks(question)

    @property
    def dimensions(self) -> list[Dimension]:
        return _dimensions(self.steps)

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Entered around each step: between steps the thread may serve other jobs."""
        with torch.inference_mode(), threads_for(self._experiment):
            yield

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

    def at_depth(self, depth: int, known: Collection[frozenset[Choice]]) -> Generator[None, None, list[Judged]]:
        """The conventions of ``depth`` changes that reproduce the numbers, without those that hold a known one."""
        most = self._limits(depth)
        walk = _Walk(self.sample, False, most, known, [])
        yield from self._descend(walk, 0, self._start(self.sample), (), (), depth)
        if not self.sample.has_every_row:
            if 0 < depth <= WHOLE_DEPTH and not self.left_out and any(each.whole for each in self.dimensions):
                whole = _Walk(self._wholes[0], True, most, known, walk.found)
                yield from self._descend(whole, 0, self._start(whole.block), (), (), depth)
            walk.found = yield from self._verified(walk.found)
        return walk.found

    def state(self, chosen: Chosen, block: Block) -> State:
        """A convention computed to its end."""
        state = self._start(block)
        with self.computing():
            for dimension in self.dimensions:
                state = dimension.step(block, state, _of(dimension, chosen))
        return state

    def judged(self, chosen: Chosen) -> Generator[None, None, Judged | None]:
        """A convention compared in every cell, or as far as the sample where it fails there.

        None where one of its choices makes no difference.
        """
        judged = yield from self._judged_on([self.block_for(chosen)], chosen)
        if judged is not None and judged.agrees and not self.sample.has_every_row:
            judged = yield from self._judged_on(self.blocks(chosen), chosen)
        return judged

    def _judged_on(self, blocks: Iterable[Block], chosen: Chosen) -> Generator[None, None, Judged | None]:
        parts: list[list[Verdict]] = []
        for block in blocks:
            state, verdicts = self._start(block), []
            with self.computing():
                for step in self.steps:
                    if isinstance(step, str):
                        verdicts.append(self.theirs.compare(step, block, state).verdict())
                        continue
                    choice = _of(step, chosen)
                    if choice is not None and not step.applies(block, state):
                        return None
                    state = step.step(block, state, choice)
            parts.append(verdicts)
            yield
        together = [Verdict.joined(verdicts) for verdicts in zip(*parts, strict=True)]
        failed = next((at for at, verdict in enumerate(together) if not verdict.agrees), len(together) - 1)
        return Judged(chosen, tuple(together[: failed + 1]))

    def pairs(self, chosen: Chosen, at: int) -> Iterator[tuple[Block, State, Pair]]:
        """What was given and what is computed of the given stage number ``at``, block by block."""
        asked = [step for step in self.steps if isinstance(step, str)]
        for block in self.blocks(chosen):
            state = self.state(chosen, block)
            with self.computing():
                pair = self.theirs.compare(asked[at], block, state)
            yield block, state, pair

    def blocks(self, chosen: Chosen) -> Iterator[Block]:
        """Every query, in blocks that a convention can be computed in."""
        if self.sample.has_every_row:
            yield self.sample
        elif any(map(self._is_whole, chosen)):
            yield from self._wholes
        else:
            for rows in self._wholes[0].rows.split(4 * self._rows):
                yield Block(self.inputs, rows)

    def block_for(self, chosen: Chosen) -> Block:
        """The sample, or every query where a convention looks at all of them."""
        return self._wholes[0] if any(map(self._is_whole, chosen)) else self.sample

    @property
    def left_out(self) -> list[Choice]:
        """What is not tried since it would look at too many queries at once."""
        if self.sample.has_every_row or self._wholes[0].cells <= MOST_WHOLE_CELLS:
            return []
        return [choice for each in self.dimensions for choice in each.choices if choice.name in each.whole]

    def _whole_blocks(self, question: Question) -> list[Block]:
        """Every query, of as many heads as go together; of all of them where heads are not compared one by one."""
        e = self._experiment
        rows = torch.arange(e.n_q, device=self.inputs.device)
        together = question.mean or projects(question)
        heads = e.heads if together else max(1, WHOLE_CELLS // (e.n_q * e.n_k))
        return [Block(self.inputs, rows, slice(h, min(h + heads, e.heads))) for h in range(0, e.heads, heads)]

    def _start(self, block: Block) -> State:
        inputs = self.inputs
        with self.computing():
            return State(block.cut(inputs.Q), inputs.K, inputs.V)

    def _descend(
        self, walk: _Walk, at: int, state: State, chosen: Chosen, verdicts: tuple[Verdict, ...], left: int
    ) -> Generator[None, None, None]:
        """Go on from step ``at`` with ``left`` changes to make."""
        if not left:
            if not walk.whole or any(map(self._is_whole, chosen)):
                with self.computing():
                    self._finish(walk, at, state, chosen, verdicts)
            return
        step = self.steps[at]
        if isinstance(step, str):
            with self.computing():
                verdict = self._verdict(walk, at, state, chosen, verdicts)
            if verdict.agrees and self._rooms[at + 1] >= left:
                yield from self._descend(walk, at + 1, state, chosen, (*verdicts, verdict), left)
            return
        if self._rooms[at + 1] >= left and not (walk.whole and self._is_last_whole(at, chosen)):
            with self.computing():
                after = step.step(walk.block, state, None)
            yield from self._descend(walk, at + 1, after, chosen, verdicts, left)
        for choice in self._choices(walk, at, state, chosen):
            with self.computing():
                after = step.step(walk.block, state, choice)
            yield
            yield from self._descend(walk, at + 1, after, (*chosen, choice), verdicts, left - 1)

    def _finish(self, walk: _Walk, at: int, state: State, chosen: Chosen, verdicts: tuple[Verdict, ...]) -> None:
        """Go on from step ``at`` with the standard alone."""
        for place in range(at, len(self.steps)):
            step = self.steps[place]
            if isinstance(step, Dimension):
                state = step.step(walk.block, state, None)
                continue
            verdict = self._verdict(walk, place, state, chosen, verdicts)
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

    def _verified(self, found: list[Judged]) -> Generator[None, None, list[Judged]]:
        """Those of ``found`` that hold for every query, and not just for the sample."""
        held = []
        for each in found:
            judged = yield from self._judged_on(self.blocks(each.chosen), each.chosen)
            if judged is not None and judged.agrees:
                held.append(judged)
            elif judged is not None:
                self._miss(judged)
        return held

    def _is_whole(self, choice: Choice) -> bool:
        return any(choice.name in each.whole for each in self.dimensions if each.name == choice.dimension)

    def _is_last_whole(self, at: int, chosen: Chosen) -> bool:
        """Whether step ``at`` is the last chance to look at every query at once, and nothing does so yet."""
        later = any(isinstance(step, Dimension) and step.whole for step in self.steps[at + 1 :])
        step = self.steps[at]
        here = isinstance(step, Dimension) and bool(step.whole)
        return here and not later and not any(map(self._is_whole, chosen))


def _dimensions(steps: Sequence[Dimension | str]) -> list[Dimension]:
    return [step for step in steps if isinstance(step, Dimension)]


def _of(dimension: Dimension, chosen: Chosen) -> Choice | None:
    return next((choice for choice in chosen if choice.dimension == dimension.name), None)


def _spread(length: int, most: int, device: torch.device) -> torch.Tensor:
    """At most ``most`` of ``length`` indices in order: the first ones, the last ones, and some evenly between."""
    if length <= most:
        return torch.arange(length, device=device)
    ends = max(1, most // 4)
    between = torch.linspace(0, length - 1, max(1, most - 2 * ends), device=device).round().long()
    first, last = torch.arange(ends, device=device), torch.arange(length - ends, length, device=device)
    return torch.unique(torch.cat([first, between, last]))
