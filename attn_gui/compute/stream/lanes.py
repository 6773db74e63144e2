"""Lanes: threads that compute side by side, each in one torch thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

import torch

T = TypeVar("T")
NAME = "attn-gui lane"


class Lanes:
    """As many as torch has threads on a CPU, one elsewhere.

    Operations on one block that fits a cache are too short to be shared out: torch's threads would wait for one
    another at the end of each. A block each does not, and its numbers do not hang on how many threads there are.
    """

    def __init__(self, device: torch.device) -> None:
        self.count = torch.get_num_threads() if device.type == "cpu" else 1

    def run(self, tasks: Sequence[Callable[[], T]]) -> list[T]:
        """The results of ``tasks``, in their order; the first error of any is raised once all have ended."""
        before = torch.get_num_threads()
        try:
            if self.count == 1 or len(tasks) <= 1:
                torch.set_num_threads(1)
                return [_alone(task) for task in tasks]
            futures = [_pool(self.count).submit(_alone, task) for task in tasks]
            errors = [error for future in futures if (error := future.exception()) is not None]
            if errors:
                raise errors[0]
            return [future.result() for future in futures]
        finally:
            # what a lane sets, threads begun later would take over
            torch.set_num_threads(before)


@cache
def _pool(count: int) -> ThreadPoolExecutor:
    """The threads, which are there for as long as the program is, as torch's own are."""
    return ThreadPoolExecutor(count, NAME, torch.set_num_threads, (1,))


def _alone(task: Callable[[], T]) -> T:
    with torch.inference_mode():
        return task()
