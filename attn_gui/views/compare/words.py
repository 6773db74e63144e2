"""What a comparison says: of a cell, of all cells, and of what is left out."""

from __future__ import annotations

import math
from html import escape

from attn_gui.files.layout import Layout
from attn_gui.model.comparison import Comparison, Figures, RowFigures, rows_are
from attn_gui.model.stage_shape import stage_axes
from attn_gui.model.stages import STAGES
from attn_gui.views.cut_text import beginning
from attn_gui.views.figures import figure
from attn_gui.views.heatmap.arranged_words import arranged_title
from attn_gui.views.heatmap.labels import token_text
from attn_gui.views.heatmap.words import head_name, noun

# a value, and whether the mask allows its cell
Value = tuple[float, bool]
BETWEEN = "  ·  "
EXPLAINED = (
    "<p>KL(p ‖ q): of each query’s weights, the sum of p ln(p / q) over the keys, in nats; 0 where they are the same, "
    "∞ where q gives 0 to a key that p does not.</p>"
    "<p>Cosine: of the angle between a query’s two outputs; 1 where they point the same way.</p>"
)
MEGABYTE = 1 << 20
# pinned traces that take less are not worth a word
LARGE_BYTES = 100 * MEGABYTE
# of sums in float64
ROUNDING = 1e-12


_ONE = {"queries": "query", "keys": "key", "tokens": "token"}


def signed(difference: float, decimals: int) -> str:
    """A difference with its sign: +0.0158."""
    text = figure(difference, decimals)
    return f"+{text}" if difference > 0 else text


def change(left: Value, right: Value, weights: bool, decimals: int) -> str:
    """``0.2384 → 0.2226 (−0.0158)``; a masked weight counts as 0, a masked score as no number."""
    if not left[1] and not right[1]:
        return "masked on both sides"
    before, after = (figure(value, decimals) if allowed else "masked" for value, allowed in (left, right))
    told = f"{before} → {after}"
    difference = right[0] - left[0]
    if (weights or (left[1] and right[1])) and not math.isnan(difference):
        told += f" ({signed(difference, decimals)})"
    return told


def place(comparison: Comparison, tables: tuple[Layout, Layout], i: int, j: int) -> str:
    """Which cell that is: ``is → the``; where a token has another name on the left, ``are / is → the``."""
    row = _both(tables[0].rows[i], tables[1].rows[i])
    column = _both(tables[0].columns[j], tables[1].columns[j])
    return f"{row} → {column}" if STAGES[comparison.stage].square else f"{row}, {column}"


def table_cell(
    stage: str, side: str, names: tuple[str, str], found: Value | None, decimals: int, *, difference: bool
) -> str:
    """A cell of one of the tables for a screen reader: ``Present, query is, key the, weight 0.2226, allowed``."""
    square = STAGES[stage].square
    what = f"difference of {_nouns(stage)}" if difference else noun(stage)
    parts = [side, f"{rows_are(stage)} {names[0]}", f"key {names[1]}" if square else names[1]]
    if found is not None:
        value, allowed = found
        number = signed(value, decimals) if difference else figure(value, decimals)
        parts += [f"{what} {number}"] if allowed or (stage == "N" and not difference) else []
        parts += (["allowed" if allowed else "masked"] if square else []) if not difference or not allowed else []
    return ", ".join(parts)


def summed_up(comparison: Comparison, tables: tuple[Layout, Layout], names: tuple[str, str], f: Figures, d: int) -> str:
    """The line of figures, as HTML whose links are the places that it speaks of: ``cell 1 3``, ``query 1``."""
    queries = comparison.right.experiment.tokens.tokens
    parts = [_largest(comparison, tables, f, d)]
    if f.one_sided:
        parts.append(f"{f.one_sided:,} {'cell' if f.one_sided == 1 else 'cells'} masked on one side only")
    if f.not_finite:
        parts.append(f"{f.not_finite:,} not finite, left out")
    same = f.largest is not None and f.largest.difference == 0 and not f.one_sided and not f.not_finite
    if same and _all_are(f.divergence, 0) and _all_are(f.cosine, 1):
        return parts[0]
    left, right = names
    title = f"KL({escape(right)} ‖ {escape(left)})"
    parts.append(f"{title}: {_rows(f.divergence, queries, 'largest', ' nats', d)}")
    parts.append(f"Cosine of outputs: {_rows(f.cosine, queries, 'smallest', '', d)}")
    return BETWEEN.join(parts)


def left_out(comparison: Comparison, names: tuple[str, str]) -> str:
    """What one side has more of, in words; empty where both have the same."""
    axes = stage_axes(comparison.right.experiment, comparison.stage)
    told = []
    for axis, counts in zip(axes, zip(*comparison.shapes, strict=True), strict=True):
        if counts[0] != counts[1]:
            one = _ONE.get(axis, axis) if counts[0] == 1 else axis
            told.append(f"{counts[0]:,} {one} {names[0]}, {counts[1]:,} {names[1]}")
    if not told:
        return ""
    rows, columns = comparison.shape
    return f"Compared by position, the first {rows:,} × {columns:,}: {', '.join(told)}"


