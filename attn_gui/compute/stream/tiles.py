"""Tiles: parts of a matrix brought down to some level, kept while they may be looked at again."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

# cells along each side of what a tile covers: some milliseconds of work at any level
CELLS = 1024
LIMIT = 64 << 20

Tile = tuple[NDArray[Any], NDArray[np.bool_]]


class Tiles:
    """Values and mask of tiles by any key, the latest LIMIT bytes of them."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Any, ...], Tile] = OrderedDict()
        self._bytes = 0

    def get(self, key: tuple[Any, ...]) -> Tile | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, key: tuple[Any, ...], values: NDArray[Any], allowed: NDArray[np.bool_]) -> None:
        # views would keep the whole of what they were cut from
        tile = np.array(values), np.array(allowed)
        self._kept[key] = tile
        self._bytes += _size(tile)
        while self._bytes > LIMIT and len(self._kept) > 1:
            self._bytes -= _size(self._kept.popitem(last=False)[1])


def _size(tile: Tile) -> int:
    return tile[0].nbytes + tile[1].nbytes + 256  # the key and the objects
