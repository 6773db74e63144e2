"""The mask of an experiment on a device, block by block."""

from __future__ import annotations

import torch

from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Columns


class Mask:
    """Answers for blocks of an experiment's mask without ever holding n x n."""

    def __init__(self, experiment: Experiment, device: torch.device) -> None:
        self.everything = experiment.rule.kind == "none" and not experiment.painted
        self._rule = experiment.rule
        self._painted = experiment.painted
        self._device = device
        pad = torch.tensor(experiment.keys.pad, device=device)  # [n_k]
        self._columns = Columns(experiment.n_q, experiment.n_k, {"pad": pad})

    def allowed(self, rows: slice, columns: slice) -> torch.Tensor:
        """Where queries ``rows`` may attend to keys ``columns``: [len(rows), len(columns)], bool."""
        i = torch.arange(rows.start, rows.stop, device=self._device)[:, None]
        j = torch.arange(columns.start, columns.stop, device=self._device)[None, :]
        block: torch.Tensor = self._rule.allowed(i, j, self._columns).expand(len(i), j.shape[1]).contiguous()
        self._painted.apply(block, rows.start, columns.start)
        return block
