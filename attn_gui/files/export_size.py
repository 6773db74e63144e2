"""How large exported files become, before they are written."""

from __future__ import annotations

import numpy as np

from attn_gui.files.export import Form
from attn_gui.files.export_parts import Part, Top, lines_of
from attn_gui.files.layout import layout
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision

# characters that the text of a number near 0.1 takes where none of its digits is to spare, with sign and comma
WIDTHS = {Precision.FLOAT64: 21, Precision.FLOAT32: 12, Precision.BFLOAT16: 9, Precision.FLOAT16: 8}
NPZ_MEMBER_BYTES = 400
JSON_NUMBER_BYTES = 24


def experiment_bytes(experiment: Experiment) -> int:
    """About the size of the experiment itself as JSON."""
    return JSON_NUMBER_BYTES * sum(array.size for array in experiment.arrays())


def stage_bytes(experiment: Experiment, stage: str, tables: int, form: Form) -> int:
    """About the size of ``tables`` heads of a stage where no number is round, and much less where many are."""
    table, precision = layout(experiment, stage), experiment.precision
    if form == "npz":
        return tables * (table.cells * np.dtype(precision.numpy).itemsize + NPZ_MEMBER_BYTES)
    rows, columns = _label_bytes(table.rows), _label_bytes(table.columns)
    if form == "csv":
        return tables * (table.cells * WIDTHS[precision] + rows + columns)
    indices = len(str(len(table.rows))) + len(str(len(table.columns))) + len(str(tables)) + 4
    labels = rows * len(table.columns) + columns * len(table.rows)
    return tables * (table.cells * (WIDTHS[precision] + indices) + labels)


def part_bytes(experiment: Experiment, part: Part) -> int:
    """About the size of a part of one head of a square stage, likewise."""
    rows, columns = lines_of(experiment, part)
    # beside its number each of the largest has both tokens and their places
    width = WIDTHS[experiment.precision] + (28 if isinstance(part, Top) else 0)
    return rows * columns * width


def _label_bytes(labels: tuple[str, ...]) -> int:
    return sum(len(label.encode("utf-8", "replace")) + 1 for label in labels)
