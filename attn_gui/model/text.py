"""From a sentence to tokens with embeddings."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

from attn_gui.model.errors import ExperimentError
from attn_gui.model.table import Floats
from attn_gui.model.tokens import TokenSequence

EMBEDDINGS = {"random": "Random, seeded", "one_hot": "One-hot", "position": "Random + position"}
LONGEST_TITLE = 40

_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]", re.UNICODE)


def split(text: str) -> list[str]:
    """Words (with inner apostrophes) and punctuation marks, in order: ``"didn't go."`` -> ``didn't``, ``go``, ``.``."""
    return _TOKEN.findall(text)


def embed(tokens: Sequence[str], width: int, how: str = "random", seed: int = 0) -> TokenSequence:
    """Tokens with embeddings [n, d] that repeat exactly for a seed; equal tokens get equal vectors.

    random: standard normal, d = ``width``. one_hot: one dimension per distinct token, named after it (``width`` is
    not used). position: random plus the sinusoidal encoding of Vaswani et al. 2017, section 3.5.
    """
    if not tokens:
        raise ExperimentError("sentence", "at least 1 word", "none")
    distinct = list(dict.fromkeys(tokens))
    if how == "one_hot":
        rows = [distinct.index(token) for token in tokens]
        return TokenSequence.of(tokens, np.eye(len(distinct))[rows], distinct)
    if how not in EMBEDDINGS:
        raise ExperimentError("embedding", " or ".join(EMBEDDINGS), repr(how))
    vectors = {token: _vector(token, width, seed) for token in distinct}
    X = np.stack([vectors[token] for token in tokens])  # [n, d]
    if how == "position":
        X = X + sinusoidal(len(tokens), width)
    return TokenSequence.of(tokens, X)


def title_of(text: str) -> str:
    """The first words of ``text``, as a name; a text without any has none."""
    whole = " ".join(text.split())
    if len(whole) <= LONGEST_TITLE:
        return whole
    words = whole[: LONGEST_TITLE + 1].rpartition(" ")[0] or whole[:LONGEST_TITLE]
    return words.rstrip(" ,;:.-") + "…"


def sinusoidal(length: int, width: int) -> Floats:
    """PE[p, 2i] = sin(p / 10000^(2i/d)), PE[p, 2i+1] = cos(the same): [length, width]."""
    position = np.arange(length)[:, np.newaxis]
    dimension = np.arange(width)[np.newaxis, :]
    angle = position / 10000.0 ** (2 * (dimension // 2) / width)
    encoding: Floats = np.where(dimension % 2 == 0, np.sin(angle), np.cos(angle))
    return encoding


def _vector(token: str, width: int, seed: int) -> Floats:
    random = np.random.RandomState([seed % 2**32, zlib.crc32(token.encode())])
    vector: Floats = random.standard_normal(width).round(2)
    return vector
