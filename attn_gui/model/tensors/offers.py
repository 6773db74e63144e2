"""What follows from the tensors of a file, and what cannot: sentences for the dialog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.checks import called, shown_groups, source_of
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.mask_source import is_looked_through, mask_shown_by
from attn_gui.model.tensors.reading import Part, Reading


@dataclass(frozen=True)
class Offer:
    """One sentence on what is shown or derived (``possible``), or on what cannot be had, and why."""

    text: str
    possible: bool


def offers(contents: Contents, reading: Reading) -> tuple[Offer, ...]:
    """What will be shown, what is derived from what, what is compared, and what cannot be known."""
    found = [offer for group in shown_groups(reading) for offer in _of_group(contents, reading, group)]
    return tuple(dict.fromkeys(found))


def _of_group(contents: Contents, reading: Reading, group: str) -> Iterator[Offer]:
    parts = {part.role: part for part in reading.used(group)}
    source = source_of(reading, group)
    values = {Role.V, Role.KV, Role.QKV} & set(parts)
    if source is Role.QKV:
        yield Offer("A and N are computed from Q and K, under any mask and scoring", True)
        for role, letter in ((Role.WEIGHTS, "N"), (Role.SCORES, "A")):
            if role in parts:
                yield Offer(f"They are compared with the {letter} of the file", True)
                break
        yield from _of_mask(contents, reading, group)
    elif source is Role.SCORES:
        yield Offer("N is computed from the scores, under any mask and normaliser", True)
        if Role.WEIGHTS in parts:
            yield Offer("It is compared with the N of the file", True)
        yield from _of_mask(contents, reading, group)
        yield Offer("Q and K are not there: where the scores come from cannot be shown", False)
    elif source is Role.WEIGHTS:
        yield Offer("The weights are shown as they are", True)
        yield from _of_sums(contents, parts[Role.WEIGHTS])
        yield Offer("Scores cannot be known from weights: no mask, scale or normaliser can be changed", False)
        if Role.MASK in parts:
            yield Offer("The mask is left out: what it forbids has weight 0 already", False)
        if Role.Q in parts or parts.keys() & {Role.K, Role.KV}:
            missing = "K" if Role.Q in parts else "Q"
            yield Offer(f"{missing} is missing: the scores cannot be computed", False)
    elif source is Role.HIDDEN:
        yield Offer("The hidden states become the embeddings X, with identities for W_Q, W_K and W_V", True)
        yield Offer("Q, K and V of the model need its weights: File > Open weights reads them", False)
    if values and source is not Role.HIDDEN:
        yield Offer("The output N V of each head is computed", True)
    elif source is not Role.HIDDEN:
        yield Offer("V is not there: the output cannot be computed", False)
    if Role.OUTPUT in parts and source is not Role.HIDDEN:
        yield Offer("The output of the file is left out: Attention > Find the convention compares one", False)
    if Role.HIDDEN in parts and source is not Role.HIDDEN:
        yield Offer("The hidden states are left out: without the weights nothing follows from them", False)


def _of_mask(contents: Contents, reading: Reading, group: str) -> Iterator[Offer]:
    """Where the mask comes from, where no tensor of the file is one."""
    part = mask_shown_by(contents, reading, group)
    if part is None:
        return
    if not is_looked_through(contents, part):
        yield Offer(f"The mask that {called(part)} show is not read, for there are too many: choose it by hand", False)
    elif part.role is Role.SCORES:
        yield Offer("The mask is taken from the scores of the file: a cell of −∞ is blocked", True)
    else:
        peeks = [peek for name in part.tensors if (peek := contents.tensor(name).peek) is not None]
        kind = next(peek.zeros for peek in peeks if peek.zeros)
        yield Offer(f"The mask ({kind}) is taken from the weights of the file, which are 0 where it forbids", True)


def _of_sums(contents: Contents, part: Part) -> Iterator[Offer]:
    """Whether the rows of weights sum to 1, which is said and never mended."""
    key = part.place(Axis.KEY)
    peeks = [peek for name in part.tensors if (peek := contents.tensor(name).peek) is not None]
    if key is None or not peeks or any(key >= len(peek.sums) for peek in peeks):
        return
    spans = [span for peek in peeks if key < len(peek.spans) and (span := peek.spans[key]) is not None]
    low, high = min((span[0] for span in spans), default=1.0), max((span[1] for span in spans), default=1.0)
    if all(peek.sums[key] for peek in peeks) and low > 0:
        return
    said = f": they sum to {low:.3g} to {high:.3g}" if f"{low:.3g}" != f"{high:.3g}" else f": they sum to {low:.3g}"
    yield Offer(f"Not all rows of {called(part)} sum to 1{said if spans and not low == high == 1 else ''}", False)
