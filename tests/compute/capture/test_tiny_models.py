"""Models of every way to attend: what is captured gives the model's own weights."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers

from attn_gui import CaptureError, Causal, Combined, MaskRule, Padding, Session, SlidingWindow, capture, trace
from attn_gui.compute.capture.opening import OpenedModel, open_model
from attn_gui.files import session as files_session
from tests.compute.capture.agreeing import check_weights, eager_weights
from tests.compute.capture.tiny import HALF, SENTENCES, TINY, save

TEXTS = list(SENTENCES[:2])
TARGET = ["Das Tier", "Die Katze war hungrig"]


@dataclass(frozen=True)
class Case:
    """A model, opened as the program does and with its eager attention, and what was captured of either."""

    name: str
    opened: OpenedModel
    eager: Any
    target: list[str] | None
    of_eager: Session
    batch: Session
    single: Session


@pytest.fixture(scope="module", params=[*TINY])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    opened = open_model(save(TINY[request.param], tmp_path_factory.mktemp(request.param)))
    target = TARGET if opened.is_encoder_decoder else None
    model = eager(opened)
    of_eager = capture(model, opened.tokenizer, TEXTS, target=target)
    batch = capture(opened.model, opened.tokenizer, TEXTS, target=target)
    single = capture(opened.model, opened.tokenizer, TEXTS[0], target=target and target[0])
    return Case(request.param, opened, model, target, of_eager, batch, single)


def eager(opened: OpenedModel) -> Any:
    return type(opened.model).from_pretrained(opened.path, attn_implementation="eager").eval()


def test_weights_are_those_of_the_eager_implementation(case: Case) -> None:
    expected = eager_weights(case.eager, case.opened.tokenizer, TEXTS, case.target)
    check_weights(case.of_eager, expected, len(TEXTS))
    check_weights(case.batch, expected, len(TEXTS), padded=False)


def test_each_experiment_is_its_own_original_and_knows_its_place(case: Case) -> None:
    assert all(named.original is named.experiment for named in case.single.experiments)
    places = [named.place for named in case.single.experiments]
    modules = dict(case.opened.model.named_modules())
    assert all(place is not None and place.module in modules and place.batch is None for place in places)
    names = [named.name for named in case.single.experiments]
    if not case.opened.is_encoder_decoder:
        assert names == ["Layer 1", "Layer 2", "Layer 3"]
        assert [place.layer for place in places if place] == [0, 1, 2]
    else:
        layers = 3 if case.name == "bart" else 2
        both = [[f"Decoder layer {n}", f"Decoder layer {n}, cross"] for n in range(1, layers + 1)]
        assert names == ["Encoder layer 1", "Encoder layer 2", *(name for pair in both for name in pair)]
        assert [place.kind for place in places if place] == ["self"] * 2 + ["self", "cross"] * layers


def rules(session: Session, text: int) -> list[MaskRule]:
    count = len(session.experiments) // len(TEXTS)
    return [named.experiment.rule for named in session.experiments[text * count : (text + 1) * count]]


def kinds(rule: MaskRule) -> tuple[Any, ...]:
    return tuple(type(term.rule) for term in rule.terms) if isinstance(rule, Combined) else (type(rule),)


def test_masks_are_rules(case: Case) -> None:
    whole, padded = rules(case.batch, 0), rules(case.batch, 1)
    if case.name in ("bert", "albert"):
        assert [kinds(rule) for rule in whole + padded] == [(MaskRule,)] * 3 + [(Padding,)] * 3
    elif case.name in ("gpt2", "gpt_neox"):
        assert [kinds(rule) for rule in whole + padded] == [(Causal,)] * 3 + [(Causal, Padding)] * 3
    elif case.name == "mistral":
        # a window of 4 keys in transformers' words: 3 before the query, and its own
        assert whole == [SlidingWindow(3)] * 3
        assert [kinds(rule) for rule in padded] == [(SlidingWindow, Padding)] * 3
    elif case.name in ("gemma2", "gpt_oss"):
        assert whole == [SlidingWindow(3), Causal(), SlidingWindow(3)]
    elif case.name == "modernbert":
        assert whole == [MaskRule(), SlidingWindow(2, two_sided=True), MaskRule()]
    else:
        of_decoder = [kinds(rule) for rule in rules(case.batch, 0)[2:]]
        assert of_decoder == [(Causal, Padding), (MaskRule,)] * (len(of_decoder) // 2)
        assert [kinds(rule) for rule in padded[:2]] == [(Padding,)] * 2


def test_scorings_are_the_models(case: Case) -> None:
    scorings = [named.experiment.scoring for named in case.single.experiments]
    if case.name == "gemma2":
        assert {scoring.softcap for scoring in scorings} == {0.05}
        assert {scoring.scale for scoring in scorings} == {256**-0.5}
    if case.name == "gpt_oss":
        for named, layer in zip(case.single.experiments, case.opened.model.model.layers, strict=True):
            assert named.experiment.scoring.sinks == tuple(layer.self_attn.sinks.tolist())
    if case.name == "t5":
        assert {scoring.scale for scoring in scorings} == {1.0}
        # added in every layer of encoder and decoder, not where the decoder looks at the encoder
        assert [len(scoring.biases) for scoring in scorings] == [1, 1, 1, 0, 1, 0]
        assert scorings[0].biases[0] is scorings[1].biases[0]
    else:
        assert not any(scoring.biases for scoring in scorings)


def test_heads_and_kv_heads_are_the_models(case: Case) -> None:
    first = case.single.experiments[0].experiment
    assert (first.heads, first.kv_heads) == (4, {"mistral": 2, "gemma2": 1, "gpt_oss": 2}.get(case.name, 4))
    assert case.single.experiments[-1].experiment.heads == (2 if case.name == "bart" else 4)


@pytest.mark.parametrize("name", HALF)
def test_half_precisions_stay_as_they_are(name: str, tmp_path: Path) -> None:
    opened = open_model(save(HALF[name], tmp_path))
    session = capture(opened.model, opened.tokenizer, TEXTS)
    model = eager(opened)
    again = capture(model, opened.tokenizer, TEXTS)
    assert {named.experiment.precision for named in session.experiments} == {name}
    assert {part.dtype.name for part in session.experiments[0].experiment.source.parts().values()} == {name}
    # eager rounds after each stage, as we do
    expected = eager_weights(model, opened.tokenizer, TEXTS, None)
    for text in range(2):
        for layer in range(3):
            N = trace(again.experiments[3 * text + layer].experiment).stage("N").astype(np.float64)
            assert np.abs(N - expected[layer][text]).max() <= 8 * again.experiments[0].experiment.precision.eps


def test_a_model_without_interface_is_refused_by_name() -> None:
    config = transformers.BloomConfig(vocab_size=10, hidden_size=8, n_layer=1, n_head=2)
    with pytest.raises(CaptureError, match="BloomModel computes its attention by itself"):
        capture(transformers.BloomModel(config), None, "a")


def test_sessions_come_back_from_their_files(case: Case, tmp_path: Path) -> None:
    """With everything that decides the weights: masks, biases, softcap, sinks, scale and heads."""
    path = tmp_path / "captured.attn"
    files_session.save(case.batch, path)
    loaded = files_session.load(path)
    assert loaded.model == case.batch.model
    for before, after in zip(case.batch.experiments, loaded.experiments, strict=True):
        assert (after.name, after.place) == (before.name, before.place)
        assert after.experiment.keys.tokens == before.experiment.keys.tokens
        assert after.original is not None
        weights = trace(before.experiment).stage("N")
        assert np.array_equal(trace(after.experiment).stage("N"), weights)
        assert np.array_equal(trace(after.original).stage("N"), weights)
