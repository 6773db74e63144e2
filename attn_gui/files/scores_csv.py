"""Scores of heads as CSV: a line for each head of every layer, numbers that read back exactly."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from attn_gui.files.atomic import write_bytes
from attn_gui.files.csv_matrix import LINE_END
from attn_gui.files.numbers import rows_text
from attn_gui.model.head_scores import HEAD_SCORES
from attn_gui.model.layer_place import LayerPlace
from attn_gui.model.precision import Precision
from attn_gui.model.table import Floats


@dataclass(frozen=True, eq=False)
class LayerScores:
    """The scores of the heads of one experiment, [heads, len(HEAD_SCORES)], with its name and its place in a model."""

    name: str
    place: LayerPlace | None
    values: Floats


def scores_csv(layers: Sequence[LayerScores]) -> bytes:
    """The table under ``experiment,layer,module,kind,batch,head,entropy,...``.

    Layers, items of a batch and heads count from 1; what an experiment or a head has not is empty or ``nan``.
    """
    names = [score.name for score in HEAD_SCORES]
    lines = [",".join(["experiment", "layer", "module", "kind", "batch", "head", *names]).encode()]
    for layer in layers:
        place = layer.place
        fields: list[str | int] = [layer.name, "", "", "", ""]
        if place is not None:
            batch = "" if place.batch is None else place.batch + 1
            fields = [layer.name, place.layer + 1, place.module, place.kind, batch]
        start = _line(fields)
        for head, row in enumerate(rows_text(layer.values, Precision.FLOAT64), start=1):
            lines.append(b"%b,%d,%b" % (start, head, row))
    return LINE_END.join([*lines, b""])


def write_scores(path: Path, layers: Sequence[LayerScores]) -> None:
    """Put the table at ``path``; raises FileError."""
    write_bytes(path, scores_csv(layers))


def _line(fields: Sequence[str | int]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(fields)
    return text.getvalue().encode()
