"""Dimensions up to the products of queries and keys: kv heads, norm, rotary positions, the transpose of K."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute import attention
from attn_gui.compute.diagnose.dimension import Dimension
from attn_gui.compute.diagnose.inputs import Block, Inputs
from attn_gui.compute.diagnose.state import State
from attn_gui.model.diagnosis import Choice
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.qk_norm.layer_norm import LayerNorm
from attn_gui.model.rotary import Rotary
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.rotary.rotary import LAYOUTS

USUAL_BASE = 10_000.0
MOST_GROWTH = 100.0
CODE = {
    "halves": "rotate_half in transformers (GPT-NeoX, Llama)",
    "interleaved": "rotate_every_two in transformers (GPT-J), view_as_complex in Meta's Llama",
}


def of_heads(e: Experiment) -> Dimension:
    """How kv heads are shared where there are fewer of them than query heads."""
    if not 1 < e.kv_heads < e.heads:
        return Dimension("kv_heads", _share)
    tiled = Choice(
        "kv_heads",
        "tiled",
        "kv heads tiled",
        f"Query head h uses kv head h mod {e.kv_heads}; here it uses kv head h // {e.heads // e.kv_heads}.",
        "k.repeat(1, heads // kv_heads, 1, 1) in place of k.repeat_interleave(heads // kv_heads, dim=1)",
    )
    return Dimension("kv_heads", _share, (tiled,))


def _share(block: Block, state: State, choice: Choice | None) -> State:
    e = block.inputs.experiment
    group = e.heads // e.kv_heads
    K, V = (
        block.of_heads(part.repeat_interleave(group, dim=0) if choice is None else part.repeat(group, 1, 1))
        for part in (state.K, state.V)
    )
    return replace(state, K=K, V=V)


def of_norm(e: Experiment) -> Dimension:
    """Whether queries and keys are normalised, where the experiment does so."""
    if e.scoring.qk_norm is None:
        return Dimension("qk_norm", _normalise)
    meaning = f"Queries and keys are compared as they are; here {e.scoring.qk_norm.title} comes first."
    absent = Choice("qk_norm", "absent", "no QK-norm", meaning, "q @ k.transpose(-1, -2) without q_norm and k_norm")
    return Dimension("qk_norm", _normalise, (absent,))


def _normalise(block: Block, state: State, choice: Choice | None) -> State:
    inputs = block.inputs
    norm = inputs.experiment.scoring.qk_norm
    if norm is None or choice is not None:
        return state
    normed, growth = [], 1.0
    for rows, gain in ((state.Q, norm.gain_q), (state.K[:, : inputs.tokens], norm.gain_k)):
        factor = None if gain is None else inputs.projections.tensor(gain, inputs.working)
        normed.append(attention.normed(rows, norm, factor, inputs.working))
        growth = max(growth, _growth(rows, norm.kind == LayerNorm.kind))
    return replace(state, Q=normed[0], K=_with_appended(normed[1], state.K), growth=growth)


def _growth(rows: torch.Tensor, centred: bool) -> float:
    """By how much the error of the shortest row grows, beside that of the longest, where all get one length."""
    left = rows - rows.mean(dim=-1, keepdim=True) if centred else rows
    shortest = float(torch.linalg.vector_norm(left.float(), dim=-1).nan_to_num(torch.inf).amin())
    longest = _longest(rows)
    return longest / max(shortest, longest / MOST_GROWTH) if longest else 1.0


def of_rotary(e: Experiment, bases: tuple[float, ...]) -> Dimension:
    """Rotary positions: absent, either layout, each base, and the position that queries begin at."""
    own = e.scoring.rotary
    choices = []
    if own is not None:
        meaning = "Queries and keys are not turned by their positions."
        choices.append(Choice("rotary", "absent", "no rotary positions", meaning, "q and k used as projected"))
    if e.d_k % 2 == 0:
        for rotary in _rotaries(own, bases):
            for start in dict.fromkeys((e.offset, 0, e.offset + 1, e.n_k - len(e.appended) - e.n_q)):
                if (rotary, start) != (own, e.offset) and _fits(e, rotary, start):
                    choices.append(_rotary_choice(e, rotary, start))
    return Dimension("rotary", _turn, tuple(choices))


def _fits(e: Experiment, rotary: Rotary, start: int) -> bool:
    positions = np.concatenate([e.query_positions + (start - e.offset), e.key_positions])
    try:
        rotary.check_fits(positions, e.d_k)
    except ExperimentError:  # a table of cosines ends somewhere
        return False
    return start >= 0


def _rotaries(own: Rotary | None, bases: tuple[float, ...]) -> list[Rotary]:
    if own is not None and not isinstance(own, Frequencies):
        return [replace(own, layout=layout) for layout in LAYOUTS]
    start = Frequencies() if own is None else own
    every = dict.fromkeys((start.base, USUAL_BASE, *bases))
    return [replace(start, layout=layout, base=base) for layout in LAYOUTS for base in every]


def _rotary_choice(e: Experiment, rotary: Rotary, start: int) -> Choice:
    pairs = "dimension p with p + d_k/2" if rotary.layout == "halves" else "dimension 2p with 2p + 1"
    title = f"rotary, {'halves' if rotary.layout == 'halves' else 'neighbours'}"
    meaning = f"Queries and keys are turned by their positions, {pairs}"
    if isinstance(rotary, Frequencies):
        meaning += f", base {rotary.base:,.10g}"
        if rotary.base != USUAL_BASE:
            title += f", base {rotary.base:,.10g}"
    if start != e.offset:
        title += f", queries from position {start}"
        meaning += f"; the first query stands at position {start}, the first key at 0"
    name = f"{title} {rotary.kind}"
    return Choice("rotary", name, title, f"{meaning}.", CODE[rotary.layout], (rotary, start))


def _turn(block: Block, state: State, choice: Choice | None) -> State:
    inputs = block.inputs
    e = inputs.experiment
    rotary, start = (e.scoring.rotary, e.offset) if choice is None else choice.value or (None, 0)
    Q, K = state.Q, state.K
    if rotary is not None:
        rows = block.rows.cpu().numpy()
        positions = e.query_positions[rows] + (start - e.offset)
        Q = _turned(inputs, Q, rotary, positions)
        K = _with_appended(_turned(inputs, K[:, : inputs.tokens], rotary, e.key_positions), K)
    return replace(state, Q=Q, K=K, size=_longest(Q) * _longest(K) * state.growth)


def _turned(inputs: Inputs, rows: torch.Tensor, rotary: Rotary, positions: NDArray[np.int64]) -> torch.Tensor:
    cos, sin = rotary.tables(positions, inputs.experiment.d_k)  # [n, pairs]
    tables = inputs.projections.tensor(cos, inputs.working), inputs.projections.tensor(sin, inputs.working)
    return attention.turned(rows, *tables, rotary.layout, inputs.working)


def of_product(e: Experiment) -> Dimension:
    """Whether K is transposed for the product with Q."""
    if e.n_k == 1 or e.d_k == 1:
        return Dimension("product", _multiply)
    reshaped = Choice(
        "product",
        "reshaped",
        "K reshaped, not transposed",
        "The numbers of each K are read in their order as d_k rows of n_k, which mixes keys and dimensions.",
        "q @ k.view(heads, d_k, n_k) or k.reshape(..) in place of q @ k.transpose(-1, -2)",
    )
    return Dimension("product", _multiply, (reshaped,))


def _multiply(block: Block, state: State, choice: Choice | None) -> State:
    K = state.K
    if choice is not None:
        K = K.contiguous().reshape(K.shape[0], K.shape[2], K.shape[1]).transpose(-2, -1)
    return replace(state, raw=attention.raw_scores(state.Q, K, block.inputs.working))


def _with_appended(rows: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
    """``rows`` of the tokens, with the keys of ``K`` that are no token's after them."""
    rest = K[:, rows.shape[1] :]
    return torch.cat([rows, rest], dim=1) if rest.shape[1] else rows


def _longest(rows: torch.Tensor) -> float:
    """The largest Euclidean norm of a row that is finite."""
    norms = torch.linalg.vector_norm(rows.float(), dim=-1)
    return float(torch.where(torch.isfinite(norms), norms, 0.0).amax())
