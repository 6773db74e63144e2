"""Parts as a person begins with them fit the experiment they are begun in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from attn_gui.compute.trace import trace
from attn_gui.model.biases import Bias
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import MaskRule
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.parts import Part
from attn_gui.model.positions import InputPosition
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.rotary import Rotary
from attn_gui.model.scoring import Scoring
from attn_gui.model.starting import choosable_parts, started
from tests.strategies import experiments

FAMILIES: list[type[Part]] = [Bias, InputPosition, Normaliser, QKNorm]


@given(experiments(sources=("tokens",)))
def test_every_part_that_is_offered_can_be_begun_with(e: Experiment) -> None:
    plain = replace(e, scoring=Scoring())
    for name, family in (("position", InputPosition), ("normaliser", Normaliser), ("qk_norm", QKNorm)):
        for kind in choosable_parts(family):
            changes: dict[str, Any] = {name: started(kind, plain)}
            if kind.kind == "learned" and e.present_keys.width != e.tokens.width:
                continue  # one table cannot be added to embeddings of two widths
            assert np.isfinite(trace(replace(plain, scoring=Scoring(**changes))).stage("N")).all()
    for kind in choosable_parts(Bias):
        changed = replace(plain, scoring=Scoring(biases=(started(kind, plain),)))
        assert trace(changed).stage("bias").shape == (e.heads, e.n_q, e.n_k)


@pytest.mark.parametrize("family", [*FAMILIES, Rotary, MaskRule])
def test_kinds_and_titles_are_their_own(family: type[Part]) -> None:
    kinds = list(family.kinds.values())
    assert len({part.title for part in kinds}) == len(kinds)
    assert all(part.kind == name for name, part in family.kinds.items())


def test_nothing_comes_first() -> None:
    assert choosable_parts(InputPosition)[0].kind == "none"
