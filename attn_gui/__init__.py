"""attn_gui: attention, explored. The Python API needs no Qt, and torch only once something is traced.

>>> from attn_gui import Experiment, trace
>>> experiment = Experiment.from_tokens(["I", "am"], [[1.0, 0.0], [1.0, 1.0]])
>>> trace(experiment).stage("N", head=0).shape
(2, 2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attn_gui.compute.capture.capturing import capture
    from attn_gui.compute.capture.errors import CaptureError
    from attn_gui.compute.diagnose.api import diagnose
    from attn_gui.compute.trace import trace
    from attn_gui.files.checkpoint.opening import open_weights
    from attn_gui.files.errors import FileError
    from attn_gui.files.multihead_attention import experiment_from_mha
    from attn_gui.files.script.saving import save
    from attn_gui.files.script.showing import show
    from attn_gui.files.session import load
    from attn_gui.model.biases import Bias
    from attn_gui.model.biases.additive import Additive
    from attn_gui.model.biases.alibi import ALiBi
    from attn_gui.model.biases.relative_buckets import RelativeBuckets
    from attn_gui.model.cache import with_past
    from attn_gui.model.diagnosis import Diagnosis
    from attn_gui.model.errors import ExperimentError
    from attn_gui.model.experiment import Experiment
    from attn_gui.model.kv_heads import with_kv_heads
    from attn_gui.model.layer_place import LayerPlace
    from attn_gui.model.mask_import import mask_of
    from attn_gui.model.masks import Causal, Columns, Combined, Imported, MaskRule, Padding, SlidingWindow, Term
    from attn_gui.model.masks.block_sparse import BlockSparse
    from attn_gui.model.masks.dilated import Dilated
    from attn_gui.model.masks.document import Document
    from attn_gui.model.masks.global_window import GlobalWindow
    from attn_gui.model.masks.prefix_lm import PrefixLM
    from attn_gui.model.masks.random_cells import RandomCells
    from attn_gui.model.masks.tree import Tree
    from attn_gui.model.normalisers import Normaliser
    from attn_gui.model.normalisers.entmax15 import Entmax15
    from attn_gui.model.normalisers.sigmoid import Sigmoid
    from attn_gui.model.normalisers.softmax import Softmax
    from attn_gui.model.normalisers.softmax_one import SoftmaxOne
    from attn_gui.model.normalisers.sparsemax import Sparsemax
    from attn_gui.model.origin import Origin
    from attn_gui.model.painted import Painted
    from attn_gui.model.positions import InputPosition
    from attn_gui.model.positions.learned import Learned
    from attn_gui.model.positions.sinusoidal import Sinusoidal
    from attn_gui.model.precision import Precision
    from attn_gui.model.qk_norm import QKNorm
    from attn_gui.model.qk_norm.l2_norm import L2Norm
    from attn_gui.model.qk_norm.layer_norm import LayerNorm
    from attn_gui.model.qk_norm.rms_norm import RMSNorm
    from attn_gui.model.rotary import Rotary
    from attn_gui.model.rotary.frequencies import Frequencies
    from attn_gui.model.rotary.imported import ImportedRotary
    from attn_gui.model.rotary_import import rotary_of
    from attn_gui.model.scoring import Scoring
    from attn_gui.model.session import NamedExperiment, Session
    from attn_gui.model.sources import AppendedKey, FromTokens, GivenQKV, GivenScores, GivenWeights
    from attn_gui.model.table import Table
    from attn_gui.model.tokens import TokenSequence
    from attn_gui.model.trace import Matrix, Trace
    from attn_gui.model.variant import Variant
    from attn_gui.model.weights import Weights

__version__ = "0.1.0"

_PLACES = {
    "capture": "compute.capture.capturing",
    "CaptureError": "compute.capture.errors",
    "diagnose": "compute.diagnose.api",
    "trace": "compute.trace",
    "open_weights": "files.checkpoint.opening",
    "FileError": "files.errors",
    "experiment_from_mha": "files.multihead_attention",
    "load": "files.session",
    "save": "files.script.saving",
    "show": "files.script.showing",
    "Bias": "model.biases",
    "Additive": "model.biases.additive",
    "ALiBi": "model.biases.alibi",
    "RelativeBuckets": "model.biases.relative_buckets",
    "with_past": "model.cache",
    "Diagnosis": "model.diagnosis",
    "ExperimentError": "model.errors",
    "Experiment": "model.experiment",
    "with_kv_heads": "model.kv_heads",
    "LayerPlace": "model.layer_place",
    "mask_of": "model.mask_import",
    "Causal": "model.masks",
    "Columns": "model.masks",
    "Combined": "model.masks",
    "Imported": "model.masks",
    "MaskRule": "model.masks",
    "Padding": "model.masks",
    "SlidingWindow": "model.masks",
    "Term": "model.masks",
    "BlockSparse": "model.masks.block_sparse",
    "Dilated": "model.masks.dilated",
    "Document": "model.masks.document",
    "GlobalWindow": "model.masks.global_window",
    "PrefixLM": "model.masks.prefix_lm",
    "RandomCells": "model.masks.random_cells",
    "Tree": "model.masks.tree",
    "Normaliser": "model.normalisers",
    "Entmax15": "model.normalisers.entmax15",
    "Sigmoid": "model.normalisers.sigmoid",
    "Softmax": "model.normalisers.softmax",
    "SoftmaxOne": "model.normalisers.softmax_one",
    "Sparsemax": "model.normalisers.sparsemax",
    "Origin": "model.origin",
    "Painted": "model.painted",
    "InputPosition": "model.positions",
    "Learned": "model.positions.learned",
    "Sinusoidal": "model.positions.sinusoidal",
    "Precision": "model.precision",
    "QKNorm": "model.qk_norm",
    "L2Norm": "model.qk_norm.l2_norm",
    "LayerNorm": "model.qk_norm.layer_norm",
    "RMSNorm": "model.qk_norm.rms_norm",
    "Rotary": "model.rotary",
    "Frequencies": "model.rotary.frequencies",
    "ImportedRotary": "model.rotary.imported",
    "rotary_of": "model.rotary_import",
    "Scoring": "model.scoring",
    "NamedExperiment": "model.session",
    "Session": "model.session",
    "AppendedKey": "model.sources",
    "FromTokens": "model.sources",
    "GivenQKV": "model.sources",
    "GivenScores": "model.sources",
    "GivenWeights": "model.sources",
    "Table": "model.table",
    "TokenSequence": "model.tokens",
    "Matrix": "model.trace",
    "Trace": "model.trace",
    "Variant": "model.variant",
    "Weights": "model.weights",
}

__all__ = [
    "ALiBi",
    "Additive",
    "AppendedKey",
    "Bias",
    "BlockSparse",
    "CaptureError",
    "Causal",
    "Columns",
    "Combined",
    "Diagnosis",
    "Dilated",
    "Document",
    "Entmax15",
    "Experiment",
    "ExperimentError",
    "FileError",
    "Frequencies",
    "FromTokens",
    "GivenQKV",
    "GivenScores",
    "GivenWeights",
    "GlobalWindow",
    "Imported",
    "ImportedRotary",
    "InputPosition",
    "L2Norm",
    "LayerNorm",
    "LayerPlace",
    "Learned",
    "MaskRule",
    "Matrix",
    "NamedExperiment",
    "Normaliser",
    "Origin",
    "Padding",
    "Painted",
    "Precision",
    "PrefixLM",
    "QKNorm",
    "RMSNorm",
    "RandomCells",
    "RelativeBuckets",
    "Rotary",
    "Scoring",
    "Session",
    "Sigmoid",
    "Sinusoidal",
    "SlidingWindow",
    "Softmax",
    "SoftmaxOne",
    "Sparsemax",
    "Table",
    "Term",
    "TokenSequence",
    "Trace",
    "Tree",
    "Variant",
    "Weights",
    "capture",
    "diagnose",
    "experiment_from_mha",
    "load",
    "mask_of",
    "open_weights",
    "rotary_of",
    "save",
    "show",
    "trace",
    "with_kv_heads",
    "with_past",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'attn_gui' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"attn_gui.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PLACES])
