"""Layers whose weights are in a file and that the model does not have, since its config says fewer."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attn_gui.model.counted import counted

# the name of a list of layers, and a layer's number in it
_LAYER = re.compile(r"^(.+?)\.([0-9]{1,6})\.")
_MOST = 8


def layers_left_out(unexpected: Iterable[str], names: Iterable[str]) -> str:
    """A sentence that says of which layers the weights were not used; "" for none.

    unexpected: names of weights that the model has no place for. names: those of its parameters. What else a file may
    hold besides (a head of another task, buffers of old versions) makes no difference to attention.
    """
    counts: dict[str, int] = {}
    for stack, number in _layers(names):
        counts[stack] = max(counts.get(stack, 0), number + 1)
    left: dict[str, set[int]] = {}
    for stack, number in _layers(unexpected):
        # files may leave out the name of the model inside a model with a head, or have it besides
        same = [other for other in counts if f".{other}".endswith(f".{stack}") or f".{stack}".endswith(f".{other}")]
        if same and number >= counts[same[0]]:
            left.setdefault(same[0], set()).add(number)
    return "; ".join(_said(sorted(numbers), counts[stack]) for stack, numbers in left.items())


def _layers(names: Iterable[str]) -> Iterable[tuple[str, int]]:
    for name in names:
        if (found := _LAYER.match(name)) is not None:
            yield found[1], int(found[2])


def _said(numbers: list[int], count: int) -> str:
    shown = [str(number + 1) for number in numbers[:_MOST]]
    last = f"{len(numbers) - _MOST} more" if len(numbers) > _MOST else shown.pop()
    which = f"layers {', '.join(shown)} and {last}" if shown else f"layer {last}"
    return f"The weights of {which} were not used: config.json says {counted(count, 'layer')}"
