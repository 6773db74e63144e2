"""Tensors without a dialog: what a file holds, in lines of text, and the session that is proposed for it."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from attn_gui.files.errors import FileError
from attn_gui.files.summary import printable
from attn_gui.files.tensors import ENDINGS, token_lists
from attn_gui.files.tensors.looking import look
from attn_gui.files.tensors.opening import ids_of, session_of
from attn_gui.model.mask_import import Meaning
from attn_gui.model.session import Session
from attn_gui.model.tensors.checks import doubts, problems, sizes
from attn_gui.model.tensors.info import Contents, Peek
from attn_gui.model.tensors.offers import offers
from attn_gui.model.tensors.proposals import propose
from attn_gui.model.tensors.reading import Part, Reading

SHOWN = 200


@dataclass(frozen=True)
class Choices:
    """What a person says beside what is proposed; batch from 0, None for what is proposed.

    tokens: a file of tokens, or a tokenizer.json for the ids of the file.
    """

    batch: int | None = None
    heads: int | None = None
    meaning: Meaning | None = None
    tokens: Path | None = None


def is_tensors(path: Path) -> bool:
    """Whether ``path`` is to be opened as tensors, and not as a session."""
    return path.is_dir() or path.suffix.casefold() in ENDINGS


def session_from(path: Path, choices: Choices) -> Generator[float, None, Session]:
    """The session that is proposed for a file of tensors; raises FileError, also where its reading is not clear."""
    contents = yield from look([path])
    reading = _reading(contents, choices)
    wrong = problems(contents, reading)
    if wrong:
        doubt = f"a doubt: {wrong[0].text}{_advice(wrong[0].field)}"
        raise FileError(path, "", "tensors whose reading is clear", doubt)
    return (yield from session_of(contents, reading))


def at_layer(path: Path, session: Session, layer: int) -> Session:
    """``session`` with the first experiment of a layer, counted from 0, as its current one; raises FileError."""
    for index, named in enumerate(session.experiments):
        if named.place is not None and named.place.layer == layer:
            return replace(session, current=index)
    layers = [named.place.layer + 1 for named in session.experiments if named.place is not None]
    there = f"a layer from {min(layers)} to {max(layers)}" if layers else "a file of layers, for --layer"
    raise FileError(path, "", there, f"layer {layer + 1}")


def described(path: Path, choices: Choices) -> Generator[float, None, list[str]]:
    """Lines that say what a file holds, how it would be read, and what would follow; raises FileError."""
    contents = yield from look([path])
    reading = _reading(contents, choices)
    return list(_lines(contents, reading))


def _reading(contents: Contents, choices: Choices) -> Reading:
    reading = propose(contents)
    if choices.batch is not None:
        reading = replace(reading, batch=choices.batch)
    if choices.heads is not None:
        reading = replace(reading, heads=choices.heads)
    if choices.meaning is not None:
        reading = replace(reading, meaning=choices.meaning)
    if choices.tokens is not None:
        reading = replace(reading, tokens=_tokens(contents, reading, choices.tokens), key_tokens=None)
    return reading


def _tokens(contents: Contents, reading: Reading, path: Path) -> tuple[str, ...]:
    if not token_lists.is_tokenizer(path):
        return token_lists.read(path)
    ids = ids_of(contents, reading)
    if ids is None:
        raise FileError(contents.path, "", "ids of tokens (input_ids), for the tokenizer to name", "none")
    return token_lists.of_ids(path, ids).tokens


def _advice(field: str) -> str:
    options = {"meaning": "--mask-means", "heads": "--heads", "batch": "--batch", "tokens": "--tokens"}
    return f" (say so with {options[field]})" if field in options else ""


def _lines(contents: Contents, reading: Reading) -> Iterator[str]:
    names = [_called(part) for part in reading.parts]
    width = min(40, max(map(len, names)))
    for part, name in list(zip(reading.parts, names, strict=True))[:SHOWN]:
        yield f"{printable(name):<{width}}  {_part(contents, part)}"
    if len(names) > SHOWN:
        yield f"… and {len(names) - SHOWN} more"
    for name, words in contents.words.items():
        yield f"{printable(name):<{width}}  {len(words)} words"
    for group, size in sizes(contents, reading).items():
        layers = f"{len(size.layers)} layers, " if size.layers else ""
        batch = f"item {reading.batch + 1} of a batch of {size.batch}, " if size.batch > 1 else ""
        known = size.heads and size.n_q
        counts = f"{size.heads} heads, {size.n_q} queries, {size.n_k} keys" if known else f"{size.n_q} tokens"
        yield f"{group or 'attention'}: {layers}{batch}{counts}"
    wrong = problems(contents, reading)
    yield from (f"unclear: {problem.text}{_advice(problem.field)}" for problem in wrong)
    if not wrong:
        yield from (f"doubt: {doubt.text}" for doubt in doubts(contents, reading))
        yield from (offer.text for offer in offers(contents, reading))
    yield from contents.remarks


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
