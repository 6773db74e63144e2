"""Counts in words."""

from __future__ import annotations

from attn_gui.model.counted import counted


def test_one_of_them_is_told_as_one() -> None:
    assert [counted(count, "head") for count in (0, 1, 2, 1200)] == ["0 heads", "1 head", "2 heads", "1,200 heads"]
    assert [counted(count, "query", "queries") for count in (1, 2)] == ["1 query", "2 queries"]
