"""Experiments as JSON: exact round trips, readable text, and faults named by their place."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from attn_gui.files.errors import FileError
from attn_gui.files.experiment_json import from_place, read, to_plain
from attn_gui.files.json_text import dumps
from attn_gui.files.places import Place, parsed
from attn_gui.model.experiment import Experiment
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import NamedExperiment
from attn_gui.model.sources import FromTokens
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.weights import Weights
from tests.files.strategies import differences, named_experiments

HERE = Path("here.json")


def of_text(data: bytes) -> NamedExperiment:
    return from_place(Place(parsed(HERE, "", data), HERE))


def karina() -> dict[str, Any]:
    """A small experiment as plain values, to be spoiled."""
    X = [[1.0, 0.0], [0.0, 1.0], [0.5, 1.0]]
    weights = Weights.of(np.eye(2), np.eye(2), np.eye(2), b_Q=[0.5, -0.25])
    experiment = Experiment(
        TokenSequence.of(["karina", "is", "store"], X, pad=[False, False, True]), FromTokens(weights)
    )
    return json.loads(dumps(to_plain(NamedExperiment("Karina", experiment, "A note."))))


@given(named_experiments())
def test_reads_back_to_the_last_bit(named: NamedExperiment) -> None:
    assert differences(of_text(dumps(to_plain(named))), named) == []


def test_every_field_of_an_experiment_is_stored() -> None:
    # a field added to the model has to be added to the format (and to the strategies) as well
    assert {field.name for field in fields(Experiment)} == {
        "tokens",
        "source",
        "variant",
        "heads",
        "kv_heads",
        "context",
        "rule",
        "painted",
        "scoring",
        "precision",
        "revision",
    }
    assert {field.name for field in fields(Scoring)} == {"scale", "softcap"}
    assert {field.name for field in fields(TokenSequence)} == {"tokens", "embeddings", "dimensions", "columns"}


@pytest.mark.parametrize("focus", [[0, 0], [0, 0, 99], [-1, 0, 0], ["0", 0, 0], 3])
def test_a_focus_that_points_nowhere_is_refused(focus: object) -> None:
    plain = karina()
    plain["focus"] = focus
    with pytest.raises(FileError, match="focus"):
        of_text(dumps(plain))


def test_the_text_has_a_matrix_row_per_line() -> None:
    lines = dumps(karina()).decode().splitlines()
    assert "      [0.5, 1.0]" in lines
    assert '    "b_Q": [0.5, -0.25],' in lines
    assert '    "tokens": ["karina", "is", "store"],' in lines
    assert '    "columns": {' in lines
    assert '  "scoring": {"scale": null, "softcap": null}' in lines


def test_text_of_every_language_stays_readable_and_half_a_pair_survives() -> None:
    plain = karina()
    plain["note"] = "é שלום 👩 \ud800"
    assert "é שלום 👩 \\ud800".encode() in dumps(plain)
    assert of_text(dumps(plain)).note == plain["note"]


def test_what_may_be_left_out() -> None:
    plain = karina()
    for optional in ("note", "heads", "kv_heads", "precision", "context", "mask", "scoring"):
        del plain[optional]
    for optional in ("dimensions", "columns"):
        del plain["tokens"][optional]
    for optional in ("W_O", "b_Q", "b_K", "b_V", "b_O"):
        del plain["source"][optional]
    e = of_text(dumps(plain)).experiment
    assert (e.heads, e.precision, e.rule.kind, e.tokens.dimensions) == (1, "float32", "none", (None, None))


def change(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Sets ``path`` (``tokens.embeddings.0``), or deletes it where ``value`` is ``...``."""

    def apply(plain: dict[str, Any]) -> None:
        *inner, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        at: Any = plain
        for part in inner:
            at = at[part]
        if value is ...:
            del at[last]
        else:
            at[last] = value

    return apply


