"""Numbers that an example states by how they were drawn: ``{"kind": "normal", "seed": 0, "shape": [5, 512]}``.

The generator is numpy's RandomState, whose stream numpy promises never to change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from attn_gui.files.places import Place
from attn_gui.model.initialise import INITIALISERS, initial_weights
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.weights import Weights

MAX_CELLS = 1 << 24


def embeddings(place: Place) -> Table | None:
    """The embeddings [n, d] that a recipe draws (standard normal), or None where ``place`` holds no recipe.

    A file whose arrays are members of their own, a session, holds none.
    """
    if place.members is not None or not isinstance(place.value, dict):
        return None
    at = place.keys(("kind", "seed", "shape"))
    at["kind"].one_of("normal")
    shape = tuple(side.whole() for side in at["shape"].elements())
    if len(shape) != 2 or min(shape) < 1:
        at["shape"].refuse("[rows, columns]")
    _check_size(at["shape"], shape[0] * shape[1])
    return Table.of(np.random.RandomState(_seed(at["seed"])).standard_normal(shape))


def weights(place: Place, tokens: TokenSequence, fields: dict[str, Any]) -> Weights:
    """The weights that ``{"kind": "random", "initialiser": .., "seed": .., "d_k": .., "d_v": ..}`` draws.

    ``fields`` are those of the Experiment, which decide the shapes.
    """
    at = place.keys(("kind", "initialiser", "seed", "d_k", "d_v"))
    context, heads, variant = fields["context"], fields["heads"], fields["variant"]
    d_context = context.width if variant.is_cross and context is not None else tokens.width
    d_k, d_v = at["d_k"].whole(), at["d_v"].whole()
    if min(heads, fields["kv_heads"], d_k, d_v) < 1:
        place.refuse("heads, kv_heads, d_k and d_v of 1 or more")
    _check_size(place, max(tokens.width, d_context) * max(heads, fields["kv_heads"]) * max(d_k, d_v))
    return initial_weights(
        at["initialiser"].one_of(*INITIALISERS),
        tokens.width,
        d_context,
        heads,
        seed=_seed(at["seed"]),
        multi_head=variant.is_multi_head,
        kv_heads=fields["kv_heads"],
        d_k=d_k,
        d_v=d_v,
    )


def _seed(place: Place) -> int:
    seed = place.whole()
    if not 0 <= seed < 1 << 32:
        place.refuse("a whole number from 0 to 4294967295")
    return seed


def _check_size(place: Place, cells: int) -> None:
    if cells > MAX_CELLS:
        place.refuse(f"at most {MAX_CELLS:,} numbers to draw")
