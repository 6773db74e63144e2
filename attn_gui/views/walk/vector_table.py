"""The row of a stage in which the number in question stands, where no panel of the window shows that stage."""

from __future__ import annotations

from itertools import groupby

from attn_gui.files.derivation_text.line import number
from attn_gui.model.derivation.writing import written
from attn_gui.model.experiment import Experiment
from attn_gui.model.stage_shape import OF_KEYS
from attn_gui.model.vector import Vector
from attn_gui.views.cut_text import beginning
from attn_gui.views.theme import Theme
from attn_gui.views.walk import cells

LETTERS = {
    "Q": "q",
    "K": "k",
    "V": "v",
    "context": "x'",
    "values": "x''",
    "X_in": "x + p",
    "context_in": "x' + p",
    "head_output": "N V",
}
LONGEST = 12
CUT = "…"


def html(experiment: Experiment, vector: Vector, decimals: int, theme: Theme) -> str:
    """The numbers around the one in question as a rich text table, under the numbers of their dimensions."""
    e, ask, first = experiment, vector.ask, vector.first
    last = first + len(vector.values)
    columns, of_heads = range(first, last), ask.stage == "concat"

    def row(name: str, inner: str, cut: str) -> str:
        before, after = (cells.heading(cut, theme) if more else "" for more in (first > 0, last < vector.width))
        return cells.name(name, theme.text) + before + inner + after

    rows = []
    if of_heads:
        heads = [(head, len(list(of))) for head, of in groupby(column // e.d_v for column in columns)]
        rows.append(row("", "".join(cells.heading(f"head {head + 1}", theme, span) for head, span in heads), ""))
    numbers = [str((column % e.d_v if of_heads else column) + 1) for column in columns]
    rows.append(row("", "".join(cells.heading(text, theme) for text in numbers), ""))
    values = [number(written(float(value), decimals)) for value in vector.values]
    numbered = [
        cells.result(text, theme) if column == ask.column else cells.cell(text, theme.text)
        for column, text in zip(columns, values, strict=True)
    ]
    rows.append(row(_named(e, ask.stage, ask.row), "".join(numbered), CUT))
    return cells.table(rows)


def _named(e: Experiment, stage: str, row: int) -> str:
    tokens = e.keys.tokens if stage in OF_KEYS else e.tokens.tokens
    letter = LETTERS.get(stage.removesuffix("_projected"), stage)
    return f"{letter} “{beginning(tokens[row], LONGEST)}”"
