"""Trials: conventions computed at one level, on a sample of the queries or on all of them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
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
# what looks at every query at once is tried on some heads; not on more than the second
WHOLE_CELLS = 1 << 18
MOST_WHOLE_CELLS = 1 << 22

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


class Trials:
    """Computes conventions at one level and compares them with what was given.

    steps: what there is to choose in the order of the computation, and the given stages between.
    """

    def __init__(self, question: Question, level: Level, device: str) -> None:
        self.level = level
        self._experiment = question.experiment
        with self.computing():
            self.inputs = Inputs(question.experiment, level, device)
            self.theirs = Theirs(question, self.inputs)
            self.steps = dimensions(question, self.inputs)
        e = self._experiment
        self._rows = max(1, SAMPLE_CELLS // (e.heads * e.n_k))
        self.sample = Block(self.inputs, self._sampled())
        self._wholes = self._whole_blocks(question)

    @property
    def dimensions(self) -> list[Dimension]:
        return dimensions_of(self.steps)

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Entered around each step: between steps the thread may serve other jobs."""
        with torch.inference_mode(), threads_for(self._experiment):
            yield

    def state(self, chosen: Chosen, block: Block) -> State:
        """A convention computed to its end."""
        state = self._start(block)
        with self.computing():
            for dimension in self.dimensions:
                state = dimension.step(block, state, _of(dimension, chosen))
        return state

    def judged(self, chosen: Chosen) -> Generator[int, None, Judged | None]:
        """A convention compared in every cell, or as far as the sample where it fails there.

        None where one of its choices makes no difference.
        """
        judged = yield from self._judged_on([self.block_for(chosen)], chosen)
        if judged is not None and judged.agrees and not self.sample.has_every_row:
            judged = yield from self._judged_on(self.blocks(chosen), chosen)
        return judged

    def _judged_on(self, blocks: Iterable[Block], chosen: Chosen) -> Generator[int, None, Judged | None]:
        parts: list[list[Verdict]] = []
        idle = set(chosen)
        for block in blocks:
            state, verdicts = self._start(block), []
            for step in self.steps:
                with self.computing():
                    if isinstance(step, str):
                        verdicts.append(self.theirs.compare(step, block, state).verdict())
                    else:
                        choice = _of(step, chosen)
                        if choice is not None and step.applies(block, state):
                            idle.discard(choice)
                        state = step.step(block, state, choice)
                yield 0
            parts.append(verdicts)
        if idle:
            return None
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

    def _sampled(self) -> torch.Tensor:
        """The queries of the sample; one that may attend to nothing is among them, since programs differ in those."""
        rows = _spread(self._experiment.n_q, self._rows, self.inputs.device)
        if self.inputs.allowed is None:
            return rows
        with self.computing():
            masked = torch.nonzero(~self.inputs.allowed.any(dim=-1).all(dim=0)).flatten()
            return torch.unique(torch.cat([rows, masked[:1]]))

    def _start(self, block: Block) -> State:
        inputs = self.inputs
        with self.computing():
            return State(block.cut(inputs.Q), inputs.K, inputs.V)

    def _is_whole(self, choice: Choice) -> bool:
        return any(choice.name in each.whole for each in self.dimensions if each.name == choice.dimension)


def dimensions_of(steps: Sequence[Dimension | str]) -> list[Dimension]:
    """What there is to choose in ``steps``."""
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
