"""Attention from the formula, in numpy alone: what the program's results are held against.

Written for plainness: float64 throughout, one query at a time, masks by asking every cell. Each stage is rounded to the
experiment's precision where NUMERICS says that a stage is, and nowhere else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from attn_gui.model.biases import Bias
from attn_gui.model.biases.additive import Additive
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, Imported, MaskRule, Padding, SlidingWindow
from attn_gui.model.masks.block_sparse import BlockSparse
from attn_gui.model.masks.dilated import Dilated
from attn_gui.model.masks.document import Document
from attn_gui.model.masks.global_window import GlobalWindow
from attn_gui.model.masks.prefix_lm import PrefixLM
from attn_gui.model.masks.random_cells import RandomCells
from attn_gui.model.masks.tree import Tree
from attn_gui.model.positions.learned import Learned
from attn_gui.model.positions.sinusoidal import Sinusoidal
from attn_gui.model.precision import Precision
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.qk_norm.layer_norm import LayerNorm
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary import Rotary
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.rotary.imported import ImportedRotary
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import GivenQKV

Array = np.ndarray[Any, Any]

# significant bits, and the exponent of the smallest normal number
FORMATS = {
    Precision.FLOAT64: (53, -1022),
    Precision.FLOAT32: (24, -126),
    Precision.BFLOAT16: (8, -126),
    Precision.FLOAT16: (11, -14),
}


def rounded(values: Any, precision: Precision) -> Array:
    """``values`` to the nearest number of ``precision``, ties to even, kept in float64."""
    values = np.asarray(values, dtype=np.float64)
    if precision is Precision.FLOAT64:
        return values
    bits, smallest = FORMATS[precision]
    _, exponent = np.frexp(values)  # values = m * 2**exponent, 0.5 <= |m| < 1
    step = np.ldexp(1.0, np.maximum(exponent, smallest + 1) - bits)
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(values), np.rint(values / step) * step, values)


@dataclass
class Places:
    """What a rule may look at, in plain lists."""

    n_q: int
    n_k: int
    offset: int
    key: dict[str, list[Any]]
    query: dict[str, list[Any]]


def rule_allows(rule: MaskRule, i: int, j: int, at: Places, head: int = 0) -> bool:
    """Whether query ``i`` may attend to key ``j``."""
    p = i + at.offset
    match rule:
        case Causal(alignment):
            return j <= i if alignment == "top-left" else j <= i + at.n_k - at.n_q
        case Padding():
            return not at.key["pad"][j]
        case SlidingWindow(window, two_sided):
            return abs(p - j) <= window and (two_sided or j <= p)
        case PrefixLM(prefix):
            return j < prefix or j <= p
        case Document():
            return bool(at.query["segment"][i] == at.key["segment"][j])
        case Dilated(window, dilation, two_sided):
            steps = range(-window if two_sided else 0, window + 1)
            return j in [p - step * dilation for step in steps]
        case GlobalWindow(tokens, window):
            return j < tokens or p < tokens or abs(p - j) <= window
        case BlockSparse(size, neighbours):
            return abs(p // size - j // size) <= neighbours
        case Tree():
            line = [p]
            while 0 <= line[-1] < at.n_k:
                line.append(at.key["parent"][line[-1]])
            return j < at.offset or j in line
        case RandomCells(share, seed, own_place):
            state = 0
            for taken_in in (seed, i, j):
                state = (state + taken_in) % 2**31
                for divisor, factor in ((2**15, 0x2C1B3C6D), (2**12, 0x297A2D39)):
                    state = (state ^ state // divisor) * factor % 2**31
                state ^= state // 2**15
            return state < int(share * 2**31) or (own_place and j == p)
        case Imported(cells):
            return bool(cells[head][i][j] if cells.ndim == 3 else cells[i][j])
        case Combined(terms):
            result, begun = True, False
            for term in terms:
                if term.heads is not None and head not in term.heads:
                    continue
                cell = rule_allows(term.rule, i, j, at, head) != term.negated
                result = cell if not begun else (result and cell) if term.join == "and" else (result or cell)
                begun = True
            return result
    assert type(rule) is MaskRule
    return True


def places_of(e: Experiment) -> Places:
    """The tokens' columns, written out token by token."""
    tables = ([] if e.past is None else [e.past]) + [e.context if e.variant.is_cross and e.context else e.tokens]
    key: dict[str, list[Any]] = {name: [] for name in ("pad", "segment", "parent")}
    for table in tables:
        start = len(key["pad"])
        key["pad"] += table.column("pad").tolist()
        key["segment"] += table.column("segment").tolist()
        key["parent"] += [-1 if parent < 0 else parent + start for parent in table.column("parent").tolist()]
    query = {"segment": e.tokens.column("segment").tolist()}
    return Places(e.n_q, len(key["pad"]), 0 if e.past is None else len(e.past), key, query)


