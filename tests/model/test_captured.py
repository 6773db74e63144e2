"""What a session says of the model that it was captured from is kept in its file, and damage to it is said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui import ExperimentError
from attn_gui.model.captured import CapturedModel

TEXTS = st.lists(st.text(max_size=5), max_size=3).map(tuple)


def rows(of: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(st.lists(of, max_size=4).map(tuple), max_size=3).map(tuple)


@given(
    st.builds(
        CapturedModel,
        path=st.text(max_size=5),
        architecture=st.text(max_size=5),
        implementation=st.sampled_from(["sdpa", "eager"]),
        texts=TEXTS,
        targets=TEXTS,
        ids=rows(st.integers(0, 1 << 31)),
        special=rows(st.booleans()),
        pad=rows(st.booleans()),
        target_ids=rows(st.integers(0, 1 << 31)),
        target_special=rows(st.booleans()),
        target_pad=rows(st.booleans()),
    )
)
@settings(max_examples=30)
def test_it_comes_back_from_json(model: CapturedModel) -> None:
    assert CapturedModel.from_plain(json.loads(json.dumps(model.to_plain()))) == model


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"path": 3}, "model path: expected text throughout, received 3"),
        ({"texts": "a"}, "model texts: expected a list, received str"),
        ({"texts": [1]}, "model texts: expected text throughout"),
        ({"ids": [[1, True]]}, "model ids: expected whole numbers throughout, received True"),
        ({"ids": [[1.0]]}, "model ids: expected whole numbers"),
        ({"pad": [3]}, "model pad: expected lists throughout"),
        ({"special": [[0]]}, "model special: expected true or false throughout"),
        ({"weights": []}, "model: expected the fields of a captured model, received weights"),
    ],
)
def test_damage_is_said(change: dict[str, Any], said: str) -> None:
    plain = CapturedModel("a", "b").to_plain()
    with pytest.raises(ExperimentError) as refused:
        CapturedModel.from_plain(plain | change)
    assert said in str(refused.value)


def test_path_and_architecture_are_needed() -> None:
    with pytest.raises(ExperimentError, match="no architecture"):
        CapturedModel.from_plain({"path": "a"})
