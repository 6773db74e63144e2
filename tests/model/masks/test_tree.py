"""Tree: a token sees itself, its ancestors and the cache."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from attn_gui.model.masks import Causal, Columns
from attn_gui.model.masks.tree import Tree
from tests.model.masks.checking import Setting, check_rule, drawn, settings_of_masks


@given(settings_of_masks())
def test_it_is_the_definition(at: Setting) -> None:
    check_rule(Tree(), at)


def test_branches_do_not_see_one_another() -> None:
    # 0 has the children 1 and 2; 3 is a child of 1
    assert drawn(Tree(), 4, 4, parent=[-1, 0, 0, 1]) == "#... ##.. #.#. ##.#"


def test_a_tree_without_branches_is_causal() -> None:
    assert drawn(Tree(), 5, 5, parent=[-1, 0, 1, 2, 3]) == drawn(Causal(), 5, 5)


def test_tokens_without_parents_see_themselves_alone() -> None:
    assert drawn(Tree(), 3, 3, parent=[-1, -1, -1]) == "#.. .#. ..#"


def test_everybody_sees_the_cache() -> None:
    assert drawn(Tree(), 3, 5, offset=2, parent=[-1, -1, -1, 2, 2]) == "###.. ####. ###.#"


def test_queries_beyond_the_keys_see_the_cache_alone() -> None:
    assert drawn(Tree(), 3, 2, offset=1, parent=[-1, -1]) == "## #. #."


def test_a_long_chain_is_causal() -> None:
    n = 3000  # deeper than Python calls go
    parents = np.arange(n) - 1
    i, j = np.arange(n)[:, np.newaxis], np.arange(n)[np.newaxis, :]
    columns = Columns(n, n, key=Tree().derived({"parent": parents}))
    assert np.array_equal(Tree().allowed(i, j, columns), np.tri(n, dtype=bool))
