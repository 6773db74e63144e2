"""Attention rollout: what of each input token reaches a token after several layers (Abnar and Zuidema 2020)."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import torch

from attn_gui.compute.budget import available
from attn_gui.compute.matrix import row_blocks
from attn_gui.model.errors import TooLarge
from attn_gui.model.table import Floats
from attn_gui.model.trace import Trace

# multiplications in one step, some 20 ms
STEP = 1 << 28


class Rollout:
    """The product of layers: ``R = Â_L ... Â_2 Â_1``, where ``Â = 0.5 N + 0.5 I`` with its rows divided by their sums.

    N is the mean over the heads of a layer. (Abnar and Zuidema 2020, equation 1; the half of I stands for the residual
    connection.) In float64. A query that may attend to nothing keeps what it has.
    """

    def __init__(self, n: int) -> None:
        """Of ``n`` tokens; raises TooLarge."""
        need, have = 3 * n * n * 8, available(torch.device("cpu"))
        if need > have:
            raise TooLarge(f"Attention rollout over {n} tokens", need, have)
        self.values: Floats = np.eye(n)  # [n, n]

    def add(self, trace: Trace) -> Generator[float, None, None]:
        """Multiply by the next layer up, in short steps: yields the part done, 0 to 1."""
        n = len(self.values)
        matrix, after = trace.matrix("N", "mean"), np.empty_like(self.values)
        few = max(1, STEP // (n * n))
        for block in row_blocks((n, n)):
            for start in range(block.start, block.stop, few):
                rows = slice(start, min(start + few, block.stop))
                mixed = 0.5 * matrix.block(rows, slice(0, n)).astype(np.float64)  # [rows, n]
                mixed[np.arange(len(mixed)), np.arange(rows.start, rows.stop)] += 0.5
                mixed /= mixed.sum(axis=1, keepdims=True)
                after[rows] = mixed @ self.values
                yield rows.stop / n
        self.values = after
