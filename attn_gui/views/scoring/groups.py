"""The steps of the scoring that are one part each."""

from __future__ import annotations

from dataclasses import replace

from attn_gui.model.experiment import Experiment
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.parts import Part
from attn_gui.model.positions import InputPosition
from attn_gui.model.qk_norm import QKNorm
from attn_gui.views.scoring.part_group import PartGroup


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
