"""What transformers says itself: the weights that its eager attention gives with output_attentions=True."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui import Experiment, Session, trace
from attn_gui.compute.capture.inputs import inputs_of


def finished(steps: Generator[float, None, Any]) -> Any:
    """The result of a job, and that it said how far it was, from 0 to 1."""
    while True:
        try:
            assert 0 <= next(steps) <= 1
        except StopIteration as end:
            return end.value


def eager_weights(model: Any, tokenizer: Any, texts: list[str], target: list[str] | None) -> list[NDArray[Any]]:
    """In the order of the pass, one [batch, heads, n_q, n_k] for each attention of ``model``, an eager one."""
    assert model.config._attn_implementation == "eager"
    arguments = inputs_of(model, tokenizer, texts, target).arguments
    with torch.no_grad():
        given = model(**arguments, output_attentions=True)
    if not model.config.is_encoder_decoder:
        return [weights.double().numpy() for weights in given.attentions]
    decoder = [both for pair in zip(given.decoder_attentions, given.cross_attentions, strict=True) for both in pair]
    return [weights.double().numpy() for weights in (*given.encoder_attentions, *decoder)]


def check_weights(session: Session, expected: list[NDArray[Any]], texts: int, *, padded: bool = True) -> None:
    """Every N of ``session`` is the model's own, and padded keys get exactly 0.

    A query that may attend to nothing, as padding far behind the text under a sliding window, has 0 throughout here
    and even weights there, which nothing reads; other attentions give such a query other values, so that what it
    looks at in later layers is compared only where ``padded``.
    """
    layers = len(expected)
    assert len(session.experiments) == texts * layers
    for text in range(texts):
        for layer in range(layers):
            experiment = session.experiments[text * layers + layer].experiment
            traced = trace(experiment)
            N = traced.stage("N").astype(np.float64)  # [heads, n_q, n_k]
            pad, empty = experiment.tokens.pad, traced.empty_rows(0)
            assert not (empty & ~pad).any()
            compared = ~empty if padded else ~pad
            assert np.abs(N - expected[layer][text])[:, compared].max() <= bound(experiment), (text, layer)
            assert (N[:, empty] == 0).all()
            assert (N[:, :, experiment.key_rows.pad] == 0).all()


def bound(experiment: Experiment) -> float:
    """``4 eps max(4, scale max|q| max|k|)``, with Euclidean norms."""
    longest = [np.linalg.norm(part.astype(np.float64), axis=-1).max() for part in _queries_and_keys(experiment)]
    return 4 * experiment.precision.eps * max(4.0, abs(experiment.scale) * longest[0] * longest[1])


def _queries_and_keys(experiment: Experiment) -> tuple[NDArray[Any], NDArray[Any]]:
    parts = experiment.source.parts()
    return parts["Q"], parts["K"]
