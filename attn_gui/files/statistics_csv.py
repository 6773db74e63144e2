"""Statistics of heads as CSV: a line for each head, numbers that read back exactly."""

from __future__ import annotations

from pathlib import Path

from attn_gui.files.atomic import write_bytes
from attn_gui.files.csv_matrix import LINE_END
from attn_gui.files.numbers import rows_text
from attn_gui.model.precision import Precision
from attn_gui.model.statistics import STATISTICS, HeadStatistics


def statistics_csv(statistics: HeadStatistics) -> bytes:
    """The table under ``head,entropy,largest,...``; heads count from 1, what a head has not is ``nan``."""
    lines = [",".join(["head", *(statistic.name for statistic in STATISTICS)]).encode()]
    for head, row in enumerate(rows_text(statistics.values, Precision.FLOAT64), start=1):
        lines.append(b"%d,%b" % (head, row))
    return LINE_END.join([*lines, b""])


def write_statistics(path: Path, statistics: HeadStatistics) -> None:
    """Put the table at ``path``; raises FileError."""
    write_bytes(path, statistics_csv(statistics))