def allowed_cells(e: Experiment) -> Array:
    """The mask of ``e``, [heads, n_q, n_k]: the rule, appended keys, and the rectangles painted one after another."""
    at = places_of(e)
    allowed = np.zeros((e.heads, e.n_q, e.n_k), bool)
    for head in range(e.heads):
        for i in range(e.n_q):
            for j in range(e.n_k):
                allowed[head, i, j] = j >= at.n_k or rule_allows(e.rule, i, j, at, head)
                for r in e.painted.rectangles:
                    if r.top <= i < r.bottom and r.left <= j < r.right:
                        allowed[head, i, j] = r.allowed
    return allowed


def bias_cell(bias: Bias, i: int, j: int, at: Places, head: int, heads: int) -> float:
    """What ``bias`` adds to the score of query ``i`` and key ``j``."""
    distance = j - (i + at.offset)
    match bias:
        case ALiBi():
            power = 2 ** math.floor(math.log2(heads))
            slopes = [2 ** (-8 * (h + 1) / power) for h in range(power)]
            slopes += [2 ** (-4 * (2 * h + 1) / power) for h in range(heads - power)]
            return -slopes[head] * abs(distance)
        case Additive(cells):
            return float(cells[head][i][j] if cells.ndim == 3 else cells[i][j])
        case RelativeBuckets(table, farthest, bidirectional):
            count, first = len(table), 0
            if bidirectional:
                count //= 2
                first = count if distance > 0 else 0
                apart = abs(distance)
            else:
                apart = max(-distance, 0)
            exact = count // 2
            if apart < exact:
                return float(table[first + apart, head])
            # in float32, as the published code has it: a distance on a boundary falls as it does there
            part = np.log(np.float32(apart) / np.float32(exact)) / np.float32(math.log(farthest / exact))
            return float(table[first + min(exact + int(part * np.float32(count - exact)), count - 1), head])
    raise AssertionError(bias)


def turned(vectors: Array, positions: Array, rotary: Rotary) -> Array:
    """Rotary positions by complex numbers: pair p of each vector times ``grown * exp(i * position * frequency)``."""
    d_k = vectors.shape[-1]
    width = 2 * rotary.cos.shape[1] if isinstance(rotary, ImportedRotary) else rotary.width or d_k
    result = vectors.copy()
    for row, position in enumerate(positions):
        at = int(position) + rotary.offset
        for p in range(width // 2):
            x, y = (p, p + width // 2) if rotary.layout == "halves" else (2 * p, 2 * p + 1)
            if isinstance(rotary, ImportedRotary):
                factor = complex(rotary.cos[at, p], rotary.sin[at, p])
            else:
                assert isinstance(rotary, Frequencies)
                grown = 0.1 * math.log(rotary.factor) + 1 if rotary.scaling == "yarn" else 1.0
                factor = grown * np.exp(1j * at * frequency(rotary, p, width))
            number = complex(vectors[row, x], vectors[row, y]) * factor
            result[row, x], result[row, y] = number.real, number.imag
    return result


def frequency(rotary: Frequencies, p: int, width: int) -> float:
    """Radians a position for pair ``p``."""
    base, factor, length = rotary.base, rotary.factor, rotary.original_length
    plain = base ** (-2 * p / width)
    if rotary.scaling == "linear":
        return plain / factor
    if rotary.scaling == "ntk":
        return plain if width == 2 else (base * factor ** (width / (width - 2))) ** (-2 * p / width)
    if rotary.scaling == "yarn":

        def pair(turns: float) -> float:
            return width * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))

        first, last = max(math.floor(pair(rotary.fast)), 0), min(math.ceil(pair(rotary.slow)), width - 1)
        ramp = min(max((p - first) / ((last - first) or 0.001), 0), 1)
        return plain / factor * ramp + plain * (1 - ramp)
    if rotary.scaling == "llama3":
        wavelength = 2 * math.pi / plain
        if wavelength < length / rotary.high:
            return plain
        if wavelength > length / rotary.low:
            return plain / factor
        smooth = (length / wavelength - rotary.low) / (rotary.high - rotary.low)
        return (1 - smooth) * plain / factor + smooth * plain
    return plain


