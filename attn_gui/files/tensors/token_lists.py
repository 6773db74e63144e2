"""Lists of tokens: pasted, or from text, JSON and tokenizer.json."""

from __future__ import annotations

import csv
import json
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from attn_gui.files.errors import FileError, cannot_read, check_size
from attn_gui.files.regular import size_of_file
from attn_gui.files.tensors import json_reader
from attn_gui.model.counted import counted
from attn_gui.model.errors import ExperimentError

MAX_BYTES = 1 << 26
FIELD = "tokens"
_EXPECTED = "tokens: a JSON list, one a line, or between blanks"


@dataclass(frozen=True)
class TokenList:
    """Names of tokens in their order; special: which are special tokens (empty where nothing says)."""

    tokens: tuple[str, ...]
    special: tuple[bool, ...] = ()


def parsed(text: str, item: int = 0) -> tuple[str, ...]:
    """Tokens of pasted text: a JSON list; or one a line; or, in one line, between tabs, commas or blanks.

    item: which, from 0, of a JSON list of lists, one for each item of a batch. Raises ExperimentError for what holds
    none, or JSON of something else.
    """
    stripped = text.strip("\ufeff \t\r\n")
    if stripped[:1] in "[{" and stripped[-1:] in "]}" and len(stripped) > 1:
        found = _of_json(stripped, item)
        if found is not None:
            return found
    lines = [line for line in text.strip("\ufeff\r\n").splitlines() if line.strip()]
    if not lines:
        raise ExperimentError(FIELD, _EXPECTED, "nothing")
    if len(lines) > 1:
        # a blank before a word belongs to the token, as many models write them
        return tuple(line.rstrip() for line in lines)
    line = lines[0].strip()
    if "\t" in line:
        return tuple(cell for cell in line.split("\t") if cell)
    if ", " in line or (line.count(",") > 1 and " " not in line):
        cells = next(csv.reader([line], skipinitialspace=True))
        return tuple(cell.strip("'") for cell in cells if cell.strip())
    return tuple(line.split())


def read(path: str | Path, item: int = 0) -> tuple[str, ...]:
    """Tokens of a text file (as :func:`parsed`) or of JSON; raises FileError."""
    path = Path(path)
    check_size(path, "", size_of_file(path), MAX_BYTES)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(path, f"byte {error.start}", "UTF-8 text", "another") from error
    except OSError as error:
        raise cannot_read(path, error) from error
    if path.suffix.casefold() == ".json" and not isinstance(root := _root(path), list | dict):
        raise FileError(path, "", "a JSON list of tokens", json.dumps(root)[:40])
    try:
        return parsed(text, item)
    except ExperimentError as error:
        raise FileError(path, "", error.expected, error.received) from error


def is_tokenizer(path: str | Path) -> bool:
    """Whether ``path`` is a tokenizer.json: then tokens come of ids (:func:`of_ids`) or of text (:func:`of_text`)."""
    return tokenizer_in(Path(path)) is not None


def tokenizer_in(path: Path) -> dict[str, Any] | None:
    """What a tokenizer.json holds; None where ``path`` is none."""
    if path.suffix.casefold() != ".json":
        return None
    try:
        root = _root(path)
    except FileError:
        return None
    there = isinstance(root, dict) and isinstance(root.get("model"), dict) and "vocab" in root["model"]
    return root if there else None


def of_ids(path: str | Path, ids: Sequence[int], root: dict[str, Any] | None = None) -> TokenList:
    """The tokens that ``ids`` are in the vocabulary of a tokenizer.json; raises FileError.

    root: what it holds, where it has been read before.
    """
    path = Path(path)
    root = _root(path) if root is None else root
    if not isinstance(root, dict) or not isinstance(root.get("model"), dict):
        raise FileError(path, "", "a tokenizer.json", "another kind of JSON")
    names, special = _vocabulary(path, root)
    missing = next((number for number in ids if number not in names), None)
    if missing is not None:
        raise FileError(path, "", f"a vocabulary with all ids; it has {len(names):,}", f"the id {missing}")
    decode = _letters if _is_byte_level(root) else str
    return TokenList(tuple(decode(names[number]) for number in ids), tuple(number in special for number in ids))


def of_text(path: str | Path, text: str) -> TokenList:
    """The tokens that a tokenizer.json makes of ``text``, special tokens added; needs the extra ``models``.

    Raises FileError.
    """
    steps = text_steps(Path(path), text)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            made: TokenList = end.value
            return made


