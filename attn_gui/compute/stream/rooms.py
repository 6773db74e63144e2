"""Rooms: memory that scans work in, lent to one at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch


class Room:
    """Tensors by name. What one holds to begin with is left over from before."""

    def __init__(self, dtype: torch.dtype, device: torch.device) -> None:
        self._dtype, self._device = dtype, device
        self._held: dict[str, torch.Tensor] = {}

    def tensor(self, name: str, *shape: int) -> torch.Tensor:
        """Memory for ``shape``; until the same name is asked for again."""
        size = math.prod(shape)
        held = self._held.get(name)
        if held is None or len(held) < size:
            held = self._held[name] = torch.empty(size, dtype=self._dtype, device=self._device)
        return held[:size].view(shape)


class Rooms:
    """As many as there are scans at once.

    The pages of fresh memory are handed over by the system one by one when they are first written to, which takes
    longer than what a scan writes there.
    """

    def __init__(self, dtype: torch.dtype, device: torch.device) -> None:
        self._dtype, self._device = dtype, device
        self._free: list[Room] = []

    @contextmanager
    def lent(self) -> Iterator[Room]:
        # taking and giving back are one step each, also where several threads do
        try:
            room = self._free.pop()
        except IndexError:
            room = Room(self._dtype, self._device)
        try:
            yield room
        finally:
            self._free.append(room)


@cache
def rooms_for(dtype: torch.dtype, device: torch.device) -> Rooms:
    """Those that all sequences share: a few MB, there for as long as the program is."""
    return Rooms(dtype, device)
