"""The layers of a session: which of its experiments belong together, and what is known of each head."""

from __future__ import annotations

import re
from dataclasses import dataclass

from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.trace import Head

NOT_LAYERS = "This experiment is no layer of a model or of a file of many layers"


@dataclass(frozen=True)
class HeadAt:
    """A head of a session: the place of its experiment there, and which of its heads, or their mean."""

    layer: int
    head: Head


def layer_name(named: NamedExperiment, index: int) -> str:
    """What the experiment at ``index`` is called where there is little room: its number, or "L3" as a layer.

    Of the second item of a batch "L3·i2"; of a cross-attention "L3×".
    """
    place = named.place
    if place is None:
        return str(index + 1)
    return f"L{place.layer + 1}{'×' if place.kind == 'cross' else ''}{f'·i{place.batch + 1}' if place.batch else ''}"


def stack_of(session: Session) -> list[int]:
    """The self-attention layers that the current one is one of, from the lowest up, as places in the session.

    Those of the same module names but for numbers (a decoder's are not an encoder's) and of the same item of the
    batch; empty where the current experiment is no such layer.
    """
    own = session.named.place
    if own is None or own.kind != "self":
        return []
    found = []
    for index, named in enumerate(session.experiments):
        place = named.place
        if place is not None and (place.kind, place.batch, _pattern(place.module)) == (
            own.kind,
            own.batch,
            _pattern(own.module),
        ):
            found.append((place.layer, index))
    return [index for _, index in sorted(found)]


def rollout_reason(session: Session) -> str | None:
    """Why there is no attention rollout over the layers that the current experiment is one of, None where there is."""
    stack = stack_of(session)
    if not stack:
        return NOT_LAYERS if session.named.place is None else "Rollout is for self-attention"
    layers = [session.experiments[index].experiment for index in stack]
    if any(layer.hidden for layer in layers):
        return "The exercise hides the weights"
    if len(stack) == 1:
        return "There is one layer only"
    n = layers[0].n_q
    for index, layer in zip(stack, layers, strict=True):
        if not _is_square(layer) or layer.n_q != n:
            shape = f"{layer.n_q} queries and {layer.n_k} keys"
            return (
                f"Rollout needs {n} queries and {n} keys in every layer; {session.experiments[index].name} has {shape}"
            )
    return None


def _is_square(experiment: Experiment) -> bool:
    return experiment.n_q == experiment.n_k and not experiment.offset and not experiment.appended


def _pattern(module: str) -> str:
    return re.sub(r"\d+", "#", module)
