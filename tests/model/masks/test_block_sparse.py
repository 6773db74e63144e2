"""Block-sparse: a query sees its own block and those near it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.masks import Columns
from attn_gui.model.masks.block_sparse import BlockSparse
from tests.model.masks.checking import Setting, check_rule, drawn, settings_of_masks


@given(st.builds(BlockSparse, st.integers(1, 4), st.integers(0, 3)), settings_of_masks())
def test_it_is_the_definition(rule: BlockSparse, at: Setting) -> None:
    check_rule(rule, at)


def test_blocks_on_the_diagonal_and_beside_it() -> None:
    assert drawn(BlockSparse(2), 5, 5) == "##... ##... ..##. ..##. ....#"
    assert drawn(BlockSparse(2, 1), 5, 5) == "####. ####. ##### ##### ..###"
    assert drawn(BlockSparse(3), 2, 5, offset=2) == "###.. ...##"


def test_its_range_is_whole_blocks() -> None:
    assert BlockSparse(4, 1).key_range(9, 9, Columns(20, 20)) == (4, 16)
