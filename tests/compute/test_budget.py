"""What a computation needs and may take, and refusal in words."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given

from attn_gui.compute import budget
from attn_gui.compute.dense import DenseStages
from attn_gui.compute.stream.trace import StreamedTrace
from attn_gui.compute.trace import DenseTrace, trace
from attn_gui.model.errors import TooLarge
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision
from tests.strategies import experiments


@given(experiments())
def test_what_is_needed_is_what_is_kept(e: Experiment) -> None:
    with torch.inference_mode():
        stages = DenseStages(e, "cpu")
        for block in stages.blocks:
            stages.compute_block(*block)
        stages.finish()
    inputs = stages._inputs
    kept = [inputs.Q, inputs.K, inputs.V, stages._a, stages._n, stages._head_output]
    if e.scoring.qk_norm is not None or e.scoring.rotary is not None:
        kept += [inputs._q_projected, inputs._k_projected]
    given = [*e.rule.arrays(), *(array for bias in e.scoring.biases for array in bias.arrays())]
    brought = [tensor for array, tensor in stages._indices._brought.values() if any(array is one for one in given)]
    assert len(brought) == len(given)
    output = e.heads * e.n_q * e.d_v * e.precision.bytes
    assert budget.needed(e) == sum(tensor.numel() * tensor.element_size() for tensor in kept + brought) + output


@pytest.fixture
def thousand() -> Experiment:
    return Experiment.from_tokens([f"t{i}" for i in range(1000)], np.ones((1000, 2)))


def test_more_than_there_is_is_refused_before_anything_is_computed(
    thousand: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "available", lambda device: 30_000)
    monkeypatch.setattr("attn_gui.compute.trace.DenseStages", None)
    monkeypatch.setattr("attn_gui.compute.trace.StreamedTrace", None)
    words = r"^Holding Q, K and V of 1 heads and 1000 x 1000 tokens needs 40 kB; 30 kB may be used$"
    with pytest.raises(TooLarge, match=words) as caught:
        trace(thousand)
    assert caught.value.needed == budget.needed(thousand) - 8_000_000
    assert caught.value.available == 30_000


def test_A_and_N_are_held_whole_where_half_of_what_may_be_used_holds_them(
    thousand: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    need = budget.needed(thousand)
    for have, held in ((2 * need, True), (2 * need - 2, False)):
        monkeypatch.setattr(budget, "available", lambda device, have=have: have)
        assert isinstance(trace(thousand), DenseTrace if held else StreamedTrace)
    assert isinstance(trace(thousand, memory=need), DenseTrace)
    monkeypatch.setattr(budget, "MOST", need - 1)
    monkeypatch.setattr(budget, "available", lambda device: 10 * need)
    assert isinstance(trace(thousand), StreamedTrace)
    assert isinstance(trace(thousand, memory=need - 1), StreamedTrace)


def test_lower_precision_needs_less() -> None:
    needs = [
        budget.needed(Experiment.from_tokens("abc", np.eye(3), precision=precision))
        for precision in (Precision.FLOAT64, Precision.FLOAT32, Precision.BFLOAT16, Precision.FLOAT16)
    ]
    assert needs == [8 * 63, 4 * 63, 2 * 63, 2 * 63]


def test_half_of_the_free_memory_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_free_memory", lambda: 1000)
    assert budget.available(torch.device("cpu")) == 500


def test_free_memory_is_a_sensible_number() -> None:
    assert 1 << 20 < budget.available(torch.device("cpu")) < 1 << 45


def test_an_image_of_an_impossible_size_names_the_gigabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_free_memory", lambda: 16_000_000_000)
    e = Experiment.from_tokens(["a"] * 60_000, np.ones((60_000, 1)))
    with pytest.raises(TooLarge, match=r"needs 28.8 GB; 8 GB may be used"):
        budget.check(e, torch.device("cpu"))
