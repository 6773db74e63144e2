from __future__ import annotations

import pytest

from attn_gui.model.captured import CapturedModel
from attn_gui.model.experiment import Experiment
from attn_gui.model.layer_place import LayerPlace
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.session_title import model_name, session_title


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("sentence-transformers/all-MiniLM-L6-v2", "all-MiniLM-L6-v2"),
        ("/models/gpt2/", "gpt2"),
        ("C:\\models\\SmolLM2", "SmolLM2"),
        ("/hub/models--openai-community--gpt2/snapshots/0f1e2d3c", "gpt2"),
        ("/hub/models--openai-community--gpt2/snapshots/0f1e2d3c/config.json", "gpt2"),
        ("/models/gpt2/model.safetensors", "gpt2"),
        ("/models/big/model-00001-of-00002.safetensors", "big"),
        ("/models/big/pytorch_model.bin", "big"),
        ("/models/SmolLM2-135M.Q8_0.gguf", "SmolLM2-135M.Q8_0"),
        ("/wheels/minilm/model", "minilm"),
        ("", "BertModel"),
    ],
)
def test_a_model_is_called_by_the_part_of_its_path_that_is_its_own(path: str, name: str) -> None:
    assert model_name(CapturedModel(path, "BertModel")) == name


def test_a_captured_session_is_called_after_model_and_text_and_others_after_their_experiment() -> None:
    e = Experiment.from_weights([[1.0]])
    texts = ("One two", "word " * 100_000)
    layers = tuple(
        NamedExperiment(f"Layer {k + 1} · text {b + 1}", e, place=LayerPlace(k, batch=b))
        for b in range(2)
        for k in range(2)
    )
    model = CapturedModel("/models/gpt2", "GPT2Model", texts=texts)
    assert session_title(Session(layers, 1, model=model)) == "gpt2 · One two"
    assert session_title(Session(layers, 2, model=model)) == "gpt2 · word word word word word word word word…"
    assert session_title(Session(layers, 2)) == "Layer 1 · text 2"
    # what took the place of a layer is none
    assert session_title(Session((NamedExperiment("Mine", e),), model=model)) == "Mine"
    only = NamedExperiment("Layer 1", e, place=LayerPlace(0))
    assert session_title(Session((only,), model=CapturedModel("", "X"))) == "X"
