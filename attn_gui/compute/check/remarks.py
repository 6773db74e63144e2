"""Facts about a table that hold whatever went wrong."""

from __future__ import annotations

import numpy as np

from attn_gui.model.check.table import GivenTable, Printed
from attn_gui.model.experiment import Experiment

LONGEST_NAME = 24
MOST_NAMED = 3


def remarks_on(e: Experiment, table: GivenTable, printed: Printed) -> tuple[str, ...]:
    """Rows of weights whose sum is not 1, as far as rounding lets one tell."""
    if table.stage != "N" or table.head == "mean" or not e.sums_to_one:
        return ()
    with np.errstate(over="ignore"):
        sums = printed.values.sum(axis=1)  # NaN where a cell is blank
    spread = printed.half_units.sum(axis=1) * (1 + 1e-9) + 1e-12
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.isfinite(sums) & (np.abs(sums - 1) > spread)
    for row in np.flatnonzero(off & (sums == 0)).tolist():
        off[row] = bool(e.allowed(slice(row, row + 1), slice(0, e.n_k), table.head).any())
    rows = np.flatnonzero(off).tolist()
    if not rows:
        return ()
    decimals = max(1, printed.most_decimals)
    named = [f"“{_short(e.tokens.tokens[row])}” ({sums[row]:.{decimals}f})" for row in rows[:MOST_NAMED]]
    more = f" and {len(rows) - MOST_NAMED} more" if len(rows) > MOST_NAMED else ""
    if len(rows) == 1:
        (row,) = rows
        name = e.tokens.tokens[row]
        which = (
            f"The row of “{_short(name)}”" if e.tokens.tokens.count(name) == 1 else f"Row {row + 1}, “{_short(name)}”,"
        )
        return (f"{which} sums to {sums[row]:.{decimals}f}, not to 1.",)
    return (f"Rows do not sum to 1: {', '.join(named)}{more}.",)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
