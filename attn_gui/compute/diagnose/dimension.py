"""Dimension: one thing that programs do in different ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from attn_gui.compute.diagnose.inputs import Block
from attn_gui.compute.diagnose.state import State
from attn_gui.model.diagnosis import Choice

# the state after one more step; no choice is the standard
Step = Callable[[Block, State, Choice | None], State]


def always(block: Block, state: State) -> bool:
    return True


@dataclass(frozen=True)
class Dimension:
    """choices: those that are not the standard and make a difference for the sizes at hand.

    applies: whether they make one after what was chosen before. whole: the names of those that look at every query at
    once.
    """

    name: str
    step: Step
    choices: tuple[Choice, ...] = ()
    applies: Callable[[Block, State], bool] = always
    whole: frozenset[str] = frozenset()