def normed(vectors: Array, norm: QKNorm, gain: Array | None) -> Array:
    """Each vector normalised."""
    result = []
    for x in vectors:
        match norm:
            case RMSNorm():
                y = x / math.sqrt(sum(v * v for v in x) / len(x) + norm.eps)
            case LayerNorm():
                centred = x - sum(x) / len(x)
                y = centred / math.sqrt(sum(v * v for v in centred) / len(x) + norm.eps)
            case _:
                y = x / max(math.sqrt(sum(v * v for v in x)), norm.eps)
        result.append(y if gain is None else y * gain)
    return np.array(result)


def weights_of(row: Array, scoring: Scoring, head: int) -> Array:
    """The weights of one query's allowed scores, by the definition of each normaliser."""
    if scoring.normaliser.kind == "sigmoid":
        return 1 / (1 + np.exp(-(row + scoring.normaliser.shift)))
    sink = None if scoring.sinks is None else scoring.sinks[head]
    scores = row if sink is None else np.append(row, sink)
    kind, top = scoring.normaliser.kind, scores.max()
    if kind in ("sparsemax", "entmax15"):
        power, half = (1, 1.0) if kind == "sparsemax" else (2, 2.0)
        low, high = top / half - 1, top / half  # tau by bisection
        for _ in range(200):
            tau = (low + high) / 2
            if (np.maximum(scores / half - tau, 0) ** power).sum() < 1:
                high = tau
            else:
                low = tau
        found = np.maximum(scores / half - tau, 0) ** power
    else:
        shift = max(top, 0.0)
        powers = np.exp(scores - shift)
        found = powers / (math.fsum(powers) + (math.exp(-shift) if kind == "softmax_one" else 0.0))
    return found if sink is None else found[:-1]


@dataclass
class Reference:
    """The stages by name, [heads, ...] where there is one for each head, and the mask [heads, n_q, n_k]."""

    stages: dict[str, Array]
    allowed: Array
    magnitudes: dict[str, float]

    def tolerance(self, e: Experiment, name: str) -> float:
        """How far a value of stage ``name`` may lie from this one.

        On N as NUMERICS has it; on the others from the rounding of that stage and what the stages before it carry
        into it, each measured by the largest sum of absolute values that its numbers are made of.
        """
        eps = 1e-13 if e.precision is Precision.FLOAT64 else e.precision.eps
        size = self.magnitudes
        # norm and rotary positions each round once more, and a small vector that is normalised grows with its error
        steps = 1 + (e.scoring.rotary is not None) + size["growth"] * (e.scoring.qk_norm is not None)
        scores = steps * 8 * eps * abs(e.scale) * size["raw"] + 2 * eps * size["bias"]
        weights = {
            Precision.FLOAT64: 1e-12,
            Precision.FLOAT32: 4 * e.precision.eps * max(4.0, abs(e.scale) * size["norms"], size["bias"]),
        }.get(e.precision, 4 * e.precision.eps * max(1.0, size["bias"] / 2)) * steps
        gathered = (2 * weights + 4 * eps) * size["V"]
        tolerances = {
            "X": 0.0,
            "context": 0.0,
            "values": 0.0,
            "X_in": 2 * eps * size["X_in"],
            "context_in": 2 * eps * size["X_in"],
            "Q_projected": 4 * eps * size["Q"],
            "K_projected": 4 * eps * size["K"],
            "Q": steps * 4 * eps * size["Q"],
            "K": steps * 4 * eps * size["K"],
            "V": 4 * eps * size["V"],
            "raw": steps * 8 * eps * size["raw"],
            "bias": 2 * eps * size["bias"],
            "N": weights,
            "head_output": gathered,
            "concat": gathered,
            "output": gathered * size["W_O"] + 4 * eps * size["output"],
        }
        return tolerances.get(name, scores)


