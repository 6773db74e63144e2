"""Tensors of torch that are views of what is stored: negated, conjugated, repeated. Torch says what they are."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
import torch

from attn_gui.files.checkpoint.opening import open_weights
from attn_gui.files.errors import FileError
from attn_gui.files.tensors.headless import Choices, session_from
from attn_gui.files.tensors.looking import open_file
from attn_gui.model.session import Session
from attn_gui.model.sources import GivenScores, GivenWeights

COMPLEX = torch.complex(torch.arange(6.0).reshape(2, 3) + 1, torch.arange(6.0).reshape(2, 3) - 8)
VIEWS: dict[str, Callable[[], torch.Tensor]] = {
    "negated": lambda: torch._neg_view(torch.arange(12.0).reshape(3, 4)),
    "negated, turned": lambda: torch._neg_view(torch.arange(12.0).reshape(3, 4)[1:].T),
    "negated 16 bits": lambda: torch._neg_view(torch.arange(4).bfloat16()),
    "negated whole numbers": lambda: torch._neg_view(torch.arange(4)),
    "negated, a parameter": lambda: torch.nn.Parameter(torch._neg_view(torch.ones(2, 2))),
    "conjugated": COMPLEX.conj,
    "conjugated and negated": lambda: torch._neg_view(COMPLEX.conj()),
    "the imaginary part of what is conjugated": lambda: COMPLEX.conj().imag,
    "expanded": lambda: torch.full((1, 1), 0.2).expand(5, 5),
    "expanded in one axis": lambda: torch.arange(6.0).reshape(2, 1, 3).expand(2, 4, 3),
    "expanded and negated": lambda: torch._neg_view(torch.ones(1)).expand(3, 3),
    "expanded of another type": lambda: torch.ones(1, dtype=torch.uint16).expand(3),
    "windows that overlap": lambda: torch.arange(6.0).unfold(0, 3, 1),
    "expanded to nothing": lambda: torch.ones(1, 1).expand(0, 3),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("mapped", [True, False])
def test_a_view_holds_what_torch_says(tmp_path: Path, name: str, mapped: bool) -> None:
    view = VIEWS[name]().detach()
    torch.save({"a": VIEWS[name]()}, tmp_path / "a.pt")
    (stored,) = open_file(tmp_path / "a.pt").tensors
    expected = view.resolve_conj().resolve_neg()
    found = stored.get(mapped)
    assert stored.dtype == str(view.dtype).removeprefix("torch.")
    assert not found.flags.writeable
    if view.dtype is torch.bfloat16:
        found, expected = found.astype(np.float32), expected.float()
    np.testing.assert_array_equal(found, expected.numpy())


def opened(path: Path) -> Session:
    steps = session_from(path, Choices())
    while True:
        try:
            next(steps)
        except StopIteration as end:
            made: Session = end.value
            return made


def test_a_negated_view_is_shown_with_its_sign(tmp_path: Path) -> None:
    torch.save({"scores": torch._neg_view(torch.arange(16.0).reshape(4, 4))}, tmp_path / "a.pt")
    source = opened(tmp_path / "a.pt").experiment.source
    assert isinstance(source, GivenScores)
    np.testing.assert_array_equal(source.A[0], -np.arange(16.0).reshape(4, 4))


def test_a_large_expanded_tensor_takes_no_memory(tmp_path: Path) -> None:
    torch.save({"attn": torch.full((1, 1), 1 / 20_000).expand(20_000, 20_000)}, tmp_path / "a.pt")
    tracemalloc.start()
    source = opened(tmp_path / "a.pt").experiment.source
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(source, GivenWeights)
    assert source.N.shape == (1, 20_000, 20_000)
    assert peak < 20_000_000


def test_many_large_expanded_tensors_are_refused(tmp_path: Path) -> None:
    one = torch.ones(1)
    torch.save({str(k): one.expand(20_000 + k, 20_000) for k in range(20)}, tmp_path / "a.pt")
    with pytest.raises(FileError, match="save it before it is expanded"):
        open_file(tmp_path / "a.pt")


def edited(path: Path, old: bytes, new: bytes) -> Path:
    """``path`` with its pickle changed."""
    data = io.BytesIO(path.read_bytes())
    with ZipFile(data) as before, ZipFile(path, "w") as after:
        for info in before.infolist():
            own = before.read(info)
            if info.filename.endswith("data.pkl"):
                assert old in own
                own = own.replace(old, new)
            after.writestr(info.filename, own)
    return path


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"neg", b"pos", "one with 'pos' besides"),
        (b"neg", b"conj", "damaged"),
        (b"FloatStorage", b"BoolStorage", "damaged"),
    ],
)
def test_what_else_is_kept_of_a_tensor_is_refused(tmp_path: Path, old: bytes, new: bytes, words: str) -> None:
    torch.save({"a": torch._neg_view(torch.ones(4))}, tmp_path / "a.pt")
    if old == b"neg":
        old, new = (b"X" + len(each).to_bytes(4, "little") + each for each in (old, new))
    with pytest.raises(FileError, match=words):
        open_file(edited(tmp_path / "a.pt", old, new))


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_weights_that_are_views(tmp_path: Path, kind: Any) -> None:
    state = {
        "q.weight": torch._neg_view(torch.arange(4.0, dtype=kind).reshape(2, 2)),
        "k.weight": torch.ones(1, 1, dtype=kind).expand(2, 2),
        "v.weight": torch.eye(2, dtype=kind),
    }
    torch.save(state, tmp_path / "a.pt")
    weights = open_weights(tmp_path / "a.pt", heads=1).weights
    # [out, in] becomes [in, out]
    np.testing.assert_array_equal(weights.W_Q.array(), [[0, -2], [-1, -3]])
    np.testing.assert_array_equal(weights.W_K.array(), np.ones((2, 2)))


@pytest.mark.parametrize("key", [1.5, -2, True, None, float("inf")])
def test_a_key_of_any_kind_becomes_a_name(tmp_path: Path, key: Any) -> None:
    torch.save({key: torch.full((2, 2), 0.5)}, tmp_path / "a.pt")
    (stored,) = open_file(tmp_path / "a.pt").tensors
    assert stored.key == str(key)
    assert isinstance(opened(tmp_path / "a.pt").named.experiment.source, GivenWeights)
