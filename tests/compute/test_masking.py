"""The mask on a device, block by block, is the mask of the experiment."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.compute.indices import Indices
from attn_gui.compute.masking import Mask
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from tests.reference import allowed_cells
from tests.strategies import experiments

CPU = torch.device("cpu")


@given(experiments(), st.data())
def test_torch_and_numpy_run_the_same_rule(e: Experiment, data: st.DataObject) -> None:
    expected = allowed_cells(e)
    mask = Mask(e, CPU, Indices(e, CPU))
    for _ in range(3):  # the last block is kept: asking for others in between must not mix them up
        top, left = data.draw(st.integers(0, e.n_q - 1)), data.draw(st.integers(0, e.n_k - 1))
        rows = slice(top, data.draw(st.integers(top + 1, e.n_q)))
        columns = slice(left, data.draw(st.integers(left + 1, e.n_k)))
        for _ in range(2):
            assert np.array_equal(mask.of_head(0, rows, columns).numpy(), expected[rows, columns])
        assert np.array_equal(e.allowed(rows, columns), expected[rows, columns])
    assert expected.all() or not mask.everything


def test_a_mask_of_nothing_takes_no_memory() -> None:
    e = Experiment.from_tokens([f"t{i}" for i in range(500)], np.ones((500, 1)))
    block = Mask(e, CPU, Indices(e, CPU)).allowed(slice(0, 1), slice(0, 500), slice(0, 500))
    assert block.shape == (1, 500, 500)
    assert block.untyped_storage().nbytes() == 1


def test_large_blocks_are_not_kept() -> None:
    e = Experiment.from_tokens([f"t{i}" for i in range(2049)], np.ones((2049, 1)), rule=Causal())
    mask = Mask(e, CPU, Indices(e, CPU))
    head = slice(0, 1)
    small, large = slice(0, 4), slice(0, 2049)
    assert mask.allowed(head, small, large) is mask.allowed(head, small, large)
    assert mask.allowed(head, large, large) is not mask.allowed(head, large, large)
