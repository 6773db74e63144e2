"""What is on screen as LaTeX: each matrix of the computation in the order of the formula.

amsmath's ``pmatrix`` in displayed formulas; the text goes into a document as it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.files.code.page import remark
from attn_gui.files.layout import layout
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.stage_shape import stage_shape, stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Trace

MOST_CELLS = 20_000
# amsmath's own limit on columns
USUAL_COLUMNS = 10
SCIENTIFIC = 1e9
INPUTS = {"X": "X", "context": "X'", "values": "X''", "X_in": r"\tilde{X}", "context_in": r"\tilde{X}'"}
NAMES = {
    "softmax": r"\operatorname{softmax}",
    "softmax_one": r"\operatorname{softmax}_1",
    "sparsemax": r"\operatorname{sparsemax}",
    "entmax15": r"\operatorname{entmax}_{1.5}",
    "sigmoid": r"\sigma",
}


def latex(trace: Trace, decimals: int) -> str:
    """The inputs, weights, Q, K, V, A, N and outputs of ``trace``, with up to ``decimals`` decimals.

    A is drawn as on screen: minus infinity where a query may not attend. Raises ExperimentError for more cells than
    anybody would print.
    """
    e = trace.experiment
    stages = _stages(e)
    cells = sum(math.prod(stage_shape(e, stage)) * (e.heads if STAGES[stage].per_head else 1) for stage in stages)
    cells += 0 if e.weights is None else sum(table.width * len(table) for _, table in e.weights.items())
    if cells > MOST_CELLS:
        raise ExperimentError("copy as LaTeX", f"at most {MOST_CELLS:,} numbers", f"{cells:,}")
    widest = max(stage_shape(e, stage)[1] for stage in stages)
    if e.weights is not None:
        widest = max(widest, *(table.width for _, table in e.weights.items()))
    lines = [r"% needs \usepackage{amsmath}"]
    if widest > USUAL_COLUMNS:
        lines.append(rf"\setcounter{{MaxMatrixCols}}{{{widest}}}")
    for stage in stages:
        if stage == "Q":
            lines += _weights(e, decimals)
        lines += _stage(trace, stage, decimals)
    return "\n".join(lines) + "\n"


def _stages(e: Experiment) -> list[str]:
    wanted = [*INPUTS, "Q", "K", "V", "A" if _is_open(e) else "A_masked", "N", "head_output", "output"]
    if not e.variant.is_multi_head:
        wanted.remove("head_output")
    return [stage for stage in stages_of(e) if stage in wanted]


def _is_open(e: Experiment) -> bool:
    return e.rule.kind == "none" and not e.painted


def _weights(e: Experiment, decimals: int) -> Iterator[str]:
    if e.weights is not None:
        for name, table in e.weights.items():
            yield from _display(name, table.array(), decimals)


def _stage(trace: Trace, stage: str, decimals: int) -> Iterator[str]:
    e = trace.experiment
    table = layout(e, stage)
    yield f"% {stage}: {_labels('rows', table.rows)}"
    if table.column_kind == "key":
        yield f"% {_labels('columns', table.columns)}"
    if not STAGES[stage].per_head:
        yield from _display(_formula(e, stage, ""), trace.stage(stage), decimals)
        return
    for head in range(e.heads):
        above = f"^{{({head + 1})}}" if e.variant.is_multi_head else ""
        yield from _display(_formula(e, stage, above), trace.stage(stage, head), decimals)


def _labels(what: str, labels: Sequence[str]) -> str:
    return f"{what} {', '.join(remark(label) for label in labels)}"


def _formula(e: Experiment, stage: str, above: str) -> str:
    """What stands to the left of the matrix: its symbol, and the formula where that is short."""
    if stage in INPUTS:
        return INPUTS[stage] + (f" = {INPUTS[stage[:-3]]} + P" if stage.endswith("_in") else "")
    if stage in ("Q", "K", "V"):
        return f"{stage}{above}{_projection(e, stage)}"
    if stage in ("A", "A_masked"):
        return f"A{above}{_scores(e, above)}"
    if stage == "N":
        name = NAMES.get(e.scoring.normaliser.kind) if e.has_scores else None
        return f"N{above}" + (f" = {name}(A{above})" if name is not None and e.scoring.sinks is None else "")
    if stage == "head_output":
        return f"O{above} = N{above} V{above}"
    if not e.variant.is_multi_head:
        return "O = N V"
    joined = ", ".join(f"O^{{({head + 1})}}" for head in range(min(e.heads, 3))) + (r", \ldots" if e.heads > 3 else "")
    if e.weights is None:
        return f"O = [{joined}]"
    return f"O = [{joined}] W_O" + (" + b_O" if e.weights.b_O is not None else "")


def _projection(e: Experiment, letter: str) -> str:
    """``= X W_Q + b_Q`` where nothing else is done to it and it is not one head's part."""
    altered = letter != "V" and (e.scoring.qk_norm is not None or e.scoring.rotary is not None)
    if e.weights is None or e.variant.is_multi_head or altered or (letter != "Q" and e.appended):
        return ""
    stages = stages_of(e)
    keys = "context_in" if "context_in" in stages else "context" if "context" in stages else None
    queries = "X_in" if "X_in" in stages else "X"
    rows = queries if letter == "Q" or keys is None else keys
    if letter == "V" and "values" in stages:
        rows = "values"
    bias = f" + b_{letter}" if e.weights.get(f"b_{letter}") is not None else ""
    return f" = {INPUTS[rows]} W_{letter}{bias}"


def _scores(e: Experiment, above: str) -> str:
    scoring = e.scoring
    if scoring.softcap is not None or scoring.biases or not e.has_queries:
        return ""
    # a group of its own: one symbol takes one superscript
    product = rf"Q{above} K{above}{'{}' if above else ''}^{{\top}}"
    if scoring.scale is None and scoring.temperature == 1:
        return rf" = \frac{{{product}}}{{\sqrt{{{e.d_k}}}}}"
    return rf" = {_number(e.scale, 6)} \, {product}"


def _display(symbol: str, values: NDArray[Any], decimals: int) -> Iterator[str]:
    numbers = np.asarray(values, dtype=np.float64)
    fewest = _decimals(numbers, decimals)
    yield r"\["
    yield rf"{symbol} = \begin{{pmatrix}}"
    for row in numbers:
        yield "  " + " & ".join(_number(value, fewest) for value in row.tolist()) + r" \\"
    yield r"\end{pmatrix}"
    yield r"\]"


def _decimals(numbers: NDArray[np.float64], most: int) -> int:
    """The fewest decimals that write every number as well as ``most`` do."""
    finite = numbers[np.isfinite(numbers) & (np.abs(numbers) < SCIENTIFIC)]
    for decimals in range(most):
        if np.array_equal(finite.round(decimals), finite.round(most)):
            return decimals
    return most


def _number(value: float, decimals: int) -> str:
    if math.isnan(value):
        return r"\mathrm{nan}"
    if math.isinf(value):
        return r"\infty" if value > 0 else r"-\infty"
    if abs(value) >= SCIENTIFIC:
        digits, _, power = f"{value:.{decimals}e}".partition("e")
        return rf"{digits} \times 10^{{{int(power)}}}"
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text
