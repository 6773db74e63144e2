"""The mask of an experiment as lines of a script: ``allowed``, True where a query may attend to a key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attn_gui.files.code.page import MOST, Page
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment

# more is better written out cell by cell
MOST_RECTANGLES = 20
# of a mask that is looked through; beyond it a query without a key is reckoned with
LOOKED_THROUGH = 1 << 24
BLOCK_CELLS = 1 << 22


@dataclass(frozen=True)
class Masking:
    """What a mask is like: whether there is one, whether some query may attend to nothing, whether it has heads."""

    present: bool
    has_empty_rows: bool
    per_head: bool


def masking(e: Experiment) -> Masking:
    """What the mask of ``e`` is like."""
    if e.rule.kind == "none" and not e.painted:
        return Masking(False, False, False)
    heads = range(e.heads if e.rule.per_head else 1)
    return Masking(True, any(_has_empty_rows(e, head) for head in heads), e.rule.per_head and e.heads > 1)


def _has_empty_rows(e: Experiment, head: int) -> bool:
    if e.n_q * e.n_k > LOOKED_THROUGH:
        return True
    step = max(1, BLOCK_CELLS // e.n_k)
    for start in range(0, e.n_q, step):
        rows = slice(start, min(start + step, e.n_q))
        if not e.allowed(rows, slice(0, e.n_k), head).any(axis=1).all():
            return True
    return False


def add_indices(page: Page, e: Experiment) -> None:
    """``i`` and ``j``, which masks and biases are written in: queries and the keys of tokens."""
    xp = page.dialect.xp
    page.add(f"n_q, n_k, offset = {e.n_q}, {e.n_k - len(e.appended)}, {e.offset}  # the first query stands at offset")
    page.add(f"i = {xp}.arange(n_q)[:, None]", f"j = {xp}.arange(n_k)[None, :]")


def needs_indices(e: Experiment) -> bool:
    """Whether the mask is written in ``i`` and ``j``."""
    return _expression(e) is not None and e.rule.kind != "none"


def add_mask(page: Page, e: Experiment, *, appended: bool) -> None:
    """``allowed``, [n_q, n_k] or [heads, n_q, n_k]; with the keys that are appended, or without them."""
    expression = _expression(e)
    if expression is None:
        page.exact_table("allowed", _cells(e, appended), shape="True: query may attend to key")
        return
    d = page.dialect
    extra = len(e.appended) if appended else 0
    columns = e.n_k - len(e.appended) + extra
    everything = d.xp + ".ones(({}, {}), dtype=" + (f"{d.xp}.bool)" if d.is_torch else "bool)")
    if e.rule.kind == "none":
        page.add(f"allowed = {everything.format(e.n_q, columns)}")
    else:
        _add_columns(page, e, expression)
        page.add(f"# {e.rule.title}: query i may attend to key j", f"allowed = {expression}")
        if extra:
            page.add(f"allowed = {d.join(f'allowed, {everything.format(e.n_q, extra)}', -1)}  # the keys appended")
        elif e.painted:
            page.add(f"allowed = {d.copied('allowed', '(n_q, n_k)')}")
    for r in e.painted.rectangles:
        page.add(f"allowed[{r.top}:{r.bottom}, {r.left}:{r.right}] = {r.allowed}  # painted by hand")


def _expression(e: Experiment) -> str | None:
    if len(e.painted.rectangles) > MOST_RECTANGLES:
        return None
    return "" if e.rule.kind == "none" else e.rule.expression()


def _add_columns(page: Page, e: Experiment, expression: str) -> None:
    """The per-token columns that the rule looks at."""
    for side, of in (("key", e.key_rows), ("query", e.tokens)):
        for name in e.rule.reads:
            if f"{side}_{name}" in expression:
                page.exact_table(f"{side}_{name}", of.column(name))


def _cells(e: Experiment, appended: bool) -> NDArray[np.bool_]:
    columns = e.n_k if appended else e.n_k - len(e.appended)
    heads = e.heads if e.rule.per_head else 1
    if heads * e.n_q * columns > MOST:
        raise ExperimentError("copy as code", f"at most {MOST:,} cells of a mask", f"{heads * e.n_q * columns:,}")
    tables = [e.allowed(slice(0, e.n_q), slice(0, columns), head) for head in range(heads)]
    return np.stack(tables) if heads > 1 else tables[0]
