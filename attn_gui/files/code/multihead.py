"""An experiment as torch.nn.MultiheadAttention, where that can express it."""

from __future__ import annotations

from attn_gui.files.code import masking
from attn_gui.files.code.page import Page
from attn_gui.files.code.placing import add_positions
from attn_gui.files.code.steps import add_beginning, add_inputs, add_printing
from attn_gui.model.dialects import TORCH
from attn_gui.model.experiment import Experiment
from attn_gui.model.normalisers.softmax import Softmax
from attn_gui.model.scoring import Scoring
from attn_gui.model.weights import Weights


def can_express(e: Experiment) -> bool:
    """Whether nn.MultiheadAttention computes what ``e`` does."""
    weights, scoring = e.weights, e.scoring
    if weights is None or weights.W_O is None or e.precision.bytes == 2:
        return False
    width = e.heads * e.d_k
    square = e.heads == e.kv_heads and e.d_k == e.d_v and e.d_model == width and weights.W_O.width == width
    plain = _is_plain(scoring)
    return square and plain and _appends_as_torch(e) and not masking.masking(e).has_empty_rows


def _is_plain(scoring: Scoring) -> bool:
    """Softmax over scaled scores, and nothing else; positions on the inputs do not matter."""
    usual = (scoring.scale, scoring.softcap, scoring.qk_norm, scoring.rotary, scoring.sinks) == (None,) * 5
    return usual and scoring.temperature == 1 and not scoring.biases and scoring.normaliser.kind == Softmax.kind


def _appends_as_torch(e: Experiment) -> bool:
    """Whether the appended keys are those of add_bias_kv and add_zero_attn, open to every query."""
    keys = e.n_k - len(e.appended)
    painted = any(not r.allowed and r.right > keys for r in e.painted.rectangles)
    zeros = [_is_zero(e, index) for index in range(len(e.appended))]
    return not (e.appended and painted) and (len(zeros) < 2 or (len(zeros) == 2 and zeros[1]))


def _is_zero(e: Experiment, index: int) -> bool:
    key = e.appended[index]
    return not key.K.array().any() and not key.V.array().any()


def page_of(e: Experiment, weights: Weights, decimals: int) -> Page:
    """The whole script, for an experiment that :func:`can_express`."""
    page = Page(TORCH, e.precision)
    add_beginning(page, e, decimals, "as torch.nn.MultiheadAttention")
    if e.scoring.position.kind != "none":
        add_positions(page, e)
    query, keys, values = add_inputs(page, e)
    page.gap()
    with_bias = weights.has_biases
    for name, table in weights.items():
        bias = name.startswith("b")
        page.table(name, table.array()[0] if bias else table.array(), shape="" if bias else "[d_in, d_out]")
    if with_bias:
        for letter in "QKVO":
            if weights.get(f"b_{letter}") is None:
                page.add(f"b_{letter} = torch.zeros({e.d_model}, dtype=dtype)")
    zero = bool(e.appended) and _is_zero(e, len(e.appended) - 1)
    bias_kv = len(e.appended) - zero
    if bias_kv:
        page.table("bias_k", e.appended[0].K.array()[0])
        page.table("bias_v", e.appended[0].V.array()[0])
    _add_module(page, e, weights, (with_bias, bool(bias_kv), zero))
    mask = ""
    if masking.masking(e).present:
        page.gap()
        if masking.needs_indices(e):
            masking.add_indices(page, e)
        masking.add_mask(page, e, appended=False)
        page.add("# attn_mask says the opposite: True where a query may not attend")
        mask = ", attn_mask=~allowed"
    page.gap()
    page.add(
        "with torch.no_grad():",
        f"    output, N = attention({query}, {keys}, {values}{mask}, average_attn_weights=False)",
    )
    add_printing(page, e)
    return page


def _add_module(page: Page, e: Experiment, weights: Weights, has: tuple[bool, bool, bool]) -> None:
    with_bias, bias_kv, zero = has
    arguments = [f"{e.d_model}, {e.heads}"]
    d_context, d_values = len(weights.W_K), len(weights.W_V)
    joint = d_context == d_values == e.d_model
    if not joint:
        arguments.append(f"kdim={d_context}, vdim={d_values}")
    if not with_bias:
        arguments.append("bias=False")
    arguments += ["add_bias_kv=True"] * bias_kv + ["add_zero_attn=True"] * zero
    page.gap()
    page.add(f"attention = nn.MultiheadAttention({', '.join(arguments)}, dtype=dtype)")
    page.add("with torch.no_grad():  # it keeps the transposes")
    copies = [("in_proj_weight", "torch.cat([W_Q.T, W_K.T, W_V.T])")]
    if not joint:
        copies = [(f"{letter.lower()}_proj_weight", f"W_{letter}.T") for letter in "QKV"]
    if with_bias:
        copies.append(("in_proj_bias", "torch.cat([b_Q, b_K, b_V])"))
    copies.append(("out_proj.weight", "W_O.T"))
    if with_bias:
        copies.append(("out_proj.bias", "b_O"))
    if bias_kv:
        copies += [("bias_k", "bias_k.reshape(1, 1, -1)"), ("bias_v", "bias_v.reshape(1, 1, -1)")]
    page.add(*(f"    attention.{name}.copy_({value})" for name, value in copies))
