"""What every rule must do, against the definition cell by cell; and rules as pictures in text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from attn_gui.model.masks import Columns, MaskRule
from tests.reference import Places, rule_allows

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Setting:
    """Sizes, the length of the cache, and per-token columns as plain lists."""

    n_q: int
    n_k: int
    offset: int
    key: dict[str, list[Any]]
    query: dict[str, list[Any]]
    heads: int = 1

    @property
    def places(self) -> Places:
        return Places(self.n_q, self.n_k, self.offset, self.key, self.query)

    def columns(self, rule: MaskRule, heads: Any = 0) -> Columns:
        key, query = ({k: np.array(v) for k, v in of.items()} for of in (self.key, self.query))
        key |= rule.derived(key)
        return Columns(self.n_q, self.n_k, self.offset, key, query, heads)

    def torch_columns(self, rule: MaskRule) -> Columns:
        numpy = self.columns(rule)
        key, query = ({k: torch.tensor(v) for k, v in of.items()} for of in (numpy.key, numpy.query))
        every_head = torch.arange(self.heads)[:, None, None]
        return Columns(self.n_q, self.n_k, self.offset, key, query, every_head, torch.tensor)


@st.composite
def settings_of_masks(draw: st.DrawFn, heads: int = 1) -> Setting:
    n_q, n_k = draw(st.integers(1, 7)), draw(st.integers(1, 9))

    def each(values: st.SearchStrategy[Any], length: int) -> list[Any]:
        return draw(st.lists(values, min_size=length, max_size=length))

    segments = st.integers(0, 2)
    return Setting(
        n_q,
        n_k,
        draw(st.integers(0, n_k - 1)),
        {
            "pad": each(st.booleans(), n_k),
            "segment": each(segments, n_k),
            "parent": [draw(st.integers(-1, token - 1)) for token in range(n_k)],
        },
        {"segment": each(segments, n_q)},
        heads,
    )


def check_rule(rule: MaskRule, at: Setting) -> None:
    """numpy and torch run one rule, which is the definition; its range and its text tell the truth."""
    expected = np.array(
        [
            [[rule_allows(rule, i, j, at.places, head) for j in range(at.n_k)] for i in range(at.n_q)]
            for head in range(at.heads)
        ]
    )
    i, j = np.arange(at.n_q)[:, np.newaxis], np.arange(at.n_k)[np.newaxis, :]
    found = rule.allowed(i, j, at.columns(rule, np.arange(at.heads)[:, np.newaxis, np.newaxis]))
    assert found.dtype == np.bool_
    assert np.array_equal(np.broadcast_to(found, expected.shape), expected)
    for head in range(at.heads):
        alone = rule.allowed(i, j, at.columns(rule, head))
        assert np.array_equal(np.broadcast_to(alone, expected.shape[1:]), expected[head])
    there = rule.allowed(torch.tensor(i), torch.tensor(j), at.torch_columns(rule))
    assert there.dtype is torch.bool
    assert np.array_equal(there.expand(expected.shape).numpy(), expected)
    assert rule.per_head or (expected == expected[0]).all()
    _check_range(rule, at, expected)
    _check_expression(rule, at, expected)


def _check_range(rule: MaskRule, at: Setting, expected: Array) -> None:
    for first in range(at.n_q):
        for last in range(first, at.n_q):
            start, stop = rule.key_range(first, last, at.columns(rule))
            assert 0 <= start <= stop <= at.n_k
            outside = np.ones(at.n_k, bool)
            outside[start:stop] = False
            assert not expected[:, first : last + 1, outside].any()
            start, stop = rule.open_range(first, last, at.columns(rule))
            assert 0 <= start <= stop <= at.n_k
            assert expected[:, first : last + 1, start:stop].all()


def _check_expression(rule: MaskRule, at: Setting, expected: Array) -> None:
    text = rule.expression()
    if text is None:
        return
    names: dict[str, Any] = {"__builtins__": {}, "abs": abs, "n_q": at.n_q, "n_k": at.n_k, "offset": at.offset}
    names |= {"i": np.arange(at.n_q)[:, np.newaxis], "j": np.arange(at.n_k)[np.newaxis, :]}
    names |= {f"key_{name}": np.array(values) for name, values in at.key.items()}
    names |= {f"query_{name}": np.array(values) for name, values in at.query.items()}
    found = eval(text, names)
    assert found.dtype == np.bool_
    assert np.array_equal(np.broadcast_to(found, expected.shape), expected), text


def drawn(
    rule: MaskRule, n_q: int, n_k: int, offset: int = 0, *, head: int = 0, query: Any = None, **key: list[Any]
) -> str:
    """The pattern of ``rule``: a line a query, ``#`` where it may attend and ``.`` where not."""
    i, j = np.arange(n_q)[:, np.newaxis], np.arange(n_k)[np.newaxis, :]
    columns = Setting(n_q, n_k, offset, key, query or {}).columns(rule, head)
    cells = np.broadcast_to(rule.allowed(i, j, columns), (n_q, n_k))
    return " ".join("".join("#" if cell else "." for cell in row) for row in cells)
