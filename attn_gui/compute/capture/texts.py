"""Texts as tokens: names, ids, and which are special, padding, or pieces of one word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute.capture.errors import CaptureError
from attn_gui.compute.capture.pieces import readable_pieces, words_of
from attn_gui.model.columns import NO_WORD
from attn_gui.model.counted import counted
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence

_NO_LIMIT = 1_000_000_000
_PAD = "[PAD]"


@dataclass(frozen=True, eq=False)
class Encoded:
    """A batch of texts as a tokenizer has them, padded at the end to one length.

    At the end whatever the tokenizer would do by itself: so every token stands where it stands without padding.
    ids: int64 [batch, n]. attended: int64 [batch, n], 0 where a token is padding.
    sequences: one a text, of n tokens, without embeddings, with columns pad, special and word.
    """

    texts: tuple[str, ...]
    ids: torch.Tensor
    attended: torch.Tensor
    sequences: tuple[TokenSequence, ...]

    def shifted(self, start: int, name: str) -> Encoded:
        """Each text one place to the right, after the token ``start``, and without its last token."""
        ids = torch.cat([torch.full_like(self.ids[:, :1], start), self.ids[:, :-1]], dim=1)
        attended = torch.cat([torch.ones_like(self.attended[:, :1]), self.attended[:, :-1]], dim=1)
        sequences = tuple(
            _sequence(
                [name, *sequence.tokens[:-1]],
                *(
                    [first, *sequence.column(column)[:-1]]
                    for column, first in (("pad", False), ("special", True), ("word", NO_WORD))
                ),
            )
            for sequence in self.sequences
        )
        return Encoded(self.texts, ids, attended, sequences)


def encoded(tokenizer: Any, texts: str | Sequence[str], device: torch.device, limit: int | None = None) -> Encoded:
    """``texts`` as tokens of ``tokenizer``, with its special tokens, on ``device``.

    limit: the most tokens that the model has places for, of which the tokenizer may know a smaller number. Raises
    CaptureError for no text, for one that gives no token, and for one that is too long.
    """
    check_tokenizer(tokenizer)
    batch = texts_in(texts)
    if not batch:
        raise CaptureError("There is no text to read")
    # without a limit of the model's own, that of a tokenizer is only what the model was trained on
    most = _NO_LIMIT if limit is None else int(min(limit, tokenizer.model_max_length))
    rows, words, special = [], [], _special(tokenizer)
    for number, text in enumerate(batch, start=1):
        found = tokenizer(text, truncation=False, verbose=False)
        which = f"Text {number}" if len(batch) > 1 else "The text"
        ids = [int(token) for token in found["input_ids"]]
        if not ids:
            raise CaptureError(f"{which} gives no token")
        if len(ids) > most:
            raise CaptureError(f"{which} has {counted(len(ids), 'token')}; the model reads at most {most:,}")
        rows.append(ids)
        pieces = [str(piece) for piece in tokenizer.convert_ids_to_tokens(ids)]
        given = found.word_ids() if getattr(tokenizer, "is_fast", False) else None
        words.append(words_of(pieces, [token in special for token in ids], given))
    return _padded(tokenizer, batch, rows, words, device)


def texts_in(given: Any) -> tuple[str, ...]:
    """The texts that were handed over, one or many; raises CaptureError for anything else."""
    if isinstance(given, str):
        return (given,)
    kind = type(given).__name__
    if isinstance(given, Iterable) and not isinstance(given, bytes | Mapping):
        batch = tuple(given)
        kind = next((type(text).__name__ for text in batch if not isinstance(text, str)), "")
        if not kind:
            return batch
        kind = f"one with a {kind}"
    raise CaptureError(f"Expected a text or a list of texts, received {kind}")


def check_tokenizer(tokenizer: Any) -> None:
    """Raise CaptureError for what is no tokenizer of transformers."""
    if not callable(tokenizer) or not hasattr(tokenizer, "convert_ids_to_tokens"):
        raise CaptureError(f"Expected a tokenizer of transformers, received {type(tokenizer).__name__}")


def _padded(
    tokenizer: Any, batch: tuple[str, ...], rows: list[list[int]], words: list[list[int]], device: torch.device
) -> Encoded:
    n = max(map(len, rows))
    pad = tokenizer.pad_token_id
    filler = next((token for token in (pad, tokenizer.eos_token_id) if token is not None), 0)
    ids = torch.tensor([row + [filler] * (n - len(row)) for row in rows], device=device)  # [batch, n]
    attended = torch.tensor([[1] * len(row) + [0] * (n - len(row)) for row in rows], device=device)
    special = _special(tokenizer)
    sequences = []
    for row, of_words in zip(rows, words, strict=True):
        missing = n - len(row)
        names = readable_pieces(tokenizer, row) + [_PAD if pad is None else str(tokenizer.pad_token)] * missing
        sequences.append(
            _sequence(
                names,
                [False] * len(row) + [True] * missing,
                [token in special for token in row] + [True] * missing,
                of_words + [NO_WORD] * missing,
            )
        )
    return Encoded(batch, ids, attended, tuple(sequences))


def _special(tokenizer: Any) -> set[int]:
    """The tokens that stand for nothing in a text: not the one for whatever the vocabulary lacks, which does."""
    others = {tokenizer.convert_tokens_to_ids(token) for token in tokenizer.all_special_tokens}
    used = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id, tokenizer.cls_token_id)
    return others - {tokenizer.unk_token_id} if tokenizer.unk_token_id not in used else others


def _sequence(names: list[str], pad: Any, special: Any, words: Any) -> TokenSequence:
    nothing: NDArray[np.float64] = np.empty((len(names), 0))
    columns = {"special": np.array(special, bool), "word": np.array(words, np.int64)}
    if any(pad):
        columns["pad"] = np.array(pad, bool)
    return TokenSequence(tuple(names), Table.of(nothing), (), columns)
