"""The fixed grid of tiles that scores are computed on, so that a cell has one value whoever asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Grid:
    """Products are made of ``rows`` queries by ``keys`` keys; a pass sweeps over ``segment`` keys at a time.

    All are powers of two, and each divides the next.
    """

    rows: int
    keys: int
    segment: int

    def around(self, rows: slice, n_q: int) -> Iterator[slice]:
        """The rows of tiles that hold ``rows``, one slice for each."""
        for start in range(rows.start // self.rows * self.rows, rows.stop, self.rows):
            yield slice(start, min(start + self.rows, n_q))

    def parts(self, rows: slice, most: int) -> Iterator[slice]:
        """Whole rows of tiles that hold ``rows``, ``most`` queries at a time."""
        first, stop = rows.start // self.rows * self.rows, -(-rows.stop // self.rows) * self.rows
        for start in range(first, stop, most):
            yield slice(start, min(start + most, stop))

    def keys_around(self, keys: slice, n_k: int) -> slice:
        """Whole tiles of keys that hold ``keys``."""
        start = keys.start // self.keys * self.keys
        return slice(start, min(-(-keys.stop // self.keys) * self.keys, n_k))


# more queries at once would not fit the cache with a segment of keys, fewer are too little for each operation
CPU = Grid(512, 512, 2048)
# of windows, where products are alike: they need hardly more than is looked at
FINE = Grid(64, 64, 2048)
# enough work for each launch of a kernel
ACCELERATOR = Grid(1024, 1024, 8192)


def grid_for(device: torch.device) -> Grid:
    return CPU if device.type == "cpu" else ACCELERATOR
