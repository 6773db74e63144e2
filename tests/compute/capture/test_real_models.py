"""Real models, from the packages that packaging/models.txt lists: what is captured is what they use."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attn_gui import Experiment, capture, trace
from attn_gui.compute.capture.inputs import inputs_of
from attn_gui.compute.capture.interface import Call, attending
from attn_gui.compute.capture.layers import Layers
from attn_gui.compute.capture.opening import OpenedModel, open_model
from tests.compute.capture.agreeing import check_weights, eager_weights
from tests.real_models import ALBERT, MINILM, SMOLLM2, real_model

# of the model card of sentence-transformers/all-MiniLM-L6-v2, and the cosines that it gives
CARD = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
SIMILAR = {(0, 1): 0.6660, (0, 2): 0.1046, (1, 2): 0.1411}


@pytest.fixture(scope="module")
def minilm() -> OpenedModel:
    return open_model(real_model(MINILM))


def eager(opened: OpenedModel, **options: Any) -> Any:
    folder = opened.path if opened.path.is_dir() else opened.path.parent
    return type(opened.model).from_pretrained(folder, attn_implementation="eager", **options).eval()


def test_minilm(minilm: OpenedModel) -> None:
    model = eager(minilm)
    expected = eager_weights(model, minilm.tokenizer, CARD, None)
    assert [weights.shape[:2] for weights in expected] == [(3, 12)] * 6
    check_weights(capture(model, minilm.tokenizer, CARD), expected, 3)
    check_weights(capture(minilm.model, minilm.tokenizer, CARD), expected, 3, padded=False)


def test_minilm_gives_the_similarities_of_its_model_card_with_our_attention(minilm: OpenedModel) -> None:
    """Each attention of the model is replaced by what the program computes of what it captured."""
    inputs = inputs_of(minilm.model, minilm.tokenizer, CARD, None)
    layers = Layers()

    def ours(call: Call) -> tuple[torch.Tensor, None]:
        outputs = [head_outputs(experiment) for experiment in layers.of(call, inputs.source.sequences, None)]
        return torch.stack(outputs), None

    with torch.inference_mode(), attending(minilm.model, ours):
        states = minilm.model(**inputs.arguments).last_hidden_state  # [texts, n, d]
    real = inputs.source.attended[:, :, None]
    pooled = torch.nn.functional.normalize((states * real).sum(1) / real.sum(1), dim=-1)
    cosines = (pooled @ pooled.T).tolist()
    for (a, b), cosine in SIMILAR.items():
        assert round(cosines[a][b], 4) == cosine


def head_outputs(experiment: Experiment) -> torch.Tensor:
    """[n_q, heads, d_v]"""
    return torch.from_numpy(np.array(trace(experiment).stage("head_output"))).transpose(0, 1)


def test_albert_runs_one_layer_twelve_times(tmp_path: Path) -> None:
    """pytorch_model.bin of 2020; atoms of a molecule, which are told apart by their case."""
    folder = shutil.copytree(real_model(ALBERT), tmp_path / "albert")
    told = {"tokenizer_class": "BertTokenizer", "do_lower_case": False}
    (tmp_path / "albert" / "tokenizer_config.json").write_text(json.dumps(told))
    opened = open_model(folder)
    assert opened.architecture == "AlbertForMaskedLM"
    texts = ["C C ( = O ) O", "c 1 c c c c c 1 N"]
    session = capture(opened.model, opened.tokenizer, texts)
    places = [named.place for named in session.experiments[:12]]
    assert [place.layer for place in places if place] == list(range(12))
    assert len({place.module for place in places if place}) == 1
    assert session.experiments[0].experiment.tokens.tokens[1:8] == tuple("CC(=O)O")
    expected = eager_weights(eager(opened), opened.tokenizer, texts, None)
    assert [weights.shape[1] for weights in expected] == [8] * 12
    check_weights(session, expected, 2, padded=False)


@pytest.mark.slow
def test_smollm2_of_a_gguf_file() -> None:
    """Grouped-query: 9 query heads to 3 kv heads, 30 layers."""
    opened = open_model(real_model(SMOLLM2))
    assert opened.architecture == "LlamaForCausalLM" and opened.has_guesses
    texts = ["The animal didn't cross the street because it was too tired", "The cat"]
    opened.model.set_attn_implementation("sdpa")
    session = capture(opened.model, opened.tokenizer, texts)
    first = session.experiments[0].experiment
    assert len(session.experiments) == 60 and (first.heads, first.kv_heads, first.d_k) == (9, 3, 64)
    assert first.tokens.tokens[:3] == ("The", "▁animal", "▁didn")
    assert session.model is not None and session.model.path == str(opened.path)
    opened.model.set_attn_implementation("eager")
    expected = eager_weights(opened.model, opened.tokenizer, texts, None)
    check_weights(capture(opened.model, opened.tokenizer, texts), expected, 2)
    check_weights(session, expected, 2, padded=False)
