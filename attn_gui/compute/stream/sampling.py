"""A first look at a stage that no pass goes over: sampled queries, brought down along the keys."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np
import torch

from attn_gui.compute.numbers import to_numpy
from attn_gui.compute.stream.overview import pool_by
from attn_gui.compute.stream.scores import Scores
from attn_gui.compute.stream.tiles import Tile
from attn_gui.model.trace import Head, Pooling


def sample_stage(
    scores: Scores, stage: str, head: Head, heads: Sequence[int], factors: tuple[int, int], how: Pooling
) -> Generator[float, None, Tile]:
    """One query for each block of ``factors``: values and mask, [blocks, blocks]; yields the part done, 0 to 1."""
    e, grid = scores.experiment, scores.grid
    f = factors[0]
    middle, count = min(f // 2, (e.n_q - 1) % f), -(-e.n_q // f)
    parts, masks = [], []
    for start in range(0, count, grid.rows):
        last = min(start + grid.rows, count) - 1
        rows = slice(middle + start * f, middle + last * f + 1, f)
        found: list[Tile] = []
        for k in range(0, e.n_k, max(grid.segment, factors[1])):
            keys = slice(k, min(k + max(grid.segment, factors[1]), e.n_k))
            with torch.inference_mode():
                blocks = [scores.block(h, rows, keys, stage).to(scores.working) for h in heads]
                values = (torch.stack(blocks).sum(0) / len(blocks)).to(scores.dtype).t()
                allowed = scores.mask.of_head(head, rows, keys).cpu().numpy()
            found.append(pool_by(to_numpy(values), allowed, (1, factors[1]), how))
            yield start / count
        parts.append(np.concatenate([values for values, _ in found], axis=1))
        masks.append(np.concatenate([allowed for _, allowed in found], axis=1))
    return np.concatenate(parts), np.concatenate(masks)
