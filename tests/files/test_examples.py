"""The examples are found by name and are the experiments that their files describe."""

from __future__ import annotations

import json

import numpy as np
import pytest

from attn_gui import paths
from attn_gui.files import examples
from attn_gui.files.errors import FileError


def test_order_of_the_dropdown() -> None:
    names, files = examples.names(), examples.file_names()
    assert names[0] == "Karina"
    written = ["karina", "animal", "animal_one_head", "cat", "cat_one_head", "random_5x512", "translation"]
    assert files == [*written, "minilm"]
    shipped = [path for path in (paths.resources() / "examples").iterdir() if path.suffix in (".json", ".attn")]
    assert len(set(names)) == len(names) == len(shipped)


@pytest.mark.parametrize("index", range(8))
def test_found_by_name_and_by_file_in_any_case(index: int) -> None:
    name, stem = examples.names()[index], examples.file_names()[index]
    note = examples.load(name).note
    assert examples.of_note(note) == name
    assert examples.load(stem.upper()).note == examples.load(name.swapcase()).note == note


def test_an_unknown_name_says_which_there_are() -> None:
    with pytest.raises(FileError, match="karina, animal, animal_one_head"):
        examples.load("nobody")


@pytest.mark.parametrize("stem", [name for name in examples.file_names() if name != "minilm"])
def test_numbers_are_those_of_the_file(stem: str) -> None:
    stored = json.loads((paths.resources() / "examples" / f"{stem}.json").read_bytes())
    e = examples.load(stem).experiment
    assert (e.variant.value, e.heads, e.n_q) == (stored["variant"], stored["heads"], len(stored["tokens"]["tokens"]))
    assert e.weights is not None
    if stored["source"]["kind"] == "weights":
        np.testing.assert_array_equal(e.tokens.embeddings.array(), stored["tokens"]["embeddings"])
        for name, table in e.weights.items():
            np.testing.assert_array_equal(table.array(), stored["source"][name])
    else:
        np.testing.assert_array_equal(e.tokens.embeddings.array(), np.random.RandomState(0).standard_normal((5, 512)))
        assert (e.d_k, e.d_v, e.weights.W_O is not None) == (64, 64, True)


def test_notes_are_those_of_the_examples() -> None:
    assert examples.notes() == {examples.load(name).note for name in examples.names()}
    assert examples.of_note("") is None and examples.of_note("of nobody") is None
