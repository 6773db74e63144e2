"""Products that windows are cut out of: alike on this machine, or told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from attn_gui.compute.stream import alike as of
from attn_gui.compute.stream.alike import alike
from attn_gui.compute.stream.grid import CPU, FINE
from attn_gui.compute.stream.scores import Scores
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision

HERE, THERE = slice(70, 90), slice(513, 700)


@pytest.fixture(autouse=True)
def untried() -> Any:
    alike.cache_clear()
    yield
    alike.cache_clear()


def experiment(n: int, precision: Precision = Precision.FLOAT32) -> Experiment:
    X = np.random.default_rng(0).normal(size=(n, 8))
    return Experiment.from_tokens([f"t{k}" for k in range(n)], X, precision=precision)


def test_a_trial_leaves_the_threads_as_they_were() -> None:
    before = torch.get_num_threads()
    alike(8, torch.float32, CPU, before + 1)
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("narrow", [(FINE.rows, of.KEYS - FINE.keys), (of.ROWS - FINE.rows, FINE.keys)])
def test_a_product_that_is_made_in_another_way_is_noticed(
    narrow: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    multiply = torch.Tensor.__matmul__

    def otherwise(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        made = multiply(one, other)
        if tuple(made.shape) == narrow:
            made[-1, -1] = torch.nextafter(made[-1, -1], torch.tensor(torch.inf))
        return made

    monkeypatch.setattr(torch.Tensor, "__matmul__", otherwise)
    assert not alike(8, torch.float32, CPU, 1)


def test_the_sign_of_a_zero_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    multiply = torch.Tensor.__matmul__

    def otherwise(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        made = multiply(one, other)
        return torch.where(made == 0, -made, made)

    monkeypatch.setattr(torch.Tensor, "__matmul__", otherwise)
    assert not alike(8, torch.float32, CPU, 1)


def test_only_whole_tiles_of_plain_products_are_cut_finely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attn_gui.compute.stream.scores.alike", lambda *of: True)
    scores = Scores(experiment(1500), "cpu")
    assert scores.grid_within(HERE, THERE) == FINE
    assert scores.grid_within(HERE, slice(513, 1500)) == CPU
    assert scores.grid_within(slice(1270, 1281), THERE) == CPU
    assert Scores(experiment(1500, Precision.BFLOAT16), "cpu").grid_within(HERE, THERE) == CPU
    monkeypatch.setattr("attn_gui.compute.stream.scores.alike", lambda *of: False)
    assert scores.grid_within(HERE, THERE) == CPU
