"""Slips between the scores and the weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch

from attn_gui.compute.check.chain import Chain, empty, weights
from attn_gui.compute.check.slips.slip import Slip
from attn_gui.model.experiment import Experiment
from attn_gui.model.normalisers.softmax import Softmax

T = torch.Tensor


def normalising_slips(e: Experiment) -> Iterator[Slip]:
    yield _of_weights("softmax_columns", "the softmax taken over columns, not rows", _over_columns)
    yield _of_weights("softmax_whole", "the softmax taken over the whole table, not over each row", _over_everything)
    yield _of_weights("not_divided", "exponentials not divided by their row’s sum", torch.exp)
    words = "exponentials of A less its row’s maximum, not divided by their sum"
    yield _of_weights("max_not_divided", words, lambda A: torch.exp(_less(A)))
    yield _of_weights("no_exponentials", "scores divided by their row’s sum, without exponentials", _bare)
    for base in (2, 10):
        yield _of_scores("exp_base", f"powers of {base} in place of e", partial(torch.mul, other=math.log(base)))
    yield _of_scores("sign", "the softmax of −A", _turned)
    yield _of_weights("log_softmax", "the logarithm of the softmax", partial(torch.log_softmax, dim=-1))
    if not e.scoring.is_plain:
        set_here = "a sink in every row" if e.scoring.normaliser.kind == Softmax.kind else e.scoring.normaliser.title
        yield _of_weights("plain_softmax", f"a plain softmax in place of {set_here}", partial(torch.softmax, dim=-1))
    words = "A less its row’s maximum, which changes nothing in N"
    yield Slip("max_subtracted", words, {"A": lambda c: _less(c.usual("A"))})


def _of_weights(name: str, words: str, of: Callable[[T], T]) -> Slip:
    return Slip(name, words, {"N": lambda c: _finite(c, of(c["A_masked"]))})


def _of_scores(name: str, words: str, of: Callable[[T], T]) -> Slip:
    return Slip(name, words, {"N": lambda c: weights(c, of(c["A_masked"]))})


def _finite(chain: Chain, N: T) -> T:
    return N.masked_fill(empty(chain["A_masked"]), 0.0).nan_to_num(nan=0.0, posinf=torch.inf, neginf=-torch.inf)


def _less(A: T) -> T:
    top = A.amax(dim=-1, keepdim=True)
    return A - torch.where(top.isneginf(), 0.0, top)


def _turned(A: T) -> T:
    return torch.where(A.isneginf(), A, -A)


def _over_columns(A: T) -> T:
    return torch.softmax(A, dim=-2)


def _over_everything(A: T) -> T:
    return torch.softmax(A.flatten(1), dim=-1).reshape(A.shape)


def _bare(A: T) -> T:
    finite = torch.where(A.isneginf(), 0.0, A)
    return finite / finite.sum(dim=-1, keepdim=True)
