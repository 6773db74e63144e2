"""Token lists as people have them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from attn_gui.files.errors import FileError
from attn_gui.files.tensors import token_lists
from attn_gui.files.tensors.opening import ids_of
from attn_gui.model.errors import ExperimentError
from attn_gui.model.tensors.proposals import propose
from tests.files.tensors.writing import looked, opened, write, write_csv


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("the cat sat", ["the", "cat", "sat"]),
        ("the\ncat\nsat\n", ["the", "cat", "sat"]),
        ("the\r\ncat\r\n\r\n", ["the", "cat"]),
        ("the\tcat\tsat", ["the", "cat", "sat"]),
        ("the, cat, sat", ["the", "cat", "sat"]),
        ("the,cat,sat", ["the", "cat", "sat"]),
        ('["the", " cat", "▁sat"]', ["the", " cat", "▁sat"]),
        ("['[CLS]', 'the', '##s']", ["[CLS]", "the", "##s"]),
        ('{"tokens": ["a", "b"], "ids": [1, 2]}', ["a", "b"]),
        ("[101, 2003]", ["101", "2003"]),
        (" the\n cat", [" the", " cat"]),
        ("[CLS] the [SEP]", ["[CLS]", "the", "[SEP]"]),
        ("\ufeffthe cat", ["the", "cat"]),
        ("one", ["one"]),
    ],
)
def test_pasted(text: str, tokens: list[str]) -> None:
    assert token_lists.parsed(text) == tuple(tokens)


@pytest.mark.parametrize("text", ["", "  \n ", "[]", "[[[1]], [[2]]]", "{}", '["a", null]', '{"a": ["x"], "b": ["y"]}'])
def test_what_holds_none(text: str) -> None:
    with pytest.raises(ExperimentError, match="tokens: expected"):
        token_lists.parsed(text)


def test_brackets_that_are_no_json_are_words() -> None:
    assert token_lists.parsed("[a b]") == ("[a", "b]")


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the\ncat\n", encoding="utf-8")
    (tmp_path / "a.json").write_text('["the", "cat"]', encoding="utf-8")
    assert token_lists.read(tmp_path / "a.txt") == token_lists.read(tmp_path / "a.json") == ("the", "cat")
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match="UTF-8 text"):
        token_lists.read(tmp_path / "b.txt")
    with pytest.raises(FileError, match="does not exist"):
        token_lists.read(tmp_path / "gone.txt")


def tokenizer(folder: Path) -> Path:
    """A byte-level BPE of the real library, trained on a sentence."""
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<s>"], initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(["für den Fürsten für immer"] * 20, trainer)
    made.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


def test_a_tokenizer_names_ids_and_makes_tokens_of_text(tmp_path: Path) -> None:
    path = tokenizer(tmp_path)
    assert token_lists.is_tokenizer(path)
    made = token_lists.of_text(path, "für den Fürsten")
    # letters, not the bytes of them, and the blank where a word begins
    assert "".join(made.tokens) == "fürĠdenĠFürsten"
    assert not any(made.special)
    marked = token_lists.of_ids(path, [0])
    assert (marked.tokens, marked.special) == (("<s>",), (True,))
    with pytest.raises(FileError, match="received the id 5000"):
        token_lists.of_ids(path, [0, 5000])


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ({"type": "WordPiece", "vocab": {"[CLS]": 0, "the": 1, "##s": 2}}, ("[CLS]", "the", "##s")),
        ({"type": "Unigram", "vocab": [["<unk>", 0.0], ["▁the", -1.5], ["s", -2.0]]}, ("<unk>", "▁the", "s")),
    ],
)
def test_other_vocabularies(tmp_path: Path, model: object, tokens: tuple[str, ...]) -> None:
    added = [{"id": 0, "content": tokens[0], "special": True}]
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": model, "added_tokens": added}), encoding="utf-8")
    found = token_lists.of_ids(tmp_path / "tokenizer.json", [0, 1, 2])
    assert (found.tokens, found.special) == (tokens, (True, False, False))


def test_json_that_is_no_tokenizer(tmp_path: Path) -> None:
    for text in ("[]", "{", '{"model": 1}', '{"model": {"type": "x"}}'):
        (tmp_path / "a.json").write_text(text)
        assert not token_lists.is_tokenizer(tmp_path / "a.json")
        with pytest.raises(FileError):
            token_lists.of_ids(tmp_path / "a.json", [1])
    assert not token_lists.is_tokenizer(tmp_path / "a.txt")


def test_ids_of_a_file_are_the_batch_s(tmp_path: Path) -> None:
    ids = np.array([[7, 8, 9], [1, 2, 3]])
    contents = looked(write(tmp_path, ".npz", {"attn": np.full((2, 4, 3, 3), 1 / 3), "input_ids": ids}))
    from dataclasses import replace

    reading = replace(propose(contents), batch=1)
    assert ids_of(contents, reading) == (1, 2, 3)
    assert opened(contents, reading).experiment.tokens.tokens == ("1", "2", "3")


def test_names_of_rows_and_columns_of_tables(tmp_path: Path) -> None:
    rows = [["", "der", "Hund", "bellt"], ["the", 0.5, 0.25, 0.25], ["dog", 0, 1, 0]]
    for mark, name in ((",", "a.csv"), ("\t", "a.tsv"), (";", "b.csv")):
        contents = looked(write_csv(tmp_path / name, rows, mark))
        e = opened(contents, propose(contents)).experiment
        assert e.tokens.tokens == ("the", "dog")
        assert e.present_keys.tokens == ("der", "Hund", "bellt")
        np.testing.assert_array_equal(e.source.parts()["N"], [[[0.5, 0.25, 0.25], [0, 1, 0]]])


WEIGHTS = np.array([[0.5, 0.25, 0.25], [0, 1, 0], [0.125, 0.375, 0.5]])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        # as pandas writes them, with its index and without
        (",0,1,2\n0,0.5,0.25,0.25\n1,0,1,0\n2,0.125,0.375,0.5\n", True),
        ("0,1,2\n0.5,0.25,0.25\n0,1,0\n0.125,0.375,0.5\n", True),
        # as numpy.savetxt does, which has spaces between them unless told otherwise
        ("0.5 0.25 0.25\n0 1 0\n0.125 0.375 0.5\n", False),
        ("  0.500  0.250  0.250\n  0.000  1.000  0.000\n  0.125  0.375  0.500\n", False),
        ("# of layer 3\n# of head 5\n0.5,0.25,0.25\n0,1,0\n0.125,0.375,0.5\n", False),
        ("# of layer 3, head 5\n0.5 0.25 0.25\n0 1 0\n0.125 0.375 0.5\n", False),
        ("# of layer 3\n# 0,1,2\n0.5,0.25,0.25\n0,1,0\n0.125,0.375,0.5\n", True),
    ],
)
def test_tables_as_other_programs_write_them(tmp_path: Path, text: str, named: bool) -> None:
    (tmp_path / "attn.csv").write_text(text)
    contents = looked(tmp_path / "attn.csv")
    session = opened(contents, propose(contents))
    np.testing.assert_array_equal(session.experiment.source.parts()["N"], [WEIGHTS])
    assert bool(contents.words) is named
    source = next(iter(session.named.origin.expressions.values()))
    expression = source.replace("attn.csv", str(tmp_path / "attn.csv"))
    np.testing.assert_array_equal(eval(expression, {"np": np}), [WEIGHTS])


def test_whole_numbers_that_count_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("0,1,2\n3,4,5\n6,7,8\n")
    contents = looked(tmp_path / "a.csv")
    assert contents.tensors[0].shape == (3, 3) and not contents.words


def test_decimal_commas_between_semicolons(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("0,5;0,5\n0,25;0,75\n")
    contents = looked(tmp_path / "a.csv")
    e = opened(contents, propose(contents)).experiment
    np.testing.assert_array_equal(e.source.parts()["N"], [[[0.5, 0.5], [0.25, 0.75]]])


def test_words_of_npz_and_pt(tmp_path: Path) -> None:
    import torch

    np.savez(tmp_path / "a.npz", attn=np.full((2, 2), 0.5), tokens=np.array(["der", "größte"]))
    torch.save({"attn": torch.full((2, 2), 0.5), "tokens": ["der", "größte"]}, tmp_path / "a.pt")
    for name in ("a.npz", "a.pt"):
        contents = looked(tmp_path / name)
        assert contents.words == {"tokens": ("der", "größte")}
        assert opened(contents, propose(contents)).experiment.tokens.tokens == ("der", "größte")


def test_a_large_tokenizer_is_read_in_steps_that_can_be_given_up(tmp_path: Path) -> None:
    path = tokenizer(tmp_path)
    steps = token_lists.text_steps(path, "für")
    parts = [next(steps), next(steps)]
    assert 0 < parts[0] < parts[1] < 1
    steps.close()
    read = token_lists.tokenizer_in(path)
    assert read is not None
    path.unlink()  # it is read once
    assert token_lists.of_ids(path, [0], read).tokens == ("<s>",)


@pytest.mark.parametrize("text", ['[["the", "cat"], ["a", "dog"]]', "[['the', 'cat'], ['a', 'dog']]"])
def test_of_lists_for_each_item_it_is_the_one_that_is_asked_for(text: str, tmp_path: Path) -> None:
    assert [token_lists.parsed(text, item) for item in range(2)] == [("the", "cat"), ("a", "dog")]
    (tmp_path / "a.json").write_text('{"tokens": [["x"], ["y"]]}')
    assert token_lists.read(tmp_path / "a.json", 1) == ("y",)
    with pytest.raises(ExperimentError, match="expected a list of words for item 3, received 2 lists"):
        token_lists.parsed(text, 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('["a", "b"', "expected JSON"),
        ("null", "expected a JSON list of tokens, received null"),
        ("3", "expected a JSON list of tokens, received 3"),
        ('{"model": {"vocab": ', "expected JSON"),
    ],
)
def test_json_that_is_damaged_or_no_list_is_no_list_of_words(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "tokens.json"
    path.write_text(text)
    with pytest.raises(FileError, match=words):
        token_lists.read(path)
