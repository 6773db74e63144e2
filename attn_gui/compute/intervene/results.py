"""What comes out of a model, before beside after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import torch

from attn_gui.compute.capture.stepping import Report
from attn_gui.model.intervention import Embeddings, Guesses, TokenOdds, cosines

LIKELIEST = 10

Name = Callable[[int], str]


def guesses(
    before: torch.Tensor,
    after: torch.Tensor,
    ids: torch.Tensor,
    tokens: torch.Tensor,
    name: Name,
    masked: bool,
    report: Report,
) -> Guesses:
    """The odds at every token of each text, of logits [texts, n, vocabulary] of both runs.

    ids: of the tokens, [texts, n]. tokens: bool [texts, n], those that are not padding. name: of a token, by its id.
    report: is told the part done.
    """
    texts: list[tuple[TokenOdds, ...]] = []
    for text in range(len(tokens)):
        places: list[TokenOdds] = []
        for place in tokens[text].nonzero()[:, 0].tolist():
            at = name(int(ids[text, place]))
            places.append(odds(before[text, place], after[text, place], place, at, name))
            report((text + (place + 1) / tokens.shape[1]) / len(tokens))
        texts.append(tuple(places))
    return Guesses(tuple(texts), masked)


def odds(before: torch.Tensor, after: torch.Tensor, place: int, at: str, name: Name) -> TokenOdds:
    """Of logits [vocabulary]: log p = z - logsumexp(z), in float64."""
    p, q = (torch.log_softmax(logits.double(), dim=-1) for logits in (before, after))
    count = min(LIKELIEST, len(p))
    ids = torch.cat([p.topk(count).indices, q.topk(count).indices]).unique()
    ids = ids[torch.maximum(p, q)[ids].argsort(descending=True, stable=True)][:count]
    # a token that has no chance adds nothing: 0 ln 0 = 0
    divergence = torch.where(p > -torch.inf, p.exp() * (p - q), 0.0).sum()
    return TokenOdds(
        place,
        at,
        tuple(name(int(i)) for i in ids),
        tuple(ids.tolist()),
        p[ids].exp().cpu().numpy(),
        q[ids].exp().cpu().numpy(),
        max(0.0, float(divergence)),
    )


def embeddings(
    before: torch.Tensor, after: torch.Tensor, tokens: torch.Tensor, pooling: Literal["mean", "first"]
) -> Embeddings:
    """The pooled embeddings of each text by their cosines, of hidden states [texts, n, d] of both runs."""
    p, q = (_pooled(hidden.double(), tokens, pooling) for hidden in (before, after))
    return Embeddings(pooling, cosines(p, q).diagonal().copy(), cosines(p, p), cosines(q, q))


def _pooled(hidden: torch.Tensor, tokens: torch.Tensor, pooling: Literal["mean", "first"]) -> np.ndarray:
    """[texts, d]: the mean over the tokens that are no padding (Reimers and Gurevych, 2019), or the first of them."""
    weights = tokens.to(hidden.dtype)[..., None]  # [texts, n, 1]
    if pooling == "first":
        first = tokens.float().argmax(dim=1)
        pooled = hidden[torch.arange(len(hidden)), first]
    else:
        pooled = (hidden * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
    found: np.ndarray = pooled.cpu().numpy()
    return found
