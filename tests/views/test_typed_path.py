"""What a person types is a path, whatever it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attn_gui.views.typed_path import typed_path


def test_home_is_the_persons(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    assert typed_path("~/model") == tmp_path / "model"
    assert typed_path("~nobodyx/model") == Path("~nobodyx/model")


@given(st.text())
@example("\0")
def test_whatever_is_typed_is_a_path(text: str) -> None:
    assert isinstance(typed_path(text), Path)
    assert isinstance(typed_path("~" + text), Path)
