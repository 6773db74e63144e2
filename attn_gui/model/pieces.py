"""Tokens as a tokenizer makes them: special ones, and pieces of words; by their columns, or else by their names."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.columns import NO_WORD
from attn_gui.model.tokens import TokenSequence

# of BERT, of T5 and Llama, of GPT-2 and after: [CLS], <s>, <extra_id_0>, <|endoftext|>
_SPECIAL = re.compile(
    r"\[(CLS|SEP|PAD|UNK|MASK|BOS|EOS)\]|</?(s|pad|unk|mask|bos|eos|cls|sep)>|<extra_id_\d+>|<\|\S+\|>"
)
# before a piece that goes on with a word (WordPiece), and before one that begins a word (SentencePiece, byte-level)
ONWARD, BEGINNINGS = "##", ("▁", "Ġ")


def special_tokens(sequence: TokenSequence) -> NDArray[np.bool_]:
    """Which tokens are a tokenizer's own and none of the text, [n]: by their column, or else by their names."""
    if "special" in sequence.columns:
        return sequence.column("special")
    return np.fromiter((_SPECIAL.fullmatch(name) is not None for name in sequence.tokens), bool, len(sequence))


def words(sequence: TokenSequence) -> NDArray[np.int64]:
    """Which word each token is a piece of, [n], NO_WORD for none: by their column, or else by the marks in names."""
    if "word" in sequence.columns:
        return sequence.column("word")
    special = special_tokens(sequence)
    names = sequence.tokens
    if any(name.startswith(ONWARD) and name != ONWARD for name in names):
        begins = np.array([not name.startswith(ONWARD) for name in names])
    elif any(name.startswith(BEGINNINGS) for name in names):
        begins = np.array([name.startswith(BEGINNINGS) for name in names])
    else:
        return np.full(len(names), NO_WORD)
    # what follows a special token belongs to no word before it
    begins |= special | np.append(True, special[:-1])
    return np.where(special, NO_WORD, np.cumsum(begins))


def joined_name(names: tuple[str, ...]) -> str:
    """The word that pieces of these ``names`` make, without the marks of the tokenizer."""
    first = names[0][1:] if names[0].startswith(BEGINNINGS) else names[0].removeprefix(ONWARD)
    return first + "".join(name.removeprefix(ONWARD) for name in names[1:]) or "".join(names)
