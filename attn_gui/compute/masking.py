"""The mask of an experiment on a device, block by block."""

from __future__ import annotations

import torch

from attn_gui.compute.indices import Indices
from attn_gui.model.experiment import Experiment
from attn_gui.model.trace import Head

# a larger block is made anew each time, so that what is kept never comes near the size of A itself
KEPT_CELLS = 1 << 22


class Mask:
    """Answers for blocks of an experiment's mask without ever holding n x n.

    The last block is kept: heads may share one mask, and a picture looks at the same window several times.
    """

    def __init__(self, experiment: Experiment, device: torch.device, indices: Indices) -> None:
        self.everything = experiment.rule.kind == "none" and not experiment.painted
        self._experiment = experiment
        self._device = device
        self._indices = indices
        self._kept: tuple[tuple[slice, slice, slice, bool], torch.Tensor] | None = None

    def allowed(self, heads: slice, rows: slice, columns: slice, turned: bool = False) -> torch.Tensor:
        """Where queries ``rows`` may attend to keys ``columns``, bool, not to be changed.

        [heads, rows, columns], or [1, rows, columns] where all heads have the same mask. ``rows`` may have a step.
        turned: it lies in memory key by key, as what it is looked at beside does.
        """
        shape = (1, len(range(rows.start, rows.stop, rows.step or 1)), columns.stop - columns.start)
        if self.everything:
            return torch.ones((), dtype=torch.bool, device=self._device).expand(shape)
        rule = self._experiment.rule
        if not rule.per_head:
            heads = slice(0, 1)
        asked = heads, rows, columns, turned
        kept = self._kept  # another thread may put its own there
        if kept is not None and kept[0] == asked:
            return kept[1]
        i, j = (index.t() if turned else index for index in self._indices.grid(rows, columns))
        looked_at = self._indices.columns(heads)
        appended = j >= looked_at.n_k
        cells = rule.allowed(i, torch.where(appended, 0, j), looked_at) | appended
        block: torch.Tensor = cells.expand(heads.stop - heads.start, *cells.shape[-2:]).contiguous()
        if turned:
            block = block.transpose(1, 2)
        self._experiment.painted.apply(block, rows.start, columns.start, rows.step or 1)
        if block.numel() <= KEPT_CELLS:
            self._kept = asked, block
        return block

    def of_head(self, head: Head, rows: slice, columns: slice) -> torch.Tensor:
        """Of one head, or where any head may: [rows, columns], bool, not to be changed."""
        if head != "mean":
            return self.allowed(slice(head, head + 1), rows, columns)[0]
        everyone = self.allowed(slice(0, self._experiment.heads), rows, columns)
        return everyone[0] if len(everyone) == 1 else everyone.any(dim=0)
