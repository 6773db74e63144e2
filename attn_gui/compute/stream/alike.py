"""Whether a product has the same bits whatever it is cut out of, as this machine's library makes it."""

from __future__ import annotations

from functools import cache
from itertools import product

import torch

from attn_gui.compute.stream.grid import FINE, Grid

# of a trial
ROWS, KEYS = 1024, 1024


@cache
def alike(d_k: int, dtype: torch.dtype, grid: Grid, threads: int) -> bool:
    """Whether products that begin and end at multiples of FINE have the bits of the tiles of ``grid``.

    Libraries of linear algebra promise no such thing. With many it is so all the same: every cell is one sum over the
    same d_k products in the same order, unless a part is so narrow that it is made in another way. So it is tried, on
    random numbers: tiles, by one thread, against parts of all sizes, either way round, by one thread and by
    ``threads``.
    """
    random = torch.Generator().manual_seed(0)
    Q, K = (torch.randn(n, d_k, dtype=dtype, generator=random) for n in (ROWS, KEYS))
    Q[::5] = 0  # zeros have a sign
    tiled = torch.empty(KEYS, ROWS, dtype=dtype)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        for i, k in product(range(0, ROWS, grid.rows), range(0, KEYS, grid.keys)):
            rows, keys = slice(i, i + grid.rows), slice(k, k + grid.keys)
            torch.mm(K[keys], Q[rows].t(), out=tiled[keys, rows])
        for count, (rows, keys) in product({1, threads}, _parts()):
            torch.set_num_threads(count)
            expected = tiled[keys, rows]
            if not _same(Q[rows] @ K[keys].t(), expected.t()) or not _same(K[keys] @ Q[rows].t(), expected):
                return False
    finally:
        torch.set_num_threads(before)
    return True


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether all bits are the same."""
    bits = torch.int64 if one.dtype is torch.float64 else torch.int32
    return torch.equal(one.contiguous().view(bits), other.contiguous().view(bits))


def _parts() -> list[tuple[slice, slice]]:
    """Rows and keys, from nearly all to the fewest."""
    (most, some, least), keys = (
        [slice(unit, n), slice(unit, 4 * unit), slice(n - unit, n)]
        for n, unit in ((ROWS, FINE.rows), (KEYS, FINE.keys))
    )
    return [*((most, part) for part in keys), (some, keys[0]), (least, keys[0]), (least, keys[2])]
