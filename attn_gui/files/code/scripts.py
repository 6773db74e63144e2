"""Scripts that rebuild an experiment and print what it gives."""

from __future__ import annotations

from attn_gui.files.code import multihead, steps
from attn_gui.files.code.page import Script
from attn_gui.model.dialects import NUMPY, TORCH
from attn_gui.model.experiment import Experiment

DECIMALS = 4


def pytorch_script(experiment: Experiment, beside: str | None = None, decimals: int = DECIMALS) -> Script:
    """A standalone script that computes ``experiment`` in PyTorch and prints N and the output.

    nn.MultiheadAttention where it computes the same, plain tensors step by step otherwise. beside: the name of an
    ``.npz`` file next to the script for numbers beyond some hundred; without one they all stand in the script.
    decimals: how many are printed. Raises ExperimentError where there are too many numbers.
    """
    weights = experiment.weights
    if weights is not None and multihead.can_express(experiment):
        return multihead.page_of(experiment, weights, decimals).script(beside)
    return steps.page_of(experiment, TORCH, decimals).script(beside)


def numpy_script(experiment: Experiment, beside: str | None = None, decimals: int = DECIMALS) -> Script:
    """As :func:`pytorch_script`, in NumPy alone, step by step."""
    return steps.page_of(experiment, NUMPY, decimals).script(beside)
