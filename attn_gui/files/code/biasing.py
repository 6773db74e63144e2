"""What is added to the scores, as lines of a script: ``bias``, [heads, n_q, n_k] or [n_q, n_k]."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from attn_gui.files.code.page import MOST, Page
from attn_gui.model.biases import Bias
from attn_gui.model.biases.alibi import ALiBi, slopes
from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment


def needs_indices(e: Experiment) -> bool:
    """Whether a bias is written in ``i`` and ``j``."""
    return any(bias.kind in (ALiBi.kind, RelativeBuckets.kind) for bias in e.scoring.biases)


def add_bias(page: Page, e: Experiment, *, flat: bool) -> None:
    """``bias``, without an axis of heads where ``flat``; nothing is added for the keys that are appended."""
    terms = [_term(page, e, bias, number, flat) for number, bias in enumerate(e.scoring.biases, start=1)]
    page.add(f"bias = {' + '.join(terms)}")
    if e.appended:
        d = page.dialect
        # [.., n_q, 1] of zeros for each key
        page.add(f"nothing = {d.xp}.zeros_like(bias[..., :1])")
        page.add(f"bias = {d.join(', '.join(['bias', *['nothing'] * len(e.appended)]), -1)}")


def _term(page: Page, e: Experiment, bias: Bias, number: int, flat: bool) -> str:
    d = page.dialect
    match bias:  # by kind: what derives from these says something else
        case ALiBi(kind=ALiBi.kind):
            page.add("# ALiBi: scores fall off with distance (Press et al. 2022)")
            page.working_table("slopes", slopes(e.heads), shape="[heads]")
            distance = d.cast("abs(i + offset - j)", "dtype")
            return f"-slopes{'' if flat else '[:, None, None]'} * {distance}"
        case RelativeBuckets(kind=RelativeBuckets.kind):
            reach = e.n_q + e.n_k + e.offset
            page.add("# a learned number for each bucket of distances j - i (T5, Raffel et al. 2020)")
            page.working_table("buckets_table", bias.table, shape="[buckets, heads]")
            page.exact_table(
                "bucket_of", bias.buckets(np.arange(-reach, reach + 1)), shape=f"distances from {-reach} on"
            )
            at = f"bucket_of[j - i - offset + {reach}]"
            return f"buckets_table[:, 0][{at}]" if flat else f"buckets_table.T[:, {at}]"
    name = f"bias_{number}"
    cells = _cells(e, bias)
    cells = cells[0] if flat and cells.ndim == 3 else cells
    page.add(f"# {bias.title}, cell by cell")
    page.working_table(name, cells, shape="[heads, n_q, n_k]" if cells.ndim == 3 else "[n_q, n_k]")
    return name


def _cells(e: Experiment, bias: Bias) -> NDArray[np.float64]:
    """The values of a bias of any kind: [n_q, n_k], or [heads, n_q, n_k], without the appended keys."""
    n_k = e.n_k - len(e.appended)
    if e.heads * e.n_q * n_k > MOST:
        raise ExperimentError("copy as code", f"at most {MOST:,} cells of a bias", f"{e.heads * e.n_q * n_k:,}")
    columns = replace(e.columns(), heads=np.arange(e.heads)[:, None, None])
    i, j = np.arange(e.n_q)[:, None], np.arange(n_k)[None, :]
    values = np.asarray(bias.values(i, j, columns, e.heads), dtype=np.float64)
    return np.broadcast_to(values, np.broadcast_shapes(values.shape, (e.n_q, n_k)))
