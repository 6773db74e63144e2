"""Matrices that exist whole: a window of one is drawn at once, and there is nothing to wait for."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.trace import Drawn, Pooling


class WholeMatrix:
    """What of a :class:`~attn_gui.model.trace.Matrix` follows from its windows."""

    def block(self, rows: slice, columns: slice) -> NDArray[Any]:
        raise NotImplementedError

    def allowed(self, rows: slice, columns: slice) -> NDArray[np.bool_]:
        raise NotImplementedError

    def pooled(
        self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        raise NotImplementedError

    def begun(self, how: Pooling) -> Generator[float, None, None]:
        yield from ()

    def drawn(self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling) -> Drawn:
        shape = rows.stop - rows.start, columns.stop - columns.start
        size = max(1, min(shape[0], out[0])), max(1, min(shape[1], out[1]))
        if size == shape:
            values, allowed = self.block(rows, columns), self.allowed(rows, columns)
        else:
            values, allowed = self.pooled(rows, columns, size, how)
        return Drawn(values, allowed, (rows.start, rows.stop), (columns.start, columns.stop), exact=size == shape)

    def refined(self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling) -> Generator[bool, None, None]:
        yield from ()