def reference(e: Experiment) -> Reference:
    """Every stage of ``e``."""
    allowed = allowed_cells(e)
    at = places_of(e)

    def stage(values: Any) -> Array:
        return rounded(values, e.precision)

    stages, size = _inputs(e, stage)
    norms = {letter: np.linalg.norm(stages[letter], axis=2).max() for letter in "QK"}

    names = ("raw", "scaled", "capped", "bias", "A", "A_masked", "N", "head_output")
    per_head: dict[str, list[Array]] = {name: [] for name in names}
    for h in range(e.heads):
        Q, K, V = stages["Q"][h], stages["K"][h], stages["V"][h]
        raw = stage(np.array([[math.fsum(q * k) for k in K] for q in Q]))
        scale = (1 / math.sqrt(Q.shape[1]) if e.scoring.scale is None else e.scoring.scale) / e.scoring.temperature
        scaled = stage(scale * raw)
        cap = e.scoring.softcap
        capped = scaled if cap is None else stage(cap * np.tanh(scaled / cap))
        bias = np.zeros_like(capped)
        for i in range(e.n_q):
            for j in range(at.n_k):
                bias[i, j] = math.fsum(bias_cell(b, i, j, at, h, e.heads) for b in e.scoring.biases)
        A = stage(capped + bias) if e.scoring.biases else capped
        N = np.zeros_like(A)
        for i in range(e.n_q):
            cells = np.flatnonzero(allowed[h, i])
            if cells.size:
                N[i, cells] = weights_of(A[i, cells], e.scoring, h)
        N = stage(N)
        masked = np.where(allowed[h], A, -np.inf)
        gathered = stage(N @ V)
        for name, values in zip(names, (raw, scaled, capped, stage(bias), A, masked, N, gathered), strict=True):
            per_head[name].append(values)
        size["bias"] = max(size.get("bias", 0.0), float(np.abs(bias).max()))
    stages |= {name: np.stack(values) for name, values in per_head.items()}

    stages["concat"] = np.concatenate(list(stages["head_output"]), axis=1)
    stages["output"], size["W_O"], size["output"] = stages["concat"], 1.0, float(np.abs(stages["concat"]).max())
    weights = e.weights
    if weights is not None and weights.W_O is not None:
        W_O = stage(weights.W_O.array())
        b_O = stage(np.zeros((1, W_O.shape[1])) if weights.b_O is None else weights.b_O.array())
        stages["output"] = stage(stages["concat"] @ W_O + b_O)
        size["W_O"] = float(np.abs(W_O).sum(axis=0).max())
        size["output"] = float((np.abs(stages["concat"]) @ np.abs(W_O) + np.abs(b_O)).max())
    d_k = stages["Q"].shape[2]
    size["raw"] = d_k * size["Q"] * size["K"]
    size["norms"] = float(norms["Q"] * norms["K"])
    # weights that are not brought to a sum of 1 may be large by themselves
    size["V"] *= max(1.0, float(stages["N"].sum(axis=2).max()))
    return Reference(stages, allowed, size)


