"""Changes inside a model, kept in sessions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.files.intervention_json import KEY, from_session, to_plain
from attn_gui.model.captured import CapturedModel
from attn_gui.model.experiment import Experiment
from attn_gui.model.intervention import (
    Action,
    ChangeMask,
    ChangeTemperature,
    Forbid,
    ReplaceBy,
    Site,
    SwitchOff,
    experiment_at,
    site_of,
)
from attn_gui.model.layer_place import LayerPlace
from attn_gui.model.masks import Causal, SlidingWindow
from attn_gui.model.session import NamedExperiment, Session

MODULES = ("shared.attn", "shared.attn", "other.attn")


def session(*, model: bool = True) -> Session:
    """Two texts, three layers, of which two are runs of one module."""
    experiments = tuple(
        NamedExperiment(
            f"Layer {layer + 1}",
            Experiment.from_tokens("ab", np.eye(2)),
            place=LayerPlace(layer, module, batch=batch),
        )
        for batch in range(2)
        for layer, module in enumerate(MODULES)
    )
    return Session(experiments, model=CapturedModel("", "Tiny") if model else None)


counts = st.integers(0, 50)
changes = st.one_of(
    st.just(SwitchOff()),
    st.sampled_from([ReplaceBy("mean"), ReplaceBy("even")]),
    st.builds(Forbid, counts, counts),
    st.sampled_from([ChangeMask(Causal()), ChangeMask(SlidingWindow(window=3))]),
    st.builds(ChangeTemperature, st.floats(1e-3, 1e3)),
)
actions = st.builds(
    Action,
    st.lists(st.builds(Site, st.text(max_size=9), counts), min_size=1, max_size=3).map(tuple),
    changes,
    st.none() | st.lists(counts, max_size=3).map(tuple),
    st.none() | counts,
)


@settings(max_examples=30)
@given(st.lists(actions, max_size=4))
def test_they_come_back_as_they_were(given_actions: list[Action]) -> None:
    kept = replace(session(), view={KEY: json.loads(json.dumps(to_plain(given_actions)))})
    assert list(from_session(kept)) == given_actions


def test_what_the_window_shows_is_that_of_the_session() -> None:
    whole = session()
    shown = whole.experiments[4].experiment  # layer 2 of text 2
    action = Action((Site("shared.attn", 1),), ReplaceBy("shown", shown), (0,), 1)
    kept = replace(whole, view={KEY: to_plain([action])})
    assert from_session(kept) == (action,)
    gone = to_plain([replace(action, sites=(Site("shared.attn", 2),))])
    assert from_session(replace(whole, view={KEY: gone})) == ()


def test_layers_that_share_a_module_are_its_runs() -> None:
    whole = session()
    expected = [Site("shared.attn", 0), Site("shared.attn", 1), Site("other.attn", 0)]
    assert [site_of(whole, index) for index in range(6)] == expected * 2
    assert experiment_at(whole, Site("other.attn"), 1) == 5
    assert experiment_at(whole, Site("other.attn", 1), 0) is None
    alone = Session((NamedExperiment("Alone", whole.experiment),))
    assert site_of(alone, 0) is None


def test_without_a_model_nothing_is_changed() -> None:
    plain = to_plain([Action((Site("other.attn"),), SwitchOff(), (0,))])
    assert from_session(replace(session(model=False), view={KEY: plain})) == ()
    assert len(from_session(replace(session(), view={KEY: plain}))) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        7,
        [7],
        [{}],
        [{"sites": [], "heads": None, "text": None, "change": {"kind": "off"}}],
        [{"sites": [["a"]], "heads": None, "text": None, "change": {"kind": "off"}}],
        [{"sites": [["a", -1]], "heads": None, "text": None, "change": {"kind": "off"}}],
        [{"sites": [["a", 0]], "heads": [True], "text": None, "change": {"kind": "off"}}],
        [{"sites": [["a", 0]], "heads": None, "text": None, "change": {"kind": "burn"}}],
        [{"sites": [["a", 0]], "heads": None, "text": None, "change": {}}],
        [{"sites": [["a", 0]], "heads": None, "text": None, "change": {"kind": "forbid", "query": 1}}],
        [{"sites": [["a", 0]], "heads": None, "text": None, "change": {"kind": "temperature", "temperature": 0}}],
        [{"sites": [["a", 0]], "heads": None, "text": None, "change": {"kind": "mask", "rule": {"kind": "no"}}}],
        [{}] * 2000,
    ],
)
def test_what_is_not_sound_is_left_out(wrong: Any) -> None:
    assert from_session(replace(session(), view={KEY: wrong})) == ()


def test_what_is_sound_beside_it_stays() -> None:
    sound = to_plain([Action((Site("other.attn"),), SwitchOff())])
    assert len(from_session(replace(session(), view={KEY: [{}, *sound]}))) == 1
