"""Sequences packed one after another (cu_seqlens): tokens before heads, and ends that are not those of the tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.files.errors import FileError
from attn_gui.files.tensors.headless import Choices, described, session_from
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.checks import doubts, problems
from attn_gui.model.tensors.proposals import propose
from tests.files.tensors.writing import finished, looked, opened

WRONG = [
    ([0, 3, 9], "reach 9, and there are 10 tokens"),
    ([0, 3, 11], "reach 11, and there are 10 tokens"),
    ([3, 10], "begin with 3, and not with 0"),
    ([0, 5, 3, 10], "do not rise"),
    ([0, -1, 10], "are 0 or more, and one is -1"),
    ([[0, 3, 9]], "reach 9, and there are 10 tokens"),
    ([0.0, 3.0, 9.0], "reach 9, and there are 10 tokens"),
    ([0.0, 3.5, 10.0], "are whole numbers, and not all of these are"),
    ([0.0, 3.0, np.nan, 10.0], "are whole numbers, and not all of these are"),
]


def _ends(ends: Any) -> Any:
    """As programs keep them, unless they are handed over as other numbers."""
    array = np.array(ends)
    return array if array.dtype.kind == "f" else array.astype(np.int32)


def packed(path: Path, ends: Any, *shape: int, **more: Any) -> Path:
    q, k, v = np.random.default_rng(0).standard_normal((3, *shape)).astype(np.float32)
    np.savez(path, q=q, k=k, v=v, cu_seqlens=_ends(ends), **more)
    return path


@pytest.mark.parametrize(("ends", "said"), WRONG)
@pytest.mark.parametrize("shape", [(10, 4, 8), (10, 12, 64)])
def test_ends_that_are_not_those_of_the_tokens_are_told(tmp_path: Path, ends: Any, said: str, shape: Any) -> None:
    path = packed(tmp_path / "x.npz", ends, *shape)
    contents = looked(path)
    reading = propose(contents)
    assert reading.parts[0].axes == (Axis.QUERY, Axis.HEAD, Axis.SIZE)
    (problem,) = problems(contents, reading)
    assert said in problem.text and problem.part == 3
    assert problem.remedy is not None and not problems(contents, problem.remedy)
    without = opened(contents, problem.remedy).experiment
    assert (without.heads, without.n_q) == (shape[1], 10)
    assert any(said in line for line in finished(described(path, Choices())) if line.startswith("unclear: "))
    with pytest.raises(FileError, match=said):
        finished(session_from(path, Choices()))


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 40), st.integers(1, 16), st.integers(0, 3))
def test_packed_tokens_stand_before_the_heads_and_no_doubt_leads_to_a_fault(
    tmp_path_factory: pytest.TempPathFactory, tokens: int, heads: int, missing: int
) -> None:
    """Also where the ends are cut short, as long as they are nearer to the tokens than to the heads."""
    path = packed(tmp_path_factory.mktemp("packed") / "x.npz", [0, 1, max(1, tokens - missing)], tokens, heads, 8)
    contents = looked(path)
    reading = propose(contents)
    end = max(1, tokens - missing)
    if end == tokens and heads != tokens:
        assert reading.parts[0].axes == (Axis.QUERY, Axis.HEAD, Axis.SIZE)
    elif end != heads and abs(end - tokens) <= abs(end - heads):
        assert reading.parts[0].axes[0] is Axis.QUERY
    for doubt in doubts(contents, reading):
        assert doubt.remedy is None or problems(contents, reading) or not problems(contents, doubt.remedy), doubt.text


@pytest.mark.parametrize("kind", [int, float, np.float16])
def test_ends_that_fit_are_no_doubt(tmp_path: Path, kind: Any) -> None:
    contents = looked(packed(tmp_path / "x.npz", np.array([0, 3, 10], kind), 10, 4, 8))
    reading = propose(contents)
    assert not problems(contents, reading) and not doubts(contents, reading)
    assert opened(contents, reading).experiment.tokens.columns["segment"].tolist() == [0] * 3 + [1] * 7
    # heads first, where that alone is as many
    contents = looked(packed(tmp_path / "y.npz", [0, 3, 10], 4, 10, 8))
    reading = propose(contents)
    assert reading.parts[0].axes == (Axis.HEAD, Axis.QUERY, Axis.SIZE)
    assert not problems(contents, reading) and not doubts(contents, reading)


def test_the_places_of_tokens_are_no_ends(tmp_path: Path) -> None:
    q = np.ones((2, 5, 4), np.float32)
    np.savez(tmp_path / "x.npz", q=q, k=q, v=q, places=np.arange(5), lengths=np.array([0, 2, 5]))
    contents = looked(tmp_path / "x.npz")
    assert [part.role for part in propose(contents).parts[3:]] == [None, Role.SEQUENCES]


def test_queries_and_keys_lie_in_as_many_sequences(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    arrays = {
        name: random.standard_normal((n, 2, 4)).astype(np.float32) for name, n in (("q", 20), ("k", 30), ("v", 30))
    }
    ends = {"cu_seqlens_q": np.array([0, 5, 20], np.int32), "cu_seqlens_k": np.array([0, 10, 20, 30], np.int32)}
    np.savez(tmp_path / "a.npz", **arrays, **ends)
    contents = looked(tmp_path / "a.npz")
    texts = [problem.text for problem in problems(contents, propose(contents))]
    assert texts == [
        "Queries and keys lie in as many sequences: cu_seqlens_q of 2 sequences and cu_seqlens_k of 3 sequences"
    ]