def text_steps(path: Path, text: str) -> Generator[float, None, TokenList]:
    """As :func:`of_text`, in steps: yields the part done, 0 to 1."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        needed = "the package tokenizers, which comes with attn_gui[models]"
        raise FileError(path, "", needed, "an installation without it: paste the tokens instead") from error
    check_size(path, "", size_of_file(path), MAX_BYTES)
    try:
        tokenizer = Tokenizer.from_file(str(path))
        yield 0.4
        encoded = tokenizer.encode(text)
    except Exception as error:  # tokenizers raises Exception itself
        raise FileError(path, "", "a tokenizer.json", f"one that is refused ({error})") from error
    yield 0.6
    root = _root(path)
    yield 0.8
    return of_ids(path, encoded.ids, root)


def _root(path: Path) -> Any:
    """The value of a JSON file, which may be of a hundred thousand tokens; raises FileError."""
    check_size(path, "", size_of_file(path), MAX_BYTES)
    try:
        return orjson.loads(path.read_bytes())
    except (OSError, ValueError, MemoryError):
        return json_reader.parsed(path)  # slower, and says what is wrong


def _of_json(text: str, item: int) -> tuple[str, ...] | None:
    """The words of a JSON list, or of the only list of an object; of a list of lists those of ``item``.

    None where ``text`` is no JSON.
    """
    value = _value(text)
    if value is None:
        return None
    if isinstance(value, dict):
        lists = [each for each in value.values() if isinstance(each, list)]
        value = value.get("tokens", lists[0] if len(lists) == 1 else None)
    if isinstance(value, list) and value and all(isinstance(each, list) for each in value):
        if item >= len(value):
            raise ExperimentError(FIELD, f"a list of words for item {item + 1}", counted(len(value), "list"))
        value = value[item]
    if not isinstance(value, list) or not value:
        raise ExperimentError(FIELD, "a list of words", "JSON of something else")
    for each in value:
        if type(each) not in (str, int):
            raise ExperimentError(FIELD, "a list of words", json.dumps(each)[:60])
    return tuple(map(str, value))


def _value(text: str) -> Any:
    """What JSON, or a list as Python prints it, says; None where it is neither."""
    for each in (text, text.replace("'", '"')):
        with suppress(ValueError, RecursionError):
            return json.loads(each)
    return None


def _vocabulary(path: Path, root: dict[str, Any]) -> tuple[dict[int, str], set[int]]:
    """Tokens by their ids, and the ids of the special ones."""
    vocabulary = root["model"].get("vocab")
    names: dict[int, str] = {}
    if isinstance(vocabulary, dict):  # BPE, WordPiece, WordLevel
        names = {number: word for word, number in vocabulary.items() if type(number) is int}
    elif isinstance(vocabulary, list):  # Unigram: words with what speaks for them
        words = (each[0] if isinstance(each, list) and each else each for each in vocabulary)
        names = {number: word for number, word in enumerate(words) if isinstance(word, str)}
    else:
        raise FileError(path, "model.vocab", "a vocabulary", "none")
    special = set()
    added = root.get("added_tokens")
    for token in added if isinstance(added, list) else []:
        if isinstance(token, dict) and type(token.get("id")) is int and isinstance(token.get("content"), str):
            names[token["id"]] = token["content"]
            if token.get("special") is True:
                special.add(token["id"])
    return names, special


def _is_byte_level(root: dict[str, Any]) -> bool:
    """Whether each letter of the vocabulary stands for a byte (GPT-2 and those after it)."""
    return any('"ByteLevel"' in json.dumps(root.get(name)) for name in ("decoder", "pre_tokenizer"))


def _bytes_by_letter() -> dict[str, int]:
    """GPT-2's letters for bytes: printable ones for themselves, the others from 256 on."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + k): byte for k, byte in enumerate(others)}


_BYTES = _bytes_by_letter()
_BLANK = "Ġ"


def _letters(token: str) -> str:
    """What the bytes spell, the blank before a word still as Ġ; the token itself where they are a part of a letter."""
    if not all(letter in _BYTES for letter in token):
        return token
    try:
        spelled = bytes(_BYTES[letter] for letter in token).decode()
    except UnicodeDecodeError:
        return token
    return _BLANK * (len(spelled) - len(spelled.lstrip(" "))) + spelled.lstrip(" ") if spelled else token