def drawn(comparison: Comparison) -> str:
    """How the tokens are drawn, where that is not one by one, and what is of every token all the same."""
    found = comparison.drawn(comparison.right) or comparison.drawn(comparison.left)
    return "" if found is None else f"Pictures: {arranged_title(found)}; figures and CSV: every token"


def brought_down(strongest: bool) -> str:
    """What a cell of the difference is where it stands for several."""
    return f"Of a pixel’s cells, the {'largest difference' if strongest else 'mean difference'} is shown"


def held(comparison: Comparison, size: int) -> str:
    """What the trace of the other side takes in memory, where that is much."""
    told = f"{comparison.other.capitalize()}: about {size / MEGABYTE:,.0f} MB"
    return told if size >= LARGE_BYTES and not comparison.heads else ""


def headings(comparison: Comparison, other: str) -> tuple[str, str]:
    """What stands over the two sides; ``other`` is the name of the one that is not present."""
    if comparison.heads:
        left, right = (head_name(side.head).capitalize() for side in comparison.sides)
        return left, f"{right} (selected)"
    return f"{comparison.other.capitalize()}: {token_text(other)}", "Present"


def side_names(comparison: Comparison) -> tuple[str, str]:
    """What the two sides are called in a sentence."""
    if comparison.heads:
        return head_name(comparison.left.head), head_name(comparison.right.head)
    return comparison.other, "present"


def of_heads(comparison: Comparison) -> str:
    """Which head of each side is shown, where that needs saying."""
    stage = STAGES[comparison.stage]
    if comparison.heads or not stage.per_head:
        return ""
    left, right = (head_name(side.head_of(comparison.stage)) for side in comparison.sides)
    counts = [side.experiment.heads for side in comparison.sides]
    if counts == [1, 1]:
        return ""
    return left.capitalize() if left == right else f"{comparison.other.capitalize()} {left}, present {right}"


def _nouns(stage: str) -> str:
    one = noun(stage)
    return f"values of {STAGES[stage].what}" if one.startswith("value of") else f"{one}s"


def _largest(comparison: Comparison, tables: tuple[Layout, Layout], f: Figures, d: int) -> str:
    sampled = f" (in {f.rows:,} of {f.all_rows:,} rows)" if f.rows < f.all_rows else ""
    found = f.largest
    if found is None:
        return f"No cell can be compared{sampled}"
    if found.difference == 0:
        same = comparison.left.trace is comparison.right.trace and not comparison.heads
        return "No difference yet: change something" if same else f"No difference{sampled}"
    where = escape(place(comparison, tables, found.i, found.j))
    size = figure(abs(found.difference), d)
    values = f"{figure(found.left, d)} → {figure(found.right, d)}"
    link = f'<a href="cell {found.i} {found.j}">{where}</a>'
    return f"Largest |difference| <b>{size}</b> at {link}, {values}{sampled}"


def _rows(found: RowFigures | str, queries: tuple[str, ...], extreme: str, unit: str, d: int) -> str:
    if isinstance(found, str):
        return escape(found)
    same = 0 if extreme == "largest" else 1
    looked = f" (in {found.looked_at:,} of {found.all_rows:,} rows)" if found.looked_at < found.all_rows else ""
    told = []
    mean = f"{figure(found.mean, d)}{unit}"
    if found.infinite:
        # where some are infinite, so is the largest, and the mean of all
        first = _query(found.first_infinite, queries)
        told.append(f"<b>∞</b> for {_counted(found.infinite)}{', the first' if found.infinite > 1 else ':'} {first}")
        if found.rows:
            told.append(f"mean of the other {found.rows:,}: {mean}" if found.rows > 1 else f"of the other one {mean}")
    elif _all_are(found, same):
        told.append(f"{same} for every query" if not found.left_out else f"{same} for {_counted(found.rows)}")
    elif found.rows:
        link = _query(found.at, queries)
        told.append(f"mean {figure(found.mean, d)}, {extreme} <b>{figure(found.extreme, d)}</b>{unit} at {link}")
    if found.left_out:
        told.append(f"none for {_counted(found.left_out)}")
    return "; ".join(told) + looked


def _all_are(found: RowFigures | str, value: int) -> bool:
    """Whether every query has ``value``, up to rounding, or there is none that has any."""
    if isinstance(found, str) or found.infinite:
        return False
    return bool(found.rows) and max(abs(found.mean - value), abs(found.extreme - value)) < ROUNDING


def _query(i: int, queries: tuple[str, ...]) -> str:
    return f'<a href="query {i}">{escape(token_text(queries[i]))}</a>'


def _counted(rows: int) -> str:
    return f"{rows:,} {'query' if rows == 1 else 'queries'}"


def _both(left: str, right: str) -> str:
    names = [token_text(beginning(name)) for name in dict.fromkeys((left, right))]
    return " / ".join(names)
