"""The mask on a device, block by block, is the mask of the experiment."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.compute.biasing import Biasing
from attn_gui.compute.indices import Indices
from attn_gui.compute.masking import Mask
from attn_gui.compute.trace import trace
from attn_gui.model.biases.additive import Additive
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, Imported, MaskRule, Padding, Term
from attn_gui.model.masks.document import Document
from attn_gui.model.masks.tree import Tree
from attn_gui.model.painted import Painted, Rectangle
from attn_gui.model.scoring import Scoring
from tests.reference import allowed_cells
from tests.strategies import experiments

CPU = torch.device("cpu")


@given(experiments(), st.data())
def test_torch_and_numpy_run_the_same_rule(e: Experiment, data: st.DataObject) -> None:
    expected = allowed_cells(e)  # [heads, n_q, n_k]
    mask = Mask(e, CPU, Indices(e, CPU))
    for _ in range(3):  # the last block is kept: asking for others in between must not mix them up
        top, left = data.draw(st.integers(0, e.n_q - 1)), data.draw(st.integers(0, e.n_k - 1))
        rows = slice(top, data.draw(st.integers(top + 1, e.n_q)))
        columns = slice(left, data.draw(st.integers(left + 1, e.n_k)))
        first = data.draw(st.integers(0, e.heads - 1))
        some = slice(first, data.draw(st.integers(first + 1, e.heads)))
        for _ in range(2):
            block = mask.allowed(some, rows, columns)
            assert len(block) == 1 or e.rule.per_head
            right = expected[some, rows, columns]
            assert np.array_equal(block.expand(right.shape).numpy(), right)
            for head in range(e.heads):
                assert np.array_equal(mask.of_head(head, rows, columns).numpy(), expected[head, rows, columns])
            assert np.array_equal(mask.of_head("mean", rows, columns).numpy(), expected.any(axis=0)[rows, columns])
        for head in range(e.heads):
            assert np.array_equal(e.allowed(rows, columns, head), expected[head, rows, columns])
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


@pytest.mark.parametrize("rule", [Padding(), Document(), Tree(), Imported(np.ones((2, 6, 6), bool))])
def test_what_was_brought_to_the_device_is_brought_once(rule: MaskRule) -> None:
    biases = (ALiBi(), RelativeBuckets(np.ones((8, 2))), Additive(np.ones((6, 6))))
    e = Experiment.from_tokens("abcdef", np.eye(6), heads=2, rule=rule, scoring=Scoring(biases=biases))
    indices = Indices(e, CPU)
    mask, biasing = Mask(e, CPU, indices), Biasing(e, indices)

    def look() -> int:
        for head in range(2):
            for row in range(6):
                mask.allowed(slice(head, head + 1), slice(row, row + 1), slice(0, 6))
                biasing.values(slice(head, head + 1), slice(row, row + 1), slice(0, e.n_k), torch.float32)
        return len(indices._brought)

    assert look() == look()


def test_each_head_has_a_mask_of_its_own_where_the_rule_has() -> None:
    rule = Combined((Term(Causal(), heads=(0,)), Term(Causal(), negated=True, heads=(2,))))
    e = Experiment.from_tokens(
        "ab", np.ones((2, 3)), heads=3, rule=rule, painted=Painted((Rectangle(0, 1, 0, 1, False),))
    )
    weights = trace(e).stage("N")
    assert weights[0].tolist() == [[0, 0], [0.5, 0.5]]
    assert weights[1].tolist() == [[0, 1], [0.5, 0.5]]
    assert weights[2].tolist() == [[0, 1], [0, 0]]
