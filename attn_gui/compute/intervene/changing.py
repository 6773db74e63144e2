"""What actions make of the output of one attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import torch

from attn_gui.compute.capture.interface import Call
from attn_gui.compute.intervene.weighing import allowed, gathered, weights
from attn_gui.model.errors import ExperimentError
from attn_gui.model.intervention import Action, ChangeMask, ChangeTemperature, Forbid, ReplaceBy, SwitchOff
from attn_gui.model.masks import Columns, MaskRule

Outputs = Mapping[Action, np.ndarray]


def changed(
    call: Call, output: torch.Tensor, actions: Sequence[Action], tokens: torch.Tensor | None, shown: Outputs
) -> torch.Tensor:
    """``output`` [batch, n_q, heads, d_v] with ``actions`` in force; heads that none of them is about stay bit for bit.

    Whatever their order, weights change first, then outputs are replaced, then heads are switched off.
    tokens: bool [batch, n_q], those that are not padding, None where all are tokens. shown: for each action that
    replaces by what is shown, those outputs [heads, n_q, d_v]. Raises ExperimentError for a head, text, token or rule
    that there is not, or that does not fit.
    """
    output = output.clone()
    _reweigh(call, output, [a for a in actions if _is_of_weights(a)])
    for action in actions:
        rows, heads = _places(call, action)
        if isinstance(action.change, ReplaceBy) and action.change.by == "mean":
            counted = torch.ones(output.shape[:2], device=output.device) if tokens is None else tokens.float()
            total = torch.einsum("bnhd,bn->bhd", output.float(), counted)
            means = total / counted.sum(dim=1).clamp(min=1)[:, None, None]
            output[rows[:, None], :, heads] = means[rows[:, None], heads][:, :, None].to(output.dtype)
        elif isinstance(action.change, ReplaceBy) and action.change.by == "shown":
            _put(output, rows, heads, shown[action])
    for action in actions:
        if isinstance(action.change, SwitchOff):
            rows, heads = _places(call, action)
            output[rows[:, None], :, heads] = 0
    return output


def _is_of_weights(action: Action) -> bool:
    change = action.change
    return isinstance(change, Forbid | ChangeMask | ChangeTemperature) or (
        isinstance(change, ReplaceBy) and change.by == "even"
    )


def _reweigh(call: Call, output: torch.Tensor, actions: Sequence[Action]) -> None:
    """Put N V with other weights in place, in those heads, texts and queries alone that ``actions`` are about."""
    if not actions:
        return
    device = call.query.device
    touched = torch.zeros(call.query.shape[:3], dtype=torch.bool, device=device)
    for action in actions:
        rows, heads = _places(call, action)
        if isinstance(action.change, Forbid):
            _check(call, action.change)
            touched[rows[:, None], heads, action.change.query] = True
        else:
            touched[rows[:, None], heads] = True
    every = touched.any(dim=(0, 2)).nonzero()[:, 0]
    place = {int(head): at for at, head in enumerate(every)}
    own = allowed(call, every)
    cells, temperature = own.clone(), torch.ones(len(touched), len(every), 1, 1, device=device)
    even = torch.zeros_like(temperature, dtype=torch.bool)
    # masks before pairs: a pair that was forbidden stays so under another mask
    for action in sorted(actions, key=lambda action: isinstance(action.change, Forbid)):
        change = action.change
        rows, heads = _places(call, action)
        at = rows[:, None], torch.tensor([place[int(head)] for head in heads], dtype=torch.int64, device=device)
        if isinstance(change, ChangeMask):
            reachable = own.any(dim=-2, keepdim=True)
            cells[at] = _cells(call, change.rule, heads) & reachable[at]
        elif isinstance(change, ChangeTemperature):
            temperature[at] = change.temperature
        elif isinstance(change, Forbid):
            cells[(*at, change.query, change.key)] = False
        else:
            even[at] = True
    N = weights(call, every, cells, temperature)
    alike = cells / cells.sum(dim=-1, keepdim=True).clamp(min=1)
    made = gathered(call, torch.where(even, alike, N), every).transpose(1, 2)  # [batch, n_q, heads, d_v]
    changes = touched[:, every].transpose(1, 2)[..., None]  # [batch, n_q, heads, 1]
    output[:, :, every] = torch.where(changes, made, output[:, :, every])


def _places(call: Call, action: Action) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows of the batch and the heads that ``action`` is about, as indices."""
    (texts, count), device = call.query.shape[:2], call.query.device
    heads = range(count) if action.heads is None else action.heads
    rows = range(texts) if action.text is None else (action.text,)
    for what, given, most in (("head", heads, count), ("text", rows, texts)):
        for index in given:
            if not 0 <= index < most:
                raise ExperimentError(f"attention {call.module}", f"a {what} from 1 to {most}", str(index + 1))
    # the type is said, for of no heads torch would guess another
    places = partial(torch.tensor, dtype=torch.int64, device=device)
    return places([*rows]), places([*heads])


def _cells(call: Call, rule: MaskRule, heads: torch.Tensor) -> torch.Tensor:
    """Where ``rule`` lets a query attend: bool [1, 1 or heads, n_q, n_k], of ``heads`` in their order."""
    if rule.reads:
        raise ExperimentError("mask", "a rule of places alone", f"{rule.title}, which reads {', '.join(rule.reads)}")
    (n_q, n_k), device = _cell_count(call), call.query.device
    i, j = torch.arange(n_q, device=device)[:, None], torch.arange(n_k, device=device)[None, :]

    def here(array: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(array, device=device)

    columns = Columns(n_q, n_k, n_k - n_q, heads=heads[:, None, None], here=here)
    cells: torch.Tensor = rule.allowed(i, j, columns)
    return cells[None, None] if cells.dim() == 2 else cells[None]


def _cell_count(call: Call) -> tuple[int, int]:
    """n_q, n_k."""
    return call.query.shape[2], call.key.shape[2]


def _check(call: Call, pair: Forbid) -> None:
    n_q, n_k = _cell_count(call)
    for what, index, count in (("query", pair.query, n_q), ("key", pair.key, n_k)):
        if not 0 <= index < count:
            raise ExperimentError(what, f"1 to {count}", str(index + 1))


def _put(output: torch.Tensor, rows: torch.Tensor, heads: torch.Tensor, shown: np.ndarray) -> None:
    """Put what the window shows, [heads, n_q, d_v], in place of ``heads``; padding after it stays as it is."""
    count, n_q, width = shown.shape
    _, most, all_heads, d_v = output.shape
    if (count, width) != (all_heads, d_v) or n_q > most:
        expected = f"[{all_heads}, at most {most}, {d_v}]"
        raise ExperimentError("shown", f"outputs of heads {expected}", str([count, n_q, width]))
    made = torch.as_tensor(shown, device=output.device).to(output.dtype)[heads]  # [heads, n_q, d_v]
    for row in rows:
        output[row, :n_q, heads] = made.transpose(0, 1)
