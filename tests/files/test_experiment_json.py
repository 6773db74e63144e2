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
from attn_gui.model.biases.additive import Additive
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Combined, Imported, SlidingWindow, Term
from attn_gui.model.masks.random_cells import RandomCells
from attn_gui.model.masks.tree import Tree
from attn_gui.model.normalisers.sigmoid import Sigmoid
from attn_gui.model.normalisers.softmax_one import SoftmaxOne
from attn_gui.model.painted import Rectangle
from attn_gui.model.positions.learned import Learned
from attn_gui.model.precision import Precision
from attn_gui.model.qk_norm.layer_norm import LayerNorm
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.rotary.imported import ImportedRotary
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import NamedExperiment
from attn_gui.model.sources import AppendedKey, FromTokens
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights
from tests.files.strategies import differences, named_experiments

HERE = Path("here.json")
DATA = Path(__file__).parent / "data"


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
        "values",
        "past",
        "appended",
        "rule",
        "painted",
        "scoring",
        "precision",
        "revision",
        "hidden",  # follows from the exercise, which is stored
    }
    assert {field.name for field in fields(Scoring)} == {
        "scale",
        "softcap",
        "temperature",
        "biases",
        "position",
        "qk_norm",
        "rotary",
        "normaliser",
        "sinks",
    }
    assert {field.name for field in fields(Term)} == {"rule", "join", "negated", "heads"}
    assert {field.name for field in fields(AppendedKey)} == {"name", "K", "V"}
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
    assert '  "scoring": {' in lines
    assert '    "scale": null,' in lines
    assert '    "position": {"kind": "none"},' in lines


def test_text_of_every_language_stays_readable_and_half_a_pair_survives() -> None:
    plain = karina()
    plain["note"] = "é שלום 👩 \ud800"
    assert "é שלום 👩 \\ud800".encode() in dumps(plain)
    assert of_text(dumps(plain)).note == plain["note"]


def test_what_may_be_left_out() -> None:
    plain = karina()
    optional_fields = (
        "note",
        "heads",
        "kv_heads",
        "precision",
        "context",
        "values",
        "past",
        "appended",
        "mask",
        "scoring",
    )
    for optional in optional_fields:
        del plain[optional]
    for optional in ("dimensions", "columns"):
        del plain["tokens"][optional]
    for optional in ("W_O", "b_Q", "b_K", "b_V", "b_O"):
        del plain["source"][optional]
    e = of_text(dumps(plain)).experiment
    assert (e.heads, e.precision, e.rule.kind, e.tokens.dimensions) == (1, "float32", "none", (None, None))
    assert (e.scoring, e.past, e.values, e.appended) == (Scoring(), None, None, ())


def test_what_may_be_left_out_of_parts() -> None:
    plain = karina()
    plain["mask"] = {"rule": {"kind": "combined", "terms": [{"rule": {"kind": "sliding_window"}}]}}
    plain["scoring"] = {
        "biases": [{"kind": "alibi"}],
        "normaliser": {"kind": "sigmoid"},
        "rotary": {"kind": "frequencies"},
        "qk_norm": {"kind": "rms", "gain_q": None},
    }
    e = of_text(dumps(plain)).experiment
    assert e.rule == Combined((Term(SlidingWindow()),))
    assert (e.scoring.biases, e.scoring.normaliser, e.scoring.rotary) == ((ALiBi(),), Sigmoid(), Frequencies())
    norm = e.scoring.qk_norm
    assert isinstance(norm, RMSNorm)
    assert (norm.eps, norm.gain_q) == (1e-6, None)


def test_whole_numbers_stand_for_numbers() -> None:
    plain = karina()
    plain["scoring"] = {"temperature": 2, "normaliser": {"kind": "sigmoid", "shift": -3}, "sinks": None}
    scoring = of_text(dumps(plain)).experiment.scoring
    assert (scoring.temperature, scoring.normaliser) == (2.0, Sigmoid(-3.0))