NESTED: list[Any] = []
for _ in range(5):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    ("path", "value", "where", "words"),
    [
        ("format", "attn-session", "", "“format” to be “attn-experiment”, received 'attn-session'"),
        ("format", ..., "", "received None"),
        ("version", 2, "", "version 2, which a newer attn_gui wrote"),
        ("version", True, "", "whole number"),
        ("version", 0, "", "from 1"),
        ("variant", "selfish", "variant", "“self” or “cross”"),
        ("variant", ["self"], "variant", "“self” or “cross”"),
        ("heads", 1.0, "heads", "a whole number, received 1.0"),
        ("heads", True, "heads", "a whole number, received true"),
        ("heads", 0, "heads", "1 or more"),
        ("kv_heads", 2, "kv_heads", "a divisor"),
        ("precision", "float8", "precision", "“bfloat16”"),
        ("name", None, "name", "text, received null"),
        ("tokens", None, "tokens", "an object, received null"),
        ("tokens", ..., "", "“tokens”, received an object without it"),
        ("tokens.tokens", "abc", "tokens.tokens", "a list"),
        ("tokens.tokens.1", "", "tokens: token 2", "at least one character"),
        ("tokens.tokens.1", 7, "tokens.tokens[1]", "text, received 7"),
        ("tokens.tokens", ["a"], "tokens: embeddings", "one row for each of 1 tokens"),
        ("tokens.tokens", [], "tokens: tokens", "at least 1 token"),
        ("tokens.embeddings.1", [1.0], "tokens.embeddings[1]", "2 entries, as in the first, received 1"),
        ("tokens.embeddings.1.0", "one", "tokens.embeddings[1][0]", 'a number, received "one"'),
        ("tokens.embeddings.1.0", True, "tokens.embeddings[1][0]", "a number"),
        ("tokens.embeddings.1.0", 10**400, "tokens.embeddings[1][0]", "a finite number"),
        ("tokens.embeddings.1.0", [1.0], "tokens.embeddings[1][0]", "a number, received a list of 1"),
        ("tokens.embeddings", [1.0, 2.0], "tokens.embeddings[0]", "a list of numbers"),
        ("tokens.embeddings", [], "tokens.embeddings", "2 nested lists"),
        ("tokens.embeddings", NESTED, "tokens.embeddings[0][0]", "a number"),
        ("tokens.embeddings", {"npy": "arrays/1.npy"}, "tokens.embeddings", "“kind”"),
        ("tokens.dimensions", ["x"], "tokens: dimensions", "2 names"),
        ("tokens.dimensions", ["x", 1], "tokens.dimensions[1]", "text"),
        ("tokens.columns", {"pad": [1, 0, 1]}, "tokens.columns.pad[0]", "true or false"),
        ("tokens.columns", {"pad": [True]}, "tokens: column pad", "shape (3,)"),
        ("tokens.embedings", [], "tokens", "only tokens, embeddings, dimensions, columns, received “embedings”"),
        ("context", [], "context", "an object"),
        ("source.kind", "magic", "source.kind", "“weights” or “qkv” or “random”"),
        ("source.kind", ..., "source", "“kind”"),
        ("source.W_Q", None, "source.W_Q", "a matrix"),
        ("source.W_Q", [[1.0, 0.0]], "W_Q", "2 rows"),
        ("source.b_Q", [[0.5, 0.25]], "source.b_Q[0]", "a number"),
        ("source.b_Q", [0.5], "b_Q", "shape (1, 2)"),
        ("source.W_O", [[1.0]], "W_O", "none in a single-head variant"),
        ("source", {"kind": "qkv", "Q": [[[1.0]]], "K": [[[1.0]]]}, "source", "“V”"),
        ("source", {"kind": "qkv", "Q": [[[1.0]]], "K": [[[1.0]]], "V": [[[1.0]]]}, "Q", "shape (1, 3, size)"),
        ("source", {"kind": "qkv", "Q": [[1.0]], "K": [[[1.0]]], "V": [[[1.0]]]}, "source.Q[0][0]", "a list"),
        ("mask.rule", {"kind": "causl"}, "mask.rule.kind", "'causl'"),
        ("mask.rule", {"kind": []}, "mask.rule.kind", "text"),
        ("mask.rule", {}, "mask.rule", "“kind”"),
        ("mask.rule", {"kind": "sliding_window", "window": 1.5}, "mask.rule.window", "int"),
        ("mask.rule", {"kind": "sliding_window", "window": -1}, "mask.rule.window", "0 or more"),
        ("mask.rule", {"kind": "sliding_window", "window": 2**31}, "mask.rule.window", "at most 2147483647"),
        ("mask.rule", {"kind": "sliding_window", "window": 10**30}, "mask.rule.window", "at most 2147483647"),
        ("mask.rule", {"kind": "padding", "window": 1}, "mask.rule: mask padding", "'window'"),
        ("name", ["long"] * 1000, "name", "text, received a list of 1000"),
        ("format", "long" * 1000, "", "longlong"),
        ("mask.painted", [[0, 1, 0, 1]], "mask.painted[0]", "[top, bottom, left, right, allowed]"),
        ("mask.painted", [[0, 1, 0, -1, True]], "mask.painted[0]", "left <= right"),
        ("mask.painted", [[0, 1, 0, 1, 1]], "mask.painted[0][4]", "true or false"),
        ("scoring.scale", "wide", "scoring.scale", "a number"),
        ("scoring.softcap", -1.0, "scoring: softcap", "above 0"),
    ],
)
def test_a_fault_is_named_by_its_place(path: str, value: Any, where: str, words: str) -> None:
    plain = karina()
    change(path, value)(plain)
    with pytest.raises(FileError) as caught:
        from_place(Place(plain, HERE))
    assert caught.value.where == where
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("data", "where", "words"),
    [
        (b"", "line 1, column 1", "Expecting value"),
        (b'{"format": \n "attn', "line 2, column 2", "Unterminated string"),
        (b"\xff\xfe{", "byte 0", "0xff"),
        (b'{"heads": NaN}', "", "NaN, which JSON does not have"),
        (b"[" * 100_000, "", "nested too deep"),
        (b'{"heads": ' + b"9" * 5000 + b"}", "line 1", "whole numbers of at most 4,300 digits, received a longer one"),
        (b'{"a": "' + b"9" * 5000 + b'",\n"b":\n-' + b"9" * 5000 + b"}", "line 3", "4,300 digits"),
        (b'{"a": 0.' + b"9" * 5000 + b',\n"b": ' + b"9" * 5000 + b"}", "line 2", "4,300 digits"),
        (b"[]", "", "an object, received a list of 0"),
    ],
)
def test_text_that_is_not_json(tmp_path: Path, data: bytes, where: str, words: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(data)
    with pytest.raises(FileError) as caught:
        read(path)
    assert caught.value.where == where
    assert words in str(caught.value)


def test_a_cut_text_is_refused_wherever_it_is_cut() -> None:
    data = dumps(karina())
    for length in range(len(data) - 2):
        with pytest.raises(FileError):
            of_text(data[:length])


def test_files_that_are_not_there_or_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileError, match="does not exist"):
        read(tmp_path / "none.json")
    (tmp_path / "a.json").write_bytes(dumps(karina()))
    monkeypatch.setattr("attn_gui.files.experiment_json.MAX_BYTES", 100)
    with pytest.raises(FileError, match="at most 100 bytes"):
        read(tmp_path / "a.json")


