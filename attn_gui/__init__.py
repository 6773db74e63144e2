"""attn_gui: attention, explored. The Python API needs no Qt, and torch only once something is traced.

>>> from attn_gui import Experiment, trace
>>> experiment = Experiment.from_tokens(["I", "am"], [[1.0, 0.0], [1.0, 1.0]])
>>> trace(experiment).stage("N", head=0).shape
(2, 2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attn_gui.compute.trace import trace
    from attn_gui.files.errors import FileError
    from attn_gui.files.session import load, save
    from attn_gui.model.errors import ExperimentError
    from attn_gui.model.experiment import Experiment
    from attn_gui.model.masks import Causal, MaskRule, Padding, SlidingWindow
    from attn_gui.model.painted import Painted
    from attn_gui.model.precision import Precision
    from attn_gui.model.scoring import Scoring
    from attn_gui.model.session import NamedExperiment, Session
    from attn_gui.model.tokens import TokenSequence
    from attn_gui.model.trace import Matrix, Trace
    from attn_gui.model.variant import Variant
    from attn_gui.model.weights import Weights

__version__ = "0.1.0"

_PLACES = {
    "trace": "compute.trace",
    "load": "files.session",
    "save": "files.session",
    "FileError": "files.errors",
    "ExperimentError": "model.errors",
    "Experiment": "model.experiment",
    "Causal": "model.masks",
    "MaskRule": "model.masks",
    "Padding": "model.masks",
    "SlidingWindow": "model.masks",
    "Painted": "model.painted",
    "Precision": "model.precision",
    "Scoring": "model.scoring",
    "NamedExperiment": "model.session",
    "Session": "model.session",
    "TokenSequence": "model.tokens",
    "Matrix": "model.trace",
    "Trace": "model.trace",
    "Variant": "model.variant",
    "Weights": "model.weights",
}

__all__ = [
    "Causal",
    "Experiment",
    "ExperimentError",
    "FileError",
    "MaskRule",
    "Matrix",
    "NamedExperiment",
    "Padding",
    "Painted",
    "Precision",
    "Scoring",
    "Session",
    "SlidingWindow",
    "TokenSequence",
    "Trace",
    "Variant",
    "Weights",
    "load",
    "save",
    "trace",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'attn_gui' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"attn_gui.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PLACES])
