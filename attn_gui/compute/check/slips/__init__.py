"""What people do wrong, each as steps in place of the right ones; what is well known comes first."""

from __future__ import annotations

from collections.abc import Iterator

from attn_gui.compute.check.chain import upstream
from attn_gui.compute.check.setting import Setting
from attn_gui.compute.check.slips.gathering import gathering_slips
from attn_gui.compute.check.slips.masking import masking_slips
from attn_gui.compute.check.slips.normalising import normalising_slips
from attn_gui.compute.check.slips.rounding import rounding_slips
from attn_gui.compute.check.slips.scaling import scaling_slips, score_slips
from attn_gui.compute.check.slips.slip import Slip
from attn_gui.compute.check.slips.weighing import placing_slips, weight_slips
from attn_gui.model.experiment import Experiment
from attn_gui.model.stage_shape import FROM_OUTPUTS, stage_shape
from attn_gui.model.stages import STAGES

__all__ = ["Slip", "slips"]


def slips(setting: Setting, stage: str) -> Iterator[Slip]:
    """The slips that ``stage`` may have come out of."""
    within = upstream(stage) | {stage}
    made = _made(setting.e)
    every = (slip for slip in _every(setting, stage, within) if made.issuperset(slip.changes))
    return (slip for slip in every if not within.isdisjoint(slip.changes))


def _made(e: Experiment) -> set[str]:
    """The stages that come of steps: none of what was given, nor of what would come before it."""
    made = set(STAGES)
    if not e.has_queries:
        made -= {*upstream("capped"), "capped"}
    if not e.has_scores:
        made -= {"bias", "A", "A_masked", "N"}
    return made if e.has_values else made - {"V", *FROM_OUTPUTS}


def _every(setting: Setting, stage: str, within: frozenset[str]) -> Iterator[Slip]:
    e = setting.e
    yield from scaling_slips(e)
    yield from masking_slips(setting)
    yield from normalising_slips(e)
    yield from _transposed(setting, stage)
    yield from score_slips(e)
    yield from weight_slips(setting, within)
    yield from placing_slips(setting)
    yield from gathering_slips(setting)
    yield from rounding_slips(e, stage)


def _transposed(setting: Setting, stage: str) -> Iterator[Slip]:
    """The table itself, rows for columns."""
    rows, columns = stage_shape(setting.e, stage)
    if rows == columns:
        which = "queries for keys" if STAGES[stage].square else "rows for columns"
        yield Slip("transposed", f"the table transposed, {which}", {stage: lambda c: c.usual(stage).transpose(-2, -1)})