def test_version_1_opens() -> None:
    named = read(DATA / "experiment_v1.json")
    e = named.experiment
    assert (named.name, named.note, named.focus) == ("Version 1", "as it was written", (1, 2, 0))
    assert (e.variant, e.heads, e.kv_heads, e.precision) == ("multi_head_self", 2, 1, "float16")
    assert e.rule == SlidingWindow(3, two_sided=True)
    assert e.painted.rectangles == (Rectangle(0, 1, 1, 3, False), Rectangle(2, 3, 0, 1, True))
    assert e.scoring == Scoring(0.25, 30.0)
    assert e.tokens.tokens == ("karina", "=is", "שלום")
    assert e.tokens.pad.tolist() == [False, True, False]
    assert e.tokens.dimensions == ("noun", None)
    assert e.context is not None and e.context.embeddings.array().tolist() == [[7.0]]
    assert e.weights is not None and e.weights.b_O is not None
    assert e.weights.b_O.array().tolist() == [[0.1, -1e-7]]
    assert (e.past, e.values, e.appended) == (None, None, ())


def test_version_2_opens_as_it_was_written() -> None:
    """The file is never written anew: what this program once wrote has to stay readable."""
    assert differences(read(DATA / "experiment_v2.json"), everything()) == []


def everything() -> NamedExperiment:
    """Every part, column and field at once, in numbers that text may get wrong."""
    own = TokenSequence.of(
        ["a", "b"],
        [[0.1, -0.0], [1e-300, 5e-324]],
        ["noun", None],
        pad=[True, False],
        segment=[0, 2**63 - 1],
        parent=[-1, 0],
        position=[3, 4],
    )
    past = TokenSequence.of(["p"], [[2.0, 3.0]], position=[0])
    rule = Combined(
        (
            Term(Imported(np.array([[[True, False, True]] * 2, [[True] * 3] * 2]))),
            Term(Tree(), "or", negated=True, heads=(1,)),
            Term(RandomCells(0.25, 7, own_place=False), "or", heads=(0, 1)),
        )
    )
    scoring = Scoring(
        scale=None,
        softcap=50.0,
        temperature=0.5,
        biases=(ALiBi(), Additive(np.ones((2, 3)) / 3), RelativeBuckets(np.full((4, 2), np.nan), 9, False)),
        position=Learned(np.arange(10.0).reshape(5, 2)),
        qk_norm=LayerNorm(0.5, gain_q=np.array([1.0, np.inf])),
        rotary=ImportedRotary("interleaved", 0, 1, np.ones((6, 1)), np.zeros((6, 1))),
        normaliser=SoftmaxOne(),
        sinks=(0.5, -1.0),
    )
    eye = np.eye(2)
    return NamedExperiment(
        "Version 2",
        Experiment(
            own,
            FromTokens(Weights.of(np.ones((2, 4)), eye, eye, np.ones((4, 2)))),
            Variant.MULTI_HEAD_SELF,
            heads=2,
            kv_heads=1,
            past=past,
            appended=(AppendedKey("bias", Table.of([[1.0, 2.0]]), Table.of([[3.0, 4.0]])),),
            rule=rule,
            scoring=scoring,
            precision=Precision.BFLOAT16,
        ),
        "everything",
        (1, 0, 3),
    )


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


def combined(**term: Any) -> dict[str, Any]:
    """A combination of one rule."""
    return {"kind": "combined", "terms": [{"rule": {"kind": "causal"}} | term]}


NESTED: list[Any] = []
for _ in range(5):
    NESTED = [NESTED]
# too deep to be written out
DEEP: Any = []
for _ in range(2_000):
    DEEP = [DEEP]
NTK = {"kind": "frequencies", "scaling": "ntk", "factor": 1e200}


