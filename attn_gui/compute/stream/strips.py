"""Strips: blocks of scores that were computed for few of their rows, kept for those that are read next."""

from __future__ import annotations

import threading
from collections import OrderedDict

import torch

from attn_gui.compute.stream.grid import Grid
from attn_gui.compute.stream.rooms import Room
from attn_gui.compute.stream.scores import Scores

# a row of tiles of 131,072 keys in float32, and some
LIMIT = 160 << 20

_Key = tuple[str, int, int, int, int, int]


class Strips:
    """Blocks by stage, head, row of tiles and keys, the latest LIMIT bytes of them."""

    def __init__(self, scores: Scores) -> None:
        self._scores = scores
        self._kept: OrderedDict[_Key, torch.Tensor] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def block(
        self, stage: str, head: int, tiles: slice, keys: slice, few: bool, grid: Grid, room: Room
    ) -> torch.Tensor:
        """As :meth:`Scores.block`, not to be changed; ``few``: only some of its rows are wanted now.

        What is not kept lies in ``room``.
        """
        key = (stage, head, tiles.start, tiles.stop, keys.start, keys.stop)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        if not few and self._scores.dtype is self._scores.working:
            wide, tall = keys.stop - keys.start, tiles.stop - tiles.start
            # where it makes no difference, keys of a query beside one another, as they are looked at
            fine = grid != self._scores.grid
            memory = room.tensor("scores", tall, wide).t() if fine else room.tensor("scores", wide, tall)
            return self._scores.block(head, tiles, keys, stage, memory, grid)
        made = self._scores.block(head, tiles, keys, stage, grid=grid)
        if few:
            with self._lock:
                self._kept[key] = made
                self._bytes += made.nbytes
                while self._bytes > LIMIT:
                    self._bytes -= self._kept.popitem(last=False)[1].nbytes
        return made