def test_more_rectangles_than_can_be_worked_with(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = karina()
    plain["mask"] = {"rule": {"kind": "none"}, "painted": [[0, 1, 0, 1, False]] * 100_001}
    with pytest.raises(FileError, match="at most 100,000 rectangles") as caught:
        from_place(Place(plain, HERE))
    assert caught.value.where == "mask.painted"


def test_no_message_is_as_long_as_a_damaged_file() -> None:
    error = FileError("a.json", "place" * 1000, "text", "x" * 10**6)
    assert len(str(error)) < 2000
    assert error.received.endswith("…")


RANDOM = {"kind": "random", "initialiser": "normal", "seed": 42, "d_k": 3, "d_v": 2}


def drawn(**changes: Any) -> Any:
    plain = karina()
    plain["tokens"]["embeddings"] = {"kind": "normal", "seed": 7, "shape": [3, 2]}
    plain["source"] = RANDOM | changes
    return Place(plain, HERE)


def test_a_recipe_draws_the_same_numbers_every_time() -> None:
    e = from_place(drawn()).experiment
    np.testing.assert_array_equal(e.tokens.embeddings.array(), np.random.RandomState(7).standard_normal((3, 2)))
    generator = np.random.RandomState(42)
    assert e.weights is not None
    for table, shape in ((e.weights.W_Q, (2, 3)), (e.weights.W_K, (2, 3)), (e.weights.W_V, (2, 2))):
        np.testing.assert_array_equal(table.array(), generator.standard_normal(shape) * 0.1)


@pytest.mark.parametrize(
    ("changes", "where", "words"),
    [
        ({"seed": -1}, "source.seed", "0 to 4294967295"),
        ({"d_k": 0}, "source", "1 or more"),
        ({"d_v": 10**12}, "source", "numbers to draw"),
        ({"initialiser": "magic"}, "source.initialiser", "“xavier”"),
    ],
)
def test_a_recipe_that_cannot_be_followed(changes: dict[str, Any], where: str, words: str) -> None:
    with pytest.raises(FileError) as caught:
        from_place(drawn(**changes))
    assert caught.value.where == where
    assert words in str(caught.value)


@pytest.mark.parametrize(("shape", "words"), [([10**6, 10**6], "numbers to draw"), ([3], "rows"), ([0, 2], "rows")])
def test_a_recipe_of_a_shape_that_cannot_be(shape: list[int], words: str) -> None:
    place = drawn()
    place.value["tokens"]["embeddings"]["shape"] = shape
    with pytest.raises(FileError, match=words) as caught:
        from_place(place)
    assert caught.value.where == "tokens.embeddings.shape"
