"""Tokens of texts: their names, which are special, which are pieces of one word, and padding."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from attn_gui import CaptureError, capture
from attn_gui.compute.capture.opening import OpenedModel
from attn_gui.compute.capture.pieces import words_of
from attn_gui.compute.capture.texts import encoded, texts_in
from tests.compute.capture.tiny import byte_level_tokenizer

CPU = torch.device("cpu")


def word_pieces() -> transformers.PreTrainedTokenizerFast:
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##believ", "##able", "!", "cat"]
    tokenizer = Tokenizer(models.WordPiece({word: n for n, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )


def test_pieces_of_words() -> None:
    found = encoded(word_pieces(), "Unbelievable cat! dog", CPU)
    (sequence,) = found.sequences
    assert sequence.tokens == ("un", "##believ", "##able", "cat", "!", "[UNK]")
    assert sequence.column("word").tolist() == [0, 0, 0, 1, 2, 3]
    # [UNK] stands for something in the text
    assert not sequence.column("special").any() and "pad" not in sequence.columns


def test_bytes_are_read_as_text() -> None:
    found = encoded(byte_level_tokenizer(), "A café 🙂 ÿ", CPU)
    (sequence,) = found.sequences
    assert sequence.tokens[0] == "<s>" and sequence.tokens[-1] == "</s>"
    assert sequence.column("special").tolist() == [True, *[False] * (len(sequence) - 2), True]
    assert sequence.column("word")[0] == -1 and sequence.column("word")[-1] == -1
    text = "".join(sequence.tokens[1:-1])
    assert text.startswith("A▁caf") and "Ã" not in text and "Ġ" not in text


def test_padding_is_at_the_end() -> None:
    tokenizer = byte_level_tokenizer()
    tokenizer.padding_side = "left"
    found = encoded(tokenizer, ["The cat", "The animal was hungry"], CPU)
    short, long = found.sequences
    n = len(encoded(tokenizer, "The cat", CPU).sequences[0])
    assert short.tokens[:n] == encoded(tokenizer, "The cat", CPU).sequences[0].tokens
    assert short.tokens[n:] == ("<pad>",) * (len(long) - n)
    assert short.pad.tolist() == [False] * n + [True] * (len(long) - n)
    assert found.attended.tolist() == [[1] * n + [0] * (len(long) - n), [1] * len(long)]
    assert short.column("special")[n:].all() and not long.pad.any()
    assert tokenizer.padding_side == "left"


def test_without_a_padding_token_another_stands_there() -> None:
    tokenizer = byte_level_tokenizer()
    tokenizer.pad_token = None
    found = encoded(tokenizer, ["a", "a b c"], CPU)
    assert found.sequences[0].tokens[-1] == "[PAD]" and found.ids[0, -1] == tokenizer.eos_token_id
    assert tokenizer.pad_token is None


@pytest.mark.parametrize(
    ("pieces", "given", "words"),
    [
        # of a tokenizer that says the text is one word
        (["▁The", "▁c", "at"], [0, 0, 0], [0, 1, 1]),
        (["▁The", "▁c", "at"], None, [0, 1, 1]),
        (["The", "Ġc", "at"], None, [0, 1, 1]),
        (["un", "##do", "it"], None, [0, 0, 1]),
        (["cat"], [0], [0]),
        (["un", "##do", "it"], [0, 0, 1], [0, 0, 1]),
    ],
)
def test_words_are_told_apart(pieces: list[str], given: list[int] | None, words: list[int]) -> None:
    assert words_of(pieces, [False] * len(pieces), given) == words


@pytest.mark.parametrize("given", [None, 5, b"cat", {"text": "cat"}, ["cat", None], [["cat"]]])
def test_what_is_no_text_is_refused(given: Any, gpt2: OpenedModel) -> None:
    with pytest.raises(CaptureError, match="Expected a text or a list of texts, received"):
        capture(gpt2.model, gpt2.tokenizer, given)


@pytest.mark.parametrize("given", [None, "bert-base-uncased", len])
def test_what_is_no_tokenizer_is_refused(given: Any, gpt2: OpenedModel) -> None:
    with pytest.raises(CaptureError, match="Expected a tokenizer of transformers, received"):
        capture(gpt2.model, given, "cat")


def test_texts_may_come_one_after_another() -> None:
    assert texts_in(text for text in ("a", "b")) == ("a", "b")


def test_no_text_and_too_long_a_text_are_refused() -> None:
    tokenizer = word_pieces()
    with pytest.raises(CaptureError, match="There is no text"):
        encoded(tokenizer, [], CPU)
    with pytest.raises(CaptureError, match="Text 2 gives no token"):
        encoded(tokenizer, ["cat", " "], CPU)
    with pytest.raises(CaptureError, match=r"The text has 1,000 tokens; the model reads at most 512"):
        encoded(tokenizer, "cat " * 1000, CPU, 512)
    tokenizer.model_max_length = 100
    with pytest.raises(CaptureError, match="reads at most 100"):
        encoded(tokenizer, "cat " * 101, CPU, 512)
    assert len(encoded(tokenizer, "cat " * 101, CPU).sequences[0]) == 101


def test_what_a_decoder_reads_stands_one_place_to_the_right() -> None:
    tokenizer = byte_level_tokenizer()
    found = encoded(tokenizer, ["The cat", "The animal was hungry"], CPU)
    moved = found.shifted(7, "start")
    assert moved.ids[:, 0].tolist() == [7, 7] and torch.equal(moved.ids[:, 1:], found.ids[:, :-1])
    for before, after in zip(found.sequences, moved.sequences, strict=True):
        assert after.tokens == ("start", *before.tokens[:-1])
        assert after.pad.tolist() == [False, *before.pad[:-1].tolist()]
        assert after.column("word").tolist() == [-1, *before.column("word")[:-1].tolist()]
        assert after.column("special")[0]
