"""Numbers rounded on the way, and computed with from then on."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch

from attn_gui.compute.check.chain import Chain, empty, upstream
from attn_gui.compute.check.slips.slip import Slip, rounded
from attn_gui.model.check.checked import both
from attn_gui.model.experiment import Experiment
from attn_gui.model.stage_shape import stages_of

MOST_DECIMALS = 4
INPUTS = {"X", "context", "values", "bias"}

T = torch.Tensor


def rounding_slips(e: Experiment, stage: str) -> Iterator[Slip]:
    """What ``stage`` is computed from rounded to some decimals, the nearest stage first."""
    before = [name for name in stages_of(e) if name in upstream(stage) and name not in _left_out(e)]
    for decimals in range(1, MOST_DECIMALS + 1):
        for name in reversed(before):
            yield _rounded([name], decimals)
        for together in (["Q", "K"], ["Q", "K", "V"]):
            if set(together) <= set(before):
                yield _rounded(together, decimals)
        if stage == "N" or "N" in before:
            words = f"exponentials rounded early, to {_places(decimals)}"
            yield Slip("exponentials_rounded", words, {"N": partial(_of_exponentials, decimals=decimals)})
        if len(before) > 1:
            every = {name: partial(_step, name=name, decimals=decimals) for name in before}
            yield Slip("rounded_early", f"every step rounded, to {_places(decimals)}", every)


def _left_out(e: Experiment) -> set[str]:
    """Inputs, and what is the same as another stage."""
    same = {"A_masked"}
    if e.weights is None or e.weights.W_O is None:
        same |= {"concat", "head_output"} if e.heads == 1 else {"concat"}
    if not e.scoring.biases:
        same |= {"capped"} if e.scoring.softcap is not None else {"capped", "scaled"}
    return INPUTS | same


def _rounded(names: list[str], decimals: int) -> Slip:
    words = f"{both(names)} rounded early, to {_places(decimals)}"
    return Slip("rounded_early", words, {name: partial(_step, name=name, decimals=decimals) for name in names})


def _step(chain: Chain, name: str, decimals: int) -> T:
    return rounded(chain.usual(name), decimals)


def _of_exponentials(chain: Chain, decimals: int) -> T:
    powers = rounded(torch.exp(chain["A_masked"]), decimals)
    return (powers / powers.sum(dim=-1, keepdim=True)).masked_fill(empty(chain["A_masked"]), 0.0).nan_to_num(nan=0.0)


def _places(decimals: int) -> str:
    return "1 decimal" if decimals == 1 else f"{decimals} decimals"
