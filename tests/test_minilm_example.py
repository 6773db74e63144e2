"""The example that a real model was captured for: small, licensed, open to whoever has no transformers, and right."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from attn_gui import trace
from attn_gui.files import examples
from attn_gui.paths import resource
from tests.real_models import MINILM, real_model

SENTENCES = (
    "The animal didn't cross the street because it was too tired",
    "The cat that chased the mouse was hungry",
)


def test_it_is_small_and_licensed() -> None:
    assert resource("examples/minilm.attn").stat().st_size < 2_000_000
    licence = resource("licences/all-MiniLM-L6-v2.txt").read_text(encoding="utf-8")
    assert "all-MiniLM-L6-v2" in licence and "Apache License" in licence and "END OF TERMS" in licence


def test_it_holds_every_layer_of_both_sentences() -> None:
    session = examples.load_session("minilm")
    assert session.model is not None and session.model.texts == SENTENCES
    assert session.model.path == "sentence-transformers/all-MiniLM-L6-v2"
    assert [named.name for named in session.experiments] == [
        f"Layer {layer} · text {text}" for text in (1, 2) for layer in range(1, 7)
    ]
    for named in session.experiments:
        e = named.experiment
        assert (e.heads, e.kv_heads, e.d_k, e.d_v, e.n_q) == (12, 12, 32, 32, 15)
        assert named.original is not None and "Apache 2.0" in named.note
    first, second = (session.experiments[at].experiment.tokens for at in (0, 6))
    assert " ".join(first.tokens) == "[CLS] the animal didn ' t cross the street because it was too tired [SEP]"
    assert second.tokens[:10] == ("[CLS]", *SENTENCES[1].casefold().split(), "[SEP]")
    assert second.tokens[10:] == ("[PAD]",) * 5 and second.pad.tolist() == [False] * 10 + [True] * 5
    looked_at = [("it", "animal")] * 6 + [("was", "cat")] * 6
    for named, words in zip(session.experiments, looked_at, strict=True):
        assert named.focus is not None
        head, *cell = named.focus
        assert tuple(named.experiment.tokens.tokens[at] for at in cell) == words
        weight = trace(named.experiment).stage("N", head)[*cell]
        assert f"“{words[0]}” looks at “{words[1]}” most in head {head + 1}: {weight:.0%}" in named.note
    # what is shown first is worth a look: a head that finds who was too tired, and not the street
    head, it, animal = session.named.focus or (0, 0, 0)
    weights = trace(session.experiment).stage("N", head)
    assert session.named.name == "Layer 4 · text 1"
    assert weights[it, animal] > 0.6 and weights[it, first.tokens.index("street")] < 0.06
    N = trace(session.experiments[6].experiment).stage("N")
    assert (N[:, :, 10:] == 0).all()
    assert np.abs(N.sum(axis=-1) - 1).max() < 1e-6


def test_it_opens_without_torch_and_transformers() -> None:
    code = (
        "import sys; from attn_gui.files import examples; "
        "assert len(examples.load_session('minilm').experiments) == 12; "
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_it_is_what_the_model_gives() -> None:
    """Captured anew, on another processor perhaps: the same up to rounding."""
    folder = real_model(MINILM)
    from attn_gui import capture
    from attn_gui.compute.capture.opening import open_model

    opened = open_model(folder)
    again = capture(opened.model, opened.tokenizer, SENTENCES)
    for shipped, fresh in zip(examples.load_session("minilm").experiments, again.experiments, strict=True):
        assert (shipped.name, shipped.place) == (fresh.name, fresh.place)
        assert shipped.experiment.rule == fresh.experiment.rule
        parts = fresh.experiment.source.parts()
        for name, part in shipped.experiment.source.parts().items():
            assert part.dtype == np.float32 and np.abs(part - parts[name]).max() < 1e-3
