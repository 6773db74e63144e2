"""An attention of a forward pass as experiments, one a text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute.capture.errors import CaptureError
from attn_gui.compute.capture.interface import Call
from attn_gui.compute.capture.masks import rule_of
from attn_gui.model.biases.additive import Additive
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import MaskRule
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import GivenQKV
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant


class Layers:
    """Makes experiments; masks and biases that layers share are made once, as the model made them."""

    def __init__(self) -> None:
        self._rules: dict[tuple[Any, ...], list[MaskRule]] = {}
        self._biases: dict[tuple[Any, ...], list[tuple[Additive, ...]]] = {}
        self._kept: list[Any] = []  # what was made once is known by its address, which must not be given away

    def of(
        self, call: Call, queries: Sequence[TokenSequence], keys: Sequence[TokenSequence] | None
    ) -> list[Experiment]:
        """One experiment for each text of the batch; ``keys`` are the tokens of the keys of a cross-attention.

        Raises CaptureError where the model attends over other positions than the tokens.
        """
        batch, heads, n_q, d_k = call.query.shape
        others = queries if keys is None else keys
        expected = (len(queries), len(queries[0]), len(others[0]))
        if (batch, n_q, call.key.shape[2]) != expected:
            texts, tokens = expected[0], f"{expected[1]} x {expected[2]}"
            raise CaptureError(
                f"{call.module} attends in {batch} x {n_q} x {call.key.shape[2]} places where {texts} texts have "
                f"{tokens} tokens: {type(call.of).__name__} makes other pieces of the texts, which have no names here"
            )
        cross = keys is not None
        variant = (
            (Variant.MULTI_HEAD_CROSS if cross else Variant.MULTI_HEAD_SELF)
            if heads > 1
            else (Variant.CROSS if cross else Variant.SELF)
        )
        rules, biases = self._rules_of(call, others), self._biases_of(call)
        return [
            Experiment(
                queries[b],
                GivenQKV(*(array(each[b]) for each in (call.query, call.key, call.value))),
                variant,
                heads,
                call.key.shape[1],
                None if keys is None else keys[b],
                rule=rules[b],
                scoring=_scoring(call, d_k, biases[b]),
                precision=precision_of(call.query.dtype),
            )
            for b in range(batch)
        ]

    def _rules_of(self, call: Call, keys: Sequence[TokenSequence]) -> list[MaskRule]:
        known = (id(call.mask), call.causal, call.query.shape[2], id(keys))
        if known not in self._rules:
            allowed = call.allowed()  # [batch or 1, heads or 1, n_q, n_k]
            shape = (call.query.shape[2], call.key.shape[2])
            flags = None if allowed is None else allowed.expand(len(allowed), -1, *shape).cpu().numpy()
            self._rules[known] = [
                rule_of(None if flags is None else _single(flags[b if len(flags) > 1 else 0]), sequence.pad)
                for b, sequence in enumerate(keys)
            ]
            self._kept.append((call.mask, keys))
        return self._rules[known]

    def _biases_of(self, call: Call) -> list[tuple[Additive, ...]]:
        known = (id(call.mask), id(call.position_bias), call.query.shape)
        if known not in self._biases:
            added = call.bias()  # [batch or 1, heads or 1, n_q, n_k]
            made: list[tuple[Additive, ...]] = [()]
            if added is not None and bool(added.any()):
                shape = (call.query.shape[2], call.key.shape[2])
                numbers = added.expand(len(added), -1, *shape).double().cpu().numpy()
                made = [(Additive(_single(cells)),) for cells in numbers]
            self._biases[known] = made * len(call.query) if len(made) == 1 else made
            self._kept.append((call.mask, call.position_bias))
        return self._biases[known]


def array(tensor: torch.Tensor) -> NDArray[Any]:
    """A read-only copy in the tensor's own type of number."""
    copied = tensor.detach().to("cpu", copy=True).contiguous()
    if copied.dtype == torch.bfloat16:
        result = copied.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    else:
        result = copied.numpy()
    result = np.array(result, order="C")
    result.flags.writeable = False
    return result


def precision_of(dtype: torch.dtype) -> Precision:
    """The precision that a model computes in; raises CaptureError for one that there is none for."""
    try:
        return Precision(str(dtype).removeprefix("torch."))
    except ValueError as error:
        raise CaptureError(f"The model computes in {dtype}; only {', '.join(Precision)} can be shown") from error


def _scoring(call: Call, d_k: int, biases: tuple[Additive, ...]) -> Scoring:
    usual = math.isclose(call.scale, 1 / math.sqrt(d_k), rel_tol=1e-14)
    sinks = call.sinks
    return Scoring(
        scale=None if usual else call.scale,
        softcap=call.softcap,
        biases=biases,
        sinks=None if sinks is None else tuple(float(sink) for sink in sinks.flatten()),
    )


def _single(cells: NDArray[Any]) -> NDArray[Any]:
    """[heads, n_q, n_k], or [n_q, n_k] where all heads are given one."""
    return cells[0] if len(cells) == 1 else cells
