"""Small experiments are computed in one thread, whatever torch is set to; large ones in all of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from attn_gui.compute import attention
from attn_gui.compute import threads as module
from attn_gui.compute.threads import threads_for
from attn_gui.compute.trace import trace
from attn_gui.model.experiment import Experiment

E = Experiment.from_tokens("abcde", np.eye(5))


@pytest.fixture(autouse=True)
def three_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def test_a_small_experiment_gets_one_thread_and_the_rest_come_back() -> None:
    with threads_for(E):
        assert torch.get_num_threads() == 1
        with threads_for(E):
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 3


def test_a_large_one_gets_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHARED_CELLS", 25)
    with threads_for(E):
        assert torch.get_num_threads() == 3


def test_they_come_back_after_an_error() -> None:
    with pytest.raises(RuntimeError, match="no"), threads_for(E):
        raise RuntimeError("no")
    assert torch.get_num_threads() == 3


def test_what_is_computed_and_what_is_derived_run_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    raw_scores = attention.raw_scores

    def watched(*arguments: object, **options: object) -> torch.Tensor:
        seen.append(torch.get_num_threads())
        return raw_scores(*arguments, **options)

    monkeypatch.setattr(attention, "raw_scores", watched)
    trace(E).stage("raw", 0)
    assert seen == [1, 1]
