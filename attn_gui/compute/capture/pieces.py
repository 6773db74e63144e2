"""Sub-word pieces: their names as a person reads them, and which word each belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from attn_gui.model.columns import NO_WORD

# before a piece that follows a space: of byte-level tokenizers (GPT-2), and of SentencePiece
_BYTE_SPACE, _SPACE = "Ġ", "▁"
# before a piece that goes on with a word (WordPiece)
_ONWARD = "##"


def readable_pieces(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """The names of tokens: as the tokenizer has them, but bytes as the text that they are.

    Byte-level tokenizers call each byte by a letter of its own (é is Ã©); here a piece is its text, with ``▁`` for
    a space before it, as SentencePiece has it, and ``\\xe9`` for bytes that are part of a character.
    """
    pieces = [str(piece) for piece in tokenizer.convert_ids_to_tokens(list(ids))]
    special = set(tokenizer.all_special_tokens)
    if _is_byte_level(tokenizer):
        pieces = [piece if piece in special else _text(piece) for piece in pieces]
    return [piece or repr(piece) for piece in pieces]


def words_of(pieces: Sequence[str], special: Sequence[bool], given: Sequence[int | None] | None) -> list[int]:
    """Which word of the text each piece belongs to, from 0; NO_WORD for special tokens.

    given: what the tokenizer says itself, if it does. Some say that the whole text is one word: then, and without
    it, words are told apart by the marks that pieces carry.
    """
    if given is not None and len({word for word in given if word is not None}) > 1:
        return [NO_WORD if word is None or mark else word for word, mark in zip(given, special, strict=True)]
    marked = any(piece.startswith((_BYTE_SPACE, _SPACE)) for piece in pieces)
    words, word = [], NO_WORD
    for piece, mark in zip(pieces, special, strict=True):
        if mark:
            words.append(NO_WORD)
            continue
        begins = piece.startswith((_BYTE_SPACE, _SPACE)) if marked else not piece.startswith(_ONWARD)
        if begins or word == NO_WORD:
            word += 1
        words.append(word)
    return words


def _is_byte_level(tokenizer: Any) -> bool:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return backend is not None and "ByteLevel" in str(type(backend.decoder)) + str(backend.decoder)


def _text(piece: str) -> str:
    letters = _letters()
    if not all(letter in letters for letter in piece):
        return piece
    text = bytes(letters[letter] for letter in piece).decode("utf-8", errors="backslashreplace")
    return _SPACE + text[1:] if text.startswith(" ") else text


@cache
def _letters() -> dict[str, int]:
    """The byte that each letter of a byte-level tokenizer stands for.

    Printable characters of Latin-1 stand for themselves, the other bytes for the characters from 256 on, in order
    (Radford et al. 2019, GPT-2).
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(others)}
