"""Tensors without a dialog: what a file holds, in lines of text, and the session that is proposed for it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from pathlib import Path

from attn_gui.files.errors import FileError
from attn_gui.files.regular import is_folder
from attn_gui.files.summary import printable
from attn_gui.files.tensors import ENDINGS, token_lists
from attn_gui.files.tensors.looking import look
from attn_gui.files.tensors.opening import ids_of, session_of
from attn_gui.files.tensors.previewing import LARGEST_PREVIEWED, MaskPreview, cells_of, previews, proposed
from attn_gui.model.counted import counted
from attn_gui.model.layer_place import LayerPlace
from attn_gui.model.mask_import import Meaning
from attn_gui.model.session import Session
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.checks import doubts, problems, sizes
from attn_gui.model.tensors.info import Contents, Peek
from attn_gui.model.tensors.offers import offers
from attn_gui.model.tensors.problem import Problem, source_of
from attn_gui.model.tensors.proposals import meaning_of
from attn_gui.model.tensors.reading import Part, Reading, swapped
from attn_gui.model.tensors.sizes import OF_KEYS, Sizes
from attn_gui.model.tensors.told import NotThere, ToldAxes, ToldRole, as_told

SHOWN = 200
MEANINGS: dict[Meaning, str] = {
    "allowed": "true (or 1) means may attend",
    "blocked": "true (or 1) means blocked",
    "additive": "its numbers are added to the scores",
}


@dataclass(frozen=True)
class Choices:
    """What a person says beside what is proposed; batch from 0, None for what is proposed.

    heads, kv_heads: how many lie side by side, of queries, and of keys and values where these are fewer.
    meaning: of a mask; None for what its name says, or for the one that alone leaves every query a key.
    tokens: a file of tokens, or a tokenizer.json for the ids of the file. roles, axes: of tensors by their names.
    """

    batch: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    meaning: Meaning | None = None
    tokens: Path | None = None
    roles: tuple[ToldRole, ...] = ()
    axes: tuple[ToldAxes, ...] = ()


class Contradiction(FileError):
    """What is told of tensors contradicts itself, or is told of what is not there, or not read."""


def is_tensors(path: Path) -> bool:
    """Whether ``path`` is to be opened as tensors, and not as a session."""
    return is_folder(path) or path.suffix.casefold() in ENDINGS


def session_from(path: Path, choices: Choices) -> Generator[float, None, Session]:
    """The session that is proposed for a file of tensors; raises FileError, also where its reading is not clear."""
    contents = yield from look([path])
    reading = _reading(contents, choices)
    wrong = problems(contents, reading)
    if wrong:
        doubt = f"a doubt: {wrong[0].text}{_advice(reading, wrong[0])}"
        raise FileError(path, "", "tensors whose reading is clear", doubt)
    return (yield from session_of(contents, reading))


def at_layer(path: Path, session: Session, layer: int) -> Session:
    """What ``session`` holds of a layer, counted from 0; raises FileError."""
    layers = [named.place.layer for named in session.experiments if named.place is not None]
    if layer not in layers:
        raise _no_layer(path, layers, layer)
    return _only(session, lambda place: place.layer == layer)


def at_batch(path: Path, session: Session, batch: int) -> Session:
    """What ``session`` holds of an item of the batch, counted from 0; raises FileError."""
    items = {named.place.batch for named in session.experiments if named.place is not None} - {None}
    if not items:
        raise Contradiction(path, "", f"a batch, for --batch {batch + 1}", "one item")
    if batch not in items:
        raise FileError(path, "", f"a batch of {counted(len(items), 'item')}", f"item {batch + 1}")
    return _only(session, lambda place: place.batch == batch)


def _only(session: Session, wanted: Callable[[LayerPlace], bool]) -> Session:
    kept = tuple(named for named in session.experiments if named.place is not None and wanted(named.place))
    return replace(session, experiments=kept, current=kept.index(session.named) if session.named in kept else 0)


def described(path: Path, choices: Choices, layer: int | None = None) -> Generator[float, None, list[str]]:
    """Lines that say what a file holds, how it would be read, and what would follow; raises FileError.

    layer: the one that is meant, from 0, which has to be there.
    """
    contents = yield from look([path])
    reading = _reading(contents, choices)
    if layer is not None:
        there = {each for size in sizes(contents, reading).values() for each in size.layers}
        if layer not in there:
            raise _no_layer(path, sorted(there), layer)
        reading = replace(reading, layers=(layer,))
    lines = list(_lines(contents, reading, choices))
    if is_folder(path) and (path / "config.json").is_file():
        lines.append("A model's folder: File > Open model, or attn_gui.capture, has it attend to a text")
    return lines


def _no_layer(path: Path, layers: Sequence[int], layer: int) -> FileError:
    there = "a file of layers, for --layer"
    if layers:
        first, last = min(layers), max(layers)
        whole = len({*layers}) == last - first + 1
        there = f"a layer from {first + 1} to {last + 1}" if whole else f"one of the layers {_listed(layers)}"
    return FileError(path, "", there, f"layer {layer + 1}")


def _listed(layers: Sequence[int]) -> str:
    """``1, 3 to 5, 11``, of layers from 0."""
    there = {*layers}
    firsts = sorted(layer for layer in there if layer - 1 not in there)
    lasts = sorted(layer for layer in there if layer + 1 not in there)
    runs = zip(firsts, lasts, strict=True)
    return ", ".join(f"{first + 1}" if first == last else f"{first + 1} to {last + 1}" for first, last in runs)


def _reading(contents: Contents, choices: Choices) -> Reading:
    try:
        reading = as_told(contents, choices.roles, choices.axes)
    except NotThere as error:
        raise FileError(contents.path, "", error.expected, error.received) from error
    _check_told(contents.path, reading, choices)
    if choices.batch is not None:
        _check_batched(contents, reading, choices.batch)
        reading = replace(reading, batch=choices.batch)
    if choices.heads is not None:
        reading = replace(reading, heads=choices.heads)
    if choices.kv_heads is not None:
        reading = replace(reading, kv_heads=choices.kv_heads)
    if choices.meaning is not None:
        reading = replace(reading, meaning=choices.meaning)
    elif reading.meaning is None:
        reading = replace(reading, meaning=proposed(_previews(contents, reading)))
    if not any(problem.field not in ("meaning", "tokens", "key_tokens") for problem in problems(contents, reading)):
        _check_used(contents, reading, choices)
    if choices.tokens is not None:
        reading = replace(reading, tokens=_tokens(contents, reading, choices.tokens), key_tokens=None)
    return reading


def _check_told(path: str, reading: Reading, choices: Choices) -> None:
    """Raise Contradiction unless each part is told of once, of each attention one for each role, and axes are used."""
    roles: dict[Part, ToldRole] = {}
    for told in choices.roles:
        part = _part_told(reading, told.name)
        before = roles.setdefault(part, told)
        if before.role is not told.role:
            kinds = " and ".join("nothing" if each.role is None else each.role.value for each in (before, told))
            raise Contradiction(path, "", f"one role for {_named(part, told)}", kinds)
        # of two that are told to be the same, the reading leaves one out
        same = [each for other, each in roles.items() if other.group == part.group and other != part]
        second = next((each for each in same if each.role is told.role is not None), None)
        if told.role is not None and second is not None:
            received = f"{second.name} and {told.name}"
            raise Contradiction(path, "", f"one tensor that is {told.role.value} in an attention", received)
    axes: dict[Part, ToldAxes] = {}
    for each in choices.axes:
        part = _part_told(reading, each.name)
        name = _named(part, each)
        if axes.setdefault(part, each).axes != each.axes:
            raise Contradiction(path, "", f"the axes of {name} once", "twice")
        if part.role is None:
            expected = f"axes of a tensor that is read (--read says as what: --read weights={name})"
            raise Contradiction(path, "", expected, f"those of {name}, which is not")


def _check_batched(contents: Contents, reading: Reading, batch: int) -> None:
    """Raise Contradiction, whatever the item, where no axis is read as a batch; it names the one read as layers."""
    if any(Axis.BATCH in part.axes for part in reading.used()):
        return
    received = "none"
    layered = next((part for part in reading.used() if Axis.LAYER in part.axes), None)
    if layered is not None:
        at, name = layered.axes.index(Axis.LAYER), layered.tensors[0]
        items = counted(contents.tensor(name).shape[at], "item")
        axes = ",".join(swapped(layered.axes, at, Axis.BATCH))
        received = f"axis {at} of {name} ({items}) read as layers (say otherwise with --axes {axes}={name})"
    raise Contradiction(contents.path, "", f"an axis that is read as a batch, for --batch {batch + 1}", received)


def _check_used(contents: Contents, reading: Reading, choices: Choices) -> None:
    """Raise Contradiction where a number, or what a mask means, is told of what the file has nothing of."""
    beside = [part for part in reading.used() if part.is_side_by_side]
    of_keys = [part for part in beside if part.role in (*OF_KEYS, Role.QKV)]
    unsaid, said = sizes(contents, replace(reading, heads=None, kv_heads=None)), sizes(contents, reading)
    for option, told, own, taken, parts in (
        ("--heads", choices.heads, _counts(unsaid, "heads"), _counts(said, "heads"), beside),
        ("--kv-heads", choices.kv_heads, _counts(unsaid, "kv_heads"), _counts(said, "kv_heads"), of_keys),
    ):
        if told is not None and told not in own and not (parts and told in taken):
            there = f"{counted(max(own), 'head')} by themselves" if own else "none"
            raise Contradiction(contents.path, "", f"heads side by side in one axis, for {option} {told}", there)
    masks = [part for part in reading.used() if part.role is Role.MASK]
    if choices.meaning is not None and not masks:
        raise Contradiction(contents.path, "", "a mask, for --mask-means", "none")
    if choices.meaning is not None and all(source_of(reading, part.group) is Role.WEIGHTS for part in masks):
        raise Contradiction(contents.path, "", "a mask that acts, for --mask-means", "one beside weights alone")


def _counts(found: Mapping[str, Sizes], name: str) -> set[int]:
    return {getattr(size, name) for size in found.values()} - {0}


def _part_told(reading: Reading, name: str) -> Part:
    """The part that was told of, which is there."""
    return next((part for part in reading.parts if name in part.tensors), reading.parts[0])


def _named(part: Part, told: ToldRole | ToldAxes) -> str:
    return told.name or part.tensors[0]


def _previews(contents: Contents, reading: Reading) -> tuple[MaskPreview, ...]:
    """The mask with each of its meanings, as in the window.

    Empty also for a mask that is too large for the window to show, and for one that does not fit.
    """
    part = next((part for part in reading.used() if part.role is Role.MASK), None)
    if part is None or any(p.field != "meaning" for p in problems(contents, reading)):
        return ()
    if cells_of(contents.tensor(part.tensors[0]), part) > LARGEST_PREVIEWED:
        return ()
    return previews(contents, reading)


def _tokens(contents: Contents, reading: Reading, path: Path) -> tuple[str, ...]:
    if not token_lists.is_tokenizer(path):
        return token_lists.read(path, reading.batch)
    ids = ids_of(contents, reading)
    if ids is None:
        raise FileError(contents.path, "", "ids of tokens (input_ids), for the tokenizer to name", "none")
    return token_lists.of_ids(path, ids).tokens


def _advice(reading: Reading, problem: Problem) -> str:
    """Which option clears ``problem``."""
    options = {
        "meaning": "--mask-means",
        "heads": "--heads",
        "kv_heads": "--kv-heads",
        "batch": "--batch",
        "tokens": "--tokens",
    }
    said = [options[problem.field]] if problem.field in options else []
    if problem.remedy is not None and len(problem.remedy.parts) == len(reading.parts):
        turned = []
        for new, old in zip(problem.remedy.parts, reading.parts, strict=True):
            if new.role is not old.role:
                turned.append(f"--read {'nothing' if new.role is None else new.role}={new.tensors[0]}")
            if new.axes != old.axes:
                turned.append(f"--axes {','.join(new.axes)}={new.tensors[0]}")
        said = [" ".join(turned)] if turned else said
    elif problem.field in ("batch", "kv_heads"):
        # of axes that were taken for something else, the number alone does not help
        said.append("--axes")
    return f" (say so with {' or '.join(said)})" if said else ""


def _lines(contents: Contents, reading: Reading, choices: Choices) -> Iterator[str]:
    names = [_called(part) for part in reading.parts]
    width = min(40, max(map(len, names)))
    for part, name in list(zip(reading.parts, names, strict=True))[:SHOWN]:
        yield f"{printable(name):<{width}}  {_part(contents, part)}"
    if len(names) > SHOWN:
        yield f"… and {len(names) - SHOWN} more"
    for name, words in contents.words.items():
        yield f"{printable(name):<{width}}  {counted(len(words), 'word')}"
    for group, size in sizes(contents, reading).items():
        layers = f"{counted(len(size.layers), 'layer')}, " if size.layers else ""
        batch = f"item {reading.batch + 1} of a batch of {size.batch}, " if size.batch > 1 else ""
        known = size.heads and size.n_q
        sides = (size.heads, "head", ""), (size.n_q, "query", "queries"), (size.n_k, "key", "")
        counts = ", ".join(starmap(counted, sides)) if known else counted(size.n_q, "token")
        yield f"{group or 'attention'}: {layers}{batch}{counts}"
    if reading.meaning is not None and any(part.role is Role.MASK for part in reading.used()):
        yield f"mask: {MEANINGS[reading.meaning]}{_why(contents, reading, choices)}"
    wrong = problems(contents, reading)
    yield from (f"unclear: {problem.text}{_advice(reading, problem)}" for problem in wrong)
    if not wrong:
        told = {each.name or reading.parts[0].tensors[0] for each in choices.axes}
        for doubt in doubts(contents, reading):
            if doubt.part is None or not told & set(reading.parts[doubt.part].tensors):
                yield f"doubt: {doubt.text}{_advice(reading, doubt)}"
        yield from (offer.text for offer in offers(contents, reading))
    yield from contents.remarks


def _why(contents: Contents, reading: Reading, choices: Choices) -> str:
    """Where the mask's meaning comes from."""
    if choices.meaning is not None:
        return ", as --mask-means says"
    if reading.meaning == "additive":
        return ""
    if meaning_of(contents, reading) is not None:
        return ", as its name says"
    agrees = any(each.agrees for each in _previews(contents, reading) if each.meaning == reading.meaning)
    why = "so it blocks what has weight 0 in the file" if agrees else "so every query has a key"
    return f": {why}; --mask-means says otherwise"


def _called(part: Part) -> str:
    count = len(part.tensors)
    return part.tensors[0] if count == 1 else f"{part.tensors[0]} … {part.tensors[-1]} ({count})"


def _part(contents: Contents, part: Part) -> str:
    tensor = contents.tensor(part.tensors[0])
    shape = " x ".join(map(str, tensor.shape)) or "one number"
    if part.role is None:
        read = "not read"
    else:
        read = f"{part.role.label}: {', '.join(axis.label.lower() for axis in part.axes)}"
    return f"{tensor.dtype} {shape}, {_range(tensor.peek)}{read}"


def _range(peek: Peek | None) -> str:
    if peek is None:
        return ""
    others = [name for name, there in (("NaN", peek.nan), ("inf", peek.inf), ("-inf", peek.minus_inf)) if there]
    numbers = "" if peek.low is None or peek.high is None else f"{peek.low:.6g} to {peek.high:.6g}"
    found = " and ".join(filter(None, (numbers, ", ".join(others))))
    return f"{found}{'' if peek.whole else ' in what was looked at'}; "
