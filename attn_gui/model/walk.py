"""The walk: the stages of an experiment in the order of the computation, and what each number in them comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from attn_gui.model.experiment import Experiment
from attn_gui.model.lit import Lit
from attn_gui.model.masks import Combined, MaskRule
from attn_gui.model.sources import FromTokens
from attn_gui.model.stage_shape import OF_KEYS, stage_shape, stages_of
from attn_gui.model.stages import STAGES

# the stages that the one panel of scores stands for
OF_SCORES = ("raw", "scaled", "capped", "A", "A_masked")


@dataclass(frozen=True)
class Place:
    """Where one looks: a head, a query, a key, and a dimension of the vectors, each counted from 0."""

    head: int = 0
    query: int = 0
    key: int = 0
    dimension: int = 0


def stops(experiment: Experiment) -> tuple[str, ...]:
    """The stages to stop at: those in which something happens to the numbers, and where they come in."""
    e = experiment
    passed_over = {"bias"}  # no stage of its own in the walk: what it is added to says it
    if e.scoring.softcap is None:
        passed_over.add("capped")
    if not e.scoring.biases and e.has_queries:
        passed_over.add("A")
    if not is_masked(e):
        passed_over.add("A_masked")
    if not e.variant.is_multi_head:
        passed_over |= {"concat", "output"}  # the head's own output
    elif e.weights is None or e.weights.W_O is None:
        passed_over.add("output")
    return tuple(name for name in stages_of(e) if name not in passed_over)


def is_masked(experiment: Experiment) -> bool:
    """Whether a mask was chosen or a cell was painted out."""
    rule = experiment.rule
    nothing = rule.kind == MaskRule.kind or (isinstance(rule, Combined) and not rule.terms)
    return not nothing or any(not rectangle.allowed for rectangle in experiment.painted.rectangles)


def cell(experiment: Experiment, stage: str, place: Place) -> tuple[int, int]:
    """The row and the column of ``stage`` that ``place`` comes to, brought within its bounds."""
    rows, columns = stage_shape(experiment, stage)
    row = place.key if stage in OF_KEYS else place.query
    column = place.key if STAGES[stage].square else place.dimension
    if stage == "concat":
        d_v = experiment.d_v
        column = place.head * d_v + min(place.dimension, d_v - 1)
    return min(row, rows - 1), min(column, columns - 1)


def moved(experiment: Experiment, stage: str, place: Place, by: int) -> Place:
    """``by`` cells on, row by row; the first and the last cell of the stage are the ends."""
    rows, columns = stage_shape(experiment, stage)
    row, column = cell(experiment, stage, place)
    row, column = divmod(max(0, min(row * columns + column + by, rows * columns - 1)), columns)
    if STAGES[stage].square:
        return replace(place, query=row, key=column)
    if stage in OF_KEYS:
        return replace(place, key=row, dimension=column)
    if stage == "concat":
        head, dimension = divmod(column, experiment.d_v)
        return replace(place, query=row, head=head, dimension=dimension)
    return replace(place, query=row, dimension=column)


def lit(experiment: Experiment, stage: str, place: Place) -> tuple[Lit, ...]:
    """What the number of ``stage`` at ``place`` comes from, then the number itself."""
    e = experiment
    row, column = cell(e, stage, place)
    operands: tuple[Lit, ...] = ()
    if stage in ("X_in", "context_in"):
        operands = (Lit(stage.removesuffix("_in"), row, column),)
    elif stage in ("Q", "K") and (e.scoring.qk_norm is not None or e.scoring.rotary is not None):
        operands = (Lit(f"{stage}_projected", row),)
    elif stage in ("Q", "K", "V", "Q_projected", "K_projected"):
        operands = _projected(e, stage[0], row, column, place.head)
    elif stage == "raw":
        operands = Lit("Q", row), Lit("K", column)
    elif stage in OF_SCORES and (stage == "A_masked" or e.has_queries):
        operands = (Lit(_scores_before(e, stage), row, column),)
    elif stage == "N" and e.has_scores:
        operands = (Lit("A_masked", row),)
    elif stage == "head_output":
        operands = Lit("N", row), Lit("V", None, column)
    elif stage == "concat":
        operands = (Lit("head_output", row, column - place.head * e.d_v),)
    elif stage == "output":
        operands = Lit("concat", row), Lit("W_O", None, column)
    # of a single head, and of heads without W_O, it is what the panel of the output shows
    last = stage == "head_output" and not e.variant.is_multi_head
    last |= stage == "concat" and (e.weights is None or e.weights.W_O is None)
    return *operands, Lit("output" if last else stage, row, column, result=True)


def source_of(experiment: Experiment, letter: str) -> str | None:
    """The stage that Q, K or V (``letter``) is projected from; None where it was given."""
    e = experiment
    if not isinstance(e.source, FromTokens):
        return None
    if letter == "V" and e.values is not None:
        return "values"
    of_tokens = letter == "Q" or (not e.variant.is_cross and e.past is None)
    placed = "" if e.scoring.position.kind == "none" else "_in"
    return ("X" if of_tokens else "context") + placed


def _projected(e: Experiment, letter: str, row: int, column: int, head: int) -> tuple[Lit, ...]:
    source = source_of(e, letter)
    if source is None or row >= stage_shape(e, source)[0]:  # a key after those of the tokens was given
        return ()
    if letter == "Q":
        first = head * e.d_k
    else:
        first = head // (e.heads // e.kv_heads) * (e.d_k if letter == "K" else e.d_v)
    return Lit(source, row), Lit(f"W_{letter}", None, first + column)


def _scores_before(e: Experiment, stage: str) -> str:
    """The scores that ``stage`` is made of."""
    there = {"capped": e.scoring.softcap is not None, "A": bool(e.scoring.biases)}
    earlier = [name for name in OF_SCORES[: OF_SCORES.index(stage)] if there.get(name, True)]
    return earlier[-1]
