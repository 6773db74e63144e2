"""Comparing a computed stage with the numbers that were given, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from attn_gui.compute.diagnose.inputs import Block, Inputs
from attn_gui.compute.diagnose.levels import BITS, HALVES, on_grid
from attn_gui.compute.diagnose.state import State
from attn_gui.model.question import FORBIDS, Numbers, Question

T = torch.Tensor


@dataclass(frozen=True, eq=False)
class Pair:
    """What was given, what is computed, and how far they may lie apart; all [heads, rows, columns]."""

    found: T
    expected: T
    tolerance: T | float

    @property
    def difference(self) -> T:
        """|found - expected|; 0 for the same infinity and for two NaN, inf for NaN against a number."""
        apart = (self.found - self.expected).abs()
        same = (self.found == self.expected) | (torch.isnan(self.found) & torch.isnan(self.expected))
        # what stands for -inf in programs that avoid it
        same |= (self.expected == -torch.inf) & (self.found <= FORBIDS)
        return torch.where(same, 0.0, torch.where(torch.isnan(apart), torch.inf, apart))

    def verdict(self) -> Verdict:
        """The whole judgement, in one go."""
        difference = self.difference
        departing = difference > self.tolerance
        # many cells by a little count more than one by much: a wrong cell does not make a convention wrong
        misfit = torch.log1p(difference / self.tolerance).clamp(max=MOST)
        answers = torch.stack([departing.sum().to(misfit.dtype), misfit.mean(), difference.clamp(max=1e300).mean()])
        count, mean_misfit, mean = answers.tolist()
        return Verdict(difference.numel(), int(count), mean_misfit, mean)


MOST = 100.0


@dataclass(frozen=True)
class Verdict:
    """cells: how many were compared; departing: how many lie too far apart.

    misfit: 0 where all agree to the last bit; mean: of the differences.
    """

    cells: int
    departing: int
    misfit: float
    mean: float

    @property
    def agrees(self) -> bool:
        return not self.departing

    @classmethod
    def joined(cls, parts: Sequence[Verdict]) -> Verdict:
        """The verdict on several blocks of a stage together."""
        cells = sum(part.cells for part in parts)
        misfit, mean = (sum(getattr(part, of) * part.cells for part in parts) / cells for of in ("misfit", "mean"))
        return cls(cells, sum(part.departing for part in parts), misfit, mean)


class Theirs:
    """The given numbers on the device of a level, and the tolerances that it allows.

    Tolerances are those of NUMERICS for weights: 4 eps max(4, size) in float32, with ``size`` a bound on the scores,
    since a relative error of the scores is an absolute one of their exponentials. Scores and output follow from it.
    """

    def __init__(self, question: Question, inputs: Inputs) -> None:
        self._inputs = inputs
        self._question = question
        self._values: dict[str, tuple[T, T | None]] = {}
        self._rounds: dict[str, bool] = {}
        for name, numbers in question.given():
            self._keep(name, numbers)
        if question.joined and question.output is not None and self._is_of_heads(question.output):
            e = question.experiment
            apart = (e.n_q, e.heads, e.d_v)
            self._keep("output of heads", question.output.reshaped(apart, (1, 0, 2)))
            self._keep("output reshaped", question.output.reshaped((e.heads, e.n_q, e.d_v)))
        scores = question.scores
        # scores without any masked cell are those before the mask
        self.before_mask = scores is not None and not bool((scores.values <= FORBIDS).any())
        self._longest_V = _largest(inputs.V)
        self._W_O = 1.0 if inputs.W_O is None else float(inputs.W_O.abs().to(inputs.exact).sum(dim=0).amax())

    def compare(self, name: str, block: Block, state: State) -> Pair:
        """The pair of stage ``name``."""
        if name == "scores":
            return self._scores(block, state)
        if name == "weights":
            N = state.stage("N")
            N = N.to(self._inputs.exact).mean(dim=0, keepdim=True) if self._question.mean else N
            return self._pair("weights", block, N, self._of_weights(state))
        output = state.stage("output")
        output = output[None] if state.projected else output
        return self._pair(self._name_of_output(state), block, output, self._of_output(state))

    def tolerance(self, stage: str, state: State) -> float:
        """How far a computed stage may lie from the same stage of another convention, for both to count as one."""
        if stage in ("raw", "scaled", "A", "clear"):
            return self._of_scores(state)
        if stage == "N":
            return self._of_weights(state)
        if stage in ("head_output", "output"):
            return self._of_output(state)
        return 8 * self._inputs.level.eps * _largest(state.stage(stage))

    def _scores(self, block: Block, state: State) -> Pair:
        final = state.stage("A")
        if state.allowed is not None and not state.late and self.before_mask:
            final = state.stage("clear")
        return self._pair("scores", block, final, self._of_scores(state))

    def _pair(self, name: str, block: Block, expected: T, tolerance: float) -> Pair:
        found, half_unit = self._values[name]
        if self._rounds[name]:
            expected = expected.to(self._inputs.rounded)
        allowed: T | float = tolerance
        if half_unit is not None and self._inputs.level.printed:
            allowed = tolerance + block.cut(half_unit)
        return Pair(block.cut(found), expected.to(self._inputs.exact), allowed)

    def _of_scores(self, state: State) -> float:
        eps = self._inputs.level.eps
        if self._inputs.level.precision in HALVES:
            return 2 * eps * max(_largest(state.stage("A")), 1e-3)
        return 4 * eps * max(state.size, 1e-30)

    def _of_weights(self, state: State) -> float:
        eps = self._inputs.level.eps
        if self._inputs.level.precision in HALVES:
            return 4 * eps * max(1.0, _largest(state.stage("A")) / 8)
        return 4 * eps * max(4.0, state.size)

    def _of_output(self, state: State) -> float:
        gathered = (2 * self._of_weights(state) + 4 * self._inputs.level.eps) * max(self._longest_V, 1e-30)
        return gathered * self._W_O if state.projected else gathered

    def _name_of_output(self, state: State) -> str:
        if not self._question.joined or state.projected:
            return "output"
        return "output reshaped" if state.reshaped else "output of heads"

    def _is_of_heads(self, output: Numbers) -> bool:
        e = self._question.experiment
        return output.shape[1] == e.heads * e.d_v

    def _keep(self, name: str, numbers: Numbers) -> None:
        inputs = self._inputs
        values = numbers.values if numbers.values.ndim == 3 else numbers.values[None]
        half = numbers.half_unit
        half_unit = None if half is None else inputs.tensor(half if half.ndim == 3 else half[None])
        self._values[name] = inputs.tensor(values), half_unit
        level = inputs.level
        self._rounds[name] = level.precision in HALVES and on_grid(numbers.values, BITS[level.precision])


def _largest(values: T) -> float:
    """The largest finite magnitude."""
    finite = torch.where(torch.isfinite(values), values, 0.0).abs()
    return float(finite.amax())
