"""The steps of the scoring that are one part each."""

from __future__ import annotations

from dataclasses import replace

from attn_gui.model.experiment import Experiment
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.parts import Part
from attn_gui.model.positions import InputPosition
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.rotary import Rotary
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.views.scoring.part_group import PartGroup

# by the scaling, the parameters that it alone looks at
_OF_SCALING = {
    "factor": {"linear", "ntk", "yarn", "llama3"},
    "original_length": {"yarn", "llama3"},
    "fast": {"yarn"},
    "slow": {"yarn"},
    "high": {"llama3"},
    "low": {"llama3"},
}


class PositionGroup(PartGroup):
    """What is added to the embeddings."""

    title = "Positions on inputs"
    field = "position"
    family = InputPosition
    optional = False


class NormGroup(PartGroup):
    """What is done to queries and keys first."""

    title = "QK norm"
    field = "qk_norm"
    family = QKNorm


class RotaryGroup(PartGroup):
    """How queries and keys are turned."""

    title = "Rotary positions"
    field = "rotary"
    family = Rotary

    def hidden(self, part: Part) -> set[str]:
        if not isinstance(part, Frequencies):
            return set()
        return {name for name, scalings in _OF_SCALING.items() if part.scaling not in scalings}


class NormaliserGroup(PartGroup):
    """What makes weights of scores."""

    title = "Normaliser"
    field = "normaliser"
    family = Normaliser
    optional = False

    def changed(self, experiment: Experiment, part: Part | None) -> Experiment:
        assert isinstance(part, Normaliser)
        scoring = experiment.scoring
        sinks = scoring.sinks if part.sinks else None
        return replace(experiment, scoring=replace(scoring, normaliser=part, sinks=sinks))
