"""The mask of an experiment on a device, block by block."""

from __future__ import annotations

import torch

from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Columns

# a larger block is made anew each time, so that what is kept never comes near the size of A itself
KEPT_CELLS = 1 << 22


class Mask:
    """Answers for blocks of an experiment's mask without ever holding n x n.

    The last block is kept: the heads share one mask, and a picture looks at the same window several times.
    """

    def __init__(self, experiment: Experiment, device: torch.device) -> None:
        self.everything = experiment.rule.kind == "none" and not experiment.painted
        self._experiment = experiment
        self._device = device
        self._columns: Columns | None = None
        self._kept: tuple[slice, slice, torch.Tensor] | None = None

    def allowed(self, rows: slice, columns: slice) -> torch.Tensor:
        """Where queries ``rows`` may attend to keys ``columns``: [len(rows), len(columns)], bool, not to be changed."""
        height, width = rows.stop - rows.start, columns.stop - columns.start
        if self.everything:
            return torch.ones((), dtype=torch.bool, device=self._device).expand(height, width)
        if self._kept is not None and self._kept[:2] == (rows, columns):
            return self._kept[2]
        i = torch.arange(rows.start, rows.stop, device=self._device)[:, None]
        j = torch.arange(columns.start, columns.stop, device=self._device)[None, :]
        rule, painted = self._experiment.rule, self._experiment.painted
        block: torch.Tensor = rule.allowed(i, j, self._per_key()).expand(height, width).contiguous()
        painted.apply(block, rows.start, columns.start)
        if block.numel() <= KEPT_CELLS:
            self._kept = (rows, columns, block)
        return block

    def _per_key(self) -> Columns:
        if self._columns is None:
            e = self._experiment
            self._columns = Columns(e.n_q, e.n_k, {"pad": torch.tensor(e.keys.pad, device=self._device)})
        return self._columns
