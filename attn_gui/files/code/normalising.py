"""Normalisers and QK-norms as functions of a script."""

from __future__ import annotations

from attn_gui.files.code.dialects import Dialect
from attn_gui.files.code.literals import number
from attn_gui.model.errors import ExperimentError
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.normalisers.sigmoid import Sigmoid
from attn_gui.model.qk_norm import QKNorm


def normaliser(part: Normaliser, d: Dialect) -> tuple[str, str]:
    """The name of a function of the scores, and its text, empty where the library has it; raises ExperimentError."""
    top, xp = d.reduced("max", "A"), d.xp
    counts = f"{xp}.arange(1, A.shape[-1] + 1, dtype=A.dtype)"
    match part.kind:
        case "softmax":
            text = [
                "def softmax(A):",
                f"    powers = np.exp(A - {top})",
                f"    return powers / {d.reduced('sum', 'powers')}",
            ]
            return ("softmax", "") if d.is_torch else ("softmax", "\n".join(text))
        case "softmax_one":
            text = [
                "def softmax_one(A):",
                '    """Softmax with an extra 1 in the denominator."""',
                f"    top = {top}.clip(min=0)",
                f"    powers = {xp}.exp(A - top)",
                f"    return powers / ({d.reduced('sum', 'powers')} + {xp}.exp(-top))",
            ]
        case "sparsemax":
            support = d.reduced("sum", "(1 + count * falling > sums)") + ".clip(min=1)"
            text = [
                "def sparsemax(A):",
                '    """max(A - tau, 0) with tau such that the row sums to 1 (Martins and Astudillo 2016)."""',
                f"    z = (A - {top}).clip(min=-2)  # what lies lower gets nothing",
                f"    falling = {d.falling('z')}",
                "    sums = falling.cumsum(-1)",
                f"    count = {counts}",
                f"    support = {support}",
                f"    tau = ({d.picked('sums', 'support - 1')} - 1) / {d.cast('support', 'A.dtype')}",
                "    return (z - tau).clip(min=0)",
            ]
        case "entmax15":
            text = [
                "def entmax15(A):",
                '    """max(A / 2 - tau, 0)**2 with tau such that the row sums to 1 (Peters et al. 2019)."""',
                f"    z = ((A - {top}) / 2).clip(min=-2)  # what lies lower gets nothing",
                f"    falling = {d.falling('z')}",
                f"    count = {counts}",
                "    mean = falling.cumsum(-1) / count",
                "    spread = (falling * falling).cumsum(-1) - count * mean * mean",
                f"    taus = mean - {xp}.sqrt(((1 - spread) / count).clip(min=0))",
                f"    support = {d.reduced('sum', '(taus <= falling)')}.clip(min=1)",
                f"    above = (z - {d.picked('taus', 'support - 1')}).clip(min=0)",
                "    return above * above",
            ]
        case "sigmoid" if isinstance(part, Sigmoid):
            z = f"A + {number(part.shift)}" if part.shift else "A"
            text = ["def sigmoid(A):", '    """1 / (1 + exp(-A)), each cell by itself; no exponential overflows."""']
            if d.is_torch:
                text = ["def sigmoid(A):", f"    return torch.sigmoid({z})"]
            else:
                text += [
                    f"    z = {z}",
                    "    small = np.exp(-np.abs(z))",
                    "    return np.where(z >= 0, 1 / (1 + small), small / (1 + small))",
                ]
        case _:
            raise ExperimentError("copy as code", "a normaliser that scripts are written for", part.title)
    return part.kind, "\n".join(text)


def qk_norm(part: QKNorm, d: Dialect) -> str:
    """The text of a function ``normed(rows)``; raises ExperimentError."""
    eps = number(part.eps)
    squares = d.reduced("mean", "(rows * rows)")
    match part.kind:
        case "rms":
            lines = [
                '    """RMS norm (Zhang and Sennrich 2019)."""',
                f"    return rows / {d.xp}.sqrt({squares} + {eps})",
            ]
        case "layer":
            lines = [
                '    """Layer norm (Ba et al. 2016)."""',
                f"    rows = rows - {d.reduced('mean', 'rows')}",
                f"    return rows / {d.xp}.sqrt({squares} + {eps})",
            ]
        case "l2":
            length = f"{d.xp}.sqrt({d.reduced('sum', '(rows * rows)')})"
            lines = ['    """Length 1 (Henry et al. 2020)."""', f"    return rows / {length}.clip(min={eps})"]
        case _:
            raise ExperimentError("copy as code", "a QK-norm that scripts are written for", part.title)
    return "\n".join(["def normed(rows):", *lines])