def _inputs(e: Experiment, stage: Any) -> tuple[dict[str, Array], dict[str, float]]:
    """Everything from the token tables to Q, K and V."""
    own_keys = e.context if e.variant.is_cross and e.context is not None else e.tokens
    past = [] if e.past is None else [e.past]
    key_table = np.concatenate([t.embeddings.array() for t in [*past, own_keys]])
    stages: dict[str, Array] = {
        "X": stage(e.tokens.embeddings.array()),
        "context": stage(key_table),
        "values": stage(key_table if e.values is None else e.values.embeddings.array()),
    }
    first = 0 if e.past is None else len(e.past)
    own = e.tokens.columns.get("position")
    q_at = [first + i for i in range(e.n_q)] if own is None else own.tolist()
    k_at: list[int] = []
    for table in [*past, own_keys]:
        given = table.columns.get("position")
        k_at += [len(k_at) + i for i in range(len(table))] if given is None else given.tolist()
    position = e.scoring.position
    for name, source, places in (("X_in", "X", q_at), ("context_in", "context", k_at)):
        stages[name] = stages[source]
        if isinstance(position, Sinusoidal):
            d = stages[source].shape[1]
            vectors = [
                [(math.sin, math.cos)[k % 2](p / position.base ** (2 * (k // 2) / d)) for k in range(d)] for p in places
            ]
            stages[name] = stage(stages[source] + np.array(vectors))
        if isinstance(position, Learned):
            stages[name] = stage(stages[source] + np.array([position.table[p] for p in places]))
    rows = {"Q": stages["X_in"], "K": stages["context_in"]}
    rows["V"] = rows["K"] if e.values is None else stages["values"]
    size: dict[str, float] = {"X_in": max(np.abs(stages[name]).max(initial=0) for name in ("X_in", "context_in"))}
    group = e.heads // e.kv_heads
    growth = 1.0
    for letter, heads in (("Q", e.heads), ("K", e.kv_heads), ("V", e.kv_heads)):
        if isinstance(e.source, GivenQKV):
            projected = stage(getattr(e.source, letter))
            size[letter] = np.abs(projected).max()
        else:
            table, bias = e.source.weights.get(f"W_{letter}"), e.source.weights.get(f"b_{letter}")
            assert table is not None
            W = stage(table.array())
            b = stage(np.zeros((1, table.width)) if bias is None else bias.array())
            whole = stage(rows[letter] @ W + b)
            width = table.width // heads
            projected = np.stack([whole[:, h * width : (h + 1) * width] for h in range(heads)])
            size[letter] = (np.abs(rows[letter]) @ np.abs(W) + np.abs(b)).max()
        if letter != "V":
            placed = projected
            norm, rotary = e.scoring.qk_norm, e.scoring.rotary
            if norm is not None:
                gain = norm.gain_q if letter == "Q" else norm.gain_k
                placed = np.stack([stage(normed(head, norm, gain)) for head in projected])
                lengths = np.linalg.norm(projected, axis=2)
                growth = max(growth, size[letter] / max(float(lengths.min()), 0.03))
                size[letter] = max(size[letter], float(np.abs(placed).max()))
            if rotary is not None:
                placed = np.stack([stage(turned(head, q_at if letter == "Q" else k_at, rotary)) for head in placed])
                size[letter] *= 2
        for key in e.appended if letter != "Q" else ():
            row = stage(getattr(key, letter).array().reshape(heads, 1, -1))
            projected = np.concatenate([projected, row], axis=1)
            if letter == "K":
                placed = np.concatenate([placed, row], axis=1)
            size[letter] = max(size[letter], float(np.abs(row).max()))
        by_head = [h if letter == "Q" else h // group for h in range(e.heads)]
        stages[letter] = (projected if letter == "V" else placed)[by_head]
        if letter != "V":
            stages[f"{letter}_projected"] = projected[by_head]
    size["growth"] = growth
    return stages, size