@pytest.mark.parametrize(
    ("path", "value", "where", "words"),
    [
        ("format", "attn-session", "", '“format” to be “attn-experiment”, received "attn-session"'),
        ("format", ..., "", "“format”, received an object without it"),
        ("version", 4, "", "version 4, which a newer attn_gui wrote"),
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
        ("source.kind", "magic", "source.kind", "“weights” or “random” or “qkv” or “given_scores” or “given_weights”"),
        ("source.kind", ..., "source", "“kind”"),
        ("source.W_Q", None, "source.W_Q", "a matrix"),
        ("source.W_Q", [[1.0, 0.0]], "W_Q", "2 rows"),
        ("source.b_Q", [[0.5, 0.25]], "source.b_Q[0]", "a number"),
        ("source.b_Q", [0.5], "b_Q", "shape (1, 2)"),
        ("source.W_O", [[1.0]], "W_O", "none in a single-head variant"),
        ("source", {"kind": "qkv", "Q": [[[1.0]]], "V": [[[1.0]]]}, "source", "“K”"),
        ("source", {"kind": "qkv", "Q": [[[1.0]]], "K": [[[1.0]]], "V": [[[1.0]]]}, "Q", "shape (1, 3, size)"),
        ("source", {"kind": "qkv", "Q": [[1.0]], "K": [[[1.0]]], "V": [[[1.0]]]}, "source.Q[0][0]", "a list"),
        ("mask.rule", {"kind": "causl"}, "mask.rule.kind", "'causl'"),
        ("mask.rule", {"kind": []}, "mask.rule.kind", "text"),
        ("mask.rule", {}, "mask.rule", "“kind”"),
        (
            "mask.rule",
            {"kind": "sliding_window", "window": 1.5},
            "mask.rule.window",
            "a whole number, 0 or more, received 1.5",
        ),
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
        ("scoring.softcap", -1.0, "scoring: softcap", "a number from 1e-30 to 1e30, received -1.0"),
        ("scoring.temperature", 0, "scoring: temperature", "a number from 1e-30 to 1e30, received 0.0"),
        ("mask.rule", {"kind": "causal", "alignment": []}, "mask.rule.alignment", "top-left or bottom-right"),
        ("mask.rule", {"kind": "random", "share": 2}, "mask.rule.share", "a finite number from 0 to 1, received 2"),
        ("mask.rule", {"kind": "random", "own_place": 1}, "mask.rule.own_place", "true or false, received 1"),
        ("mask.rule", {"kind": "imported"}, "mask.rule", "“cells”, received an object without it"),
        ("mask.rule", {"kind": "imported", "cells": [[1, 0]]}, "mask.rule.cells[0][0]", "true or false"),
        ("mask.rule", {"kind": "imported", "cells": [True]}, "mask.rule.cells[0]", "a list"),
        ("mask.rule", {"kind": "imported", "cells": [[True], []]}, "mask.rule.cells[1]", "1 entries, as in the first"),
        ("mask.rule", {"kind": "imported", "cells": [[True] * 3]}, "mask imported cells", "shape (3, 3)"),
        ("mask.rule", {"kind": "combined"}, "mask.rule", "“terms”"),
        ("mask.rule", {"kind": "combined", "terms": [{}]}, "mask.rule.terms[0]", "“rule”"),
        ("mask.rule", combined(join="xor"), "mask.rule.terms[0]: mask join", "and or or"),
        ("mask.rule", combined(negated=0), "mask.rule.terms[0].negated", "true or false"),
        ("mask.rule", combined(heads=[0.5]), "mask.rule.terms[0].heads[0]", "a whole number"),
        ("mask.rule", combined(heads=[]), "mask.rule.terms[0]: mask heads", "at least one head"),
        ("mask.rule", combined(heads=[1]), "mask heads of rule 1", "0 to 0, received 1"),
        ("mask.rule", combined(rule={"kind": "combined", "terms": []}), "mask.rule.terms[0].rule", "a single rule"),
        ("mask.rule", combined(rule={"kind": "causl"}), "mask.rule.terms[0].rule.kind", "'causl'"),
        ("mask.rule", {"kind": "combined", "terms": [combined()] * 101}, "mask.rule", "at most 100 rules"),
        ("scoring.biases", {}, "scoring.biases", "a list"),
        ("scoring.biases", [{"kind": "albi"}], "scoring.biases[0].kind", "alibi"),
        ("scoring.biases", [{"kind": "additive"}], "scoring.biases[0]", "“cells”"),
        (
            "scoring.biases",
            [{"kind": "additive", "cells": [["inf"]]}],
            "scoring.biases[0]: bias additive cell 1, 1",
            "a finite number, received inf",
        ),
        ("scoring.biases", [{"kind": "additive", "cells": [[1]]}], "bias additive cells", "shape (3, 3) or (1, 3, 3)"),
        ("scoring.position", {"kind": "learned", "table": [1]}, "scoring.position.table[0]", "a list of numbers"),
        ("scoring.position", {"kind": "learned", "table": [[1, 2]]}, "position learned table", "a row for position 2"),
        ("scoring.normaliser", {"kind": "softmax", "shift": 1}, "scoring.normaliser: normaliser softmax", "'shift'"),
        ("scoring.normaliser", {"kind": "sigmoid", "shift": "nan"}, "scoring.normaliser.shift", "a number"),
        ("scoring.rotary", {"kind": "frequencies", "base": 0.5}, "scoring.rotary.base", "from 1 to 1e15"),
        ("scoring.rotary", {"kind": "imported", "cos": [[1]]}, "scoring.rotary: rotary imported", "cos and sin"),
        ("scoring.rotary", {"kind": "frequencies", "width": 4}, "rotary frequencies width", "an even number of the 2"),
        ("scoring.qk_norm", {"kind": "rms", "gain_q": [1]}, "qk_norm rms gain_q", "shape (2,)"),
        ("scoring.sinks", [1, None], "scoring.sinks[1]", "a number"),
        ("scoring.sinks", [1, 2], "sinks", "one for each of 1 heads"),
        ("scoring.sinks", [1e300], "scoring: sink of head 1", "a number from -1e30 to 1e30, received 1e+300"),
        ("scoring.softcap", 1e300, "scoring: softcap", "a number from 1e-30 to 1e30, received 1e+300"),
        ("scoring.temperature", 1e-320, "scoring: temperature", "a number from 1e-30 to 1e30"),
        ("scoring.rotary", NTK, "scoring.rotary.factor", "a finite number from 1 to 1e9, received 1e+200"),
        ("scoring.rotary", {"kind": "frequencies", "scaling": DEEP}, "scoring.rotary.scaling", "received a list of 1"),
        ("format", DEEP, "", "“format” to be “attn-experiment”, received a list of 1"),
        ("version", DEEP, "", "whole number from 1, received a list of 1"),
        ("heads", 10**40, "heads", "a whole number of 64 bits"),
        ("mask.painted", [[0, 2**63, 0, 1, True]], "mask.painted[0][1]", "a whole number of 64 bits"),
        ("scoring.sink", [1], "scoring", "only scale"),
        ("tokens.columns", {"age": [1, 2, 3]}, "tokens: column", "pad or segment"),
        ("tokens.columns", {"segment": [1, 2.5, 3]}, "tokens.columns.segment[1]", "a whole number"),
        ("tokens.columns", {"segment": [1, 2**63, 3]}, "tokens.columns.segment[1]", "64 bits"),
        ("tokens.columns", {"segment": [-1, 0, 0]}, "tokens: column segment", "0 or more"),
        ("tokens.columns", {"parent": [1, 0, -1]}, "tokens: column parent", "a tree"),
        ("past", {"tokens": ["p"], "embeddings": [[1.0]]}, "past", "embeddings of 2 numbers"),
        ("past", [], "past", "an object"),
        ("values", {"tokens": ["p"], "embeddings": [[1.0, 2.0]]}, "values", "a row for each of 3 keys"),
        ("appended", [{"name": "end", "K": [1.0]}], "appended[0]", "“V”"),
        ("appended", [{"name": "end", "K": [1.0], "V": [1.0, 2.0]}], "K of end", "shape (1, 2)"),
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
