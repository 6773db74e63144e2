"""What follows from the tensors of a file, and what cannot: sentences for the dialog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from attn_gui.model.counted import counted
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.checks import called, shown_groups, source_of
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.mask_source import (
    Kind,
    is_looked_through,
    scores_that_block,
    unread_scores,
    zeros_that_block,
)
from attn_gui.model.tensors.names import NUMBER
from attn_gui.model.tensors.reading import Part, Reading
from attn_gui.model.tensors.sizes import sizes_of

_KINDS: dict[Kind, str] = {"": "none", "causal": "causal", "padding": "padding", "unknown": "each its own"}


@dataclass(frozen=True)
class Offer:
    """One sentence on what is shown or derived (``possible``), or on what cannot be had, and why."""

    text: str
    possible: bool


def offers(contents: Contents, reading: Reading) -> tuple[Offer, ...]:
    """What will be shown, what is derived from what, what is compared, and what cannot be known."""
    found = [offer for group in shown_groups(reading) for offer in _of_group(contents, reading, group)]
    return tuple(dict.fromkeys([*found, *_of_words(contents, reading)]))


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
            yield Offer("The mask is left out: it acts on scores, and these are weights", False)
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
    """Where the mask comes from beside tensors of the file that are one."""
    masked = any(part.role is Role.MASK for part in reading.used(group))
    beside = ", besides its own mask" if masked else ""
    scores = scores_that_block(contents, reading, group)
    if scores is not None:
        yield from _looked_through(contents, scores, _of_scores(contents, scores, beside))
        return
    found = zeros_that_block(contents, reading, group)
    if found is not None:
        yield from _looked_through(contents, found[0], _of_zeros(found[1], beside))
    low = unread_scores(contents, reading, group)
    if low is not None:
        text = f"The scores of the file go down to {low:,.6g}: if a mask was added to them, choose it by hand"
        yield Offer(text, False)


def _looked_through(contents: Contents, part: Part, text: str) -> Iterator[Offer]:
    if is_looked_through(contents, part):
        yield Offer(text, True)
    else:
        yield Offer(f"The mask that {called(part)} show is not read, for there are too many: choose it by hand", False)


def _of_scores(contents: Contents, part: Part, beside: str) -> str:
    peeks = [peek for name in part.tensors if (peek := contents.tensor(name).peek) is not None]
    text = f"The mask is taken from the scores of the file{beside}: a cell of "
    if any(peek.minus_inf for peek in peeks):
        return f"{text}−∞ is blocked"
    floor = max(peek.floor for peek in peeks if peek.floor is not None)
    return f"{text}−{-floor:,.6g} or lower stands for −∞ and is blocked"


def _of_zeros(kinds: Mapping[int | None, Kind], beside: str) -> str:
    text = f"taken from the weights of the file, which are 0 where it forbids{beside}"
    by_kind: dict[Kind, list[int]] = {}
    for layer, kind in kinds.items():
        by_kind.setdefault(kind, []).append((layer or 0) + 1)
    if len(by_kind) == 1:
        (kind,) = by_kind
        return f"The mask of each layer is {text}" if kind == "unknown" else f"The mask ({kind}) is {text}"
    said = [f"{_KINDS[kind]} in {_layers(layers)}" for kind, layers in by_kind.items()]
    return f"The masks are {text}: {', '.join(said)}"


def _layers(numbers: Sequence[int]) -> str:
    """``layer 2``, ``layers 1 to 3 and 7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [
        text
        for run in runs
        for text in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(number) for number in run])
    ]
    listed = texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
    return f"layer{'' if len(numbers) == 1 else 's'} {listed}"


def _of_words(contents: Contents, reading: Reading) -> Iterator[Offer]:
    """Lists of words of the file that are left out, for they are neither as many as the queries nor as the keys."""
    shown = [sizes_of(contents, reading, group) for group in shown_groups(reading)]
    used = (reading.tokens, reading.key_tokens)
    by_hand = any(names is not None and names not in contents.words.values() for names in used)
    if not shown or by_hand:
        return
    counts = {count for size in shown for count in (size.n_q, size.n_k)}
    # a list for each sentence of a batch, of which the one that is opened has its own
    fitting = {NUMBER.sub("", name) for name, words in contents.words.items() if len(words) in counts}
    for name, words in contents.words.items():
        if len(words) in counts and all(words):
            continue
        if len(words) in counts:
            yield Offer(f"The list {name} is left out: some of its words are empty", False)
        elif NUMBER.sub("", name) not in fitting:
            sides = counted(shown[0].n_q, "query", "queries"), counted(shown[0].n_k, "key")
            known = sides[0] if shown[0].n_q == shown[0].n_k else " and ".join(sides)
            yield Offer(f"The list {name} is left out: {counted(len(words), 'word')} for {known}", False)


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
