"""The bias of a score: what each of the experiment's biases adds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attn_gui.compute.deriving.chain import Chain
from attn_gui.compute.deriving.subject import Subject
from attn_gui.model.biases import Bias
from attn_gui.model.biases.additive import Additive
from attn_gui.model.biases.alibi import ALiBi, slopes
from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.derivation import Cell, Difference, Formula, Function, Operand, Parameter, Product, Sum

LINEAR = Formula("−m · |i − j|", r"-m \, |i - j|")
SUMMED = Formula("B = Σ biases", r"B = \sum \text{biases}")


def bias_of(subject: Subject, chain: Chain, i: int, j: int) -> Operand:
    """What is added to the score of query ``i`` for key ``j``; 0 for a key that is no token's."""
    e = subject.experiment
    source = Cell("bias", subject.head, i, j)
    if j >= e.n_k - len(e.appended):
        return Operand(0.0, "bias of a key that is no token’s", source)
    parts = [_part(subject, chain, place, i, j) for place in range(len(e.scoring.biases))]
    if len(parts) == 1:
        return replace(parts[0], source=parts[0].source or source)
    return replace(chain.between("Biases", SUMMED, Sum(tuple(parts)), "bias"), source=source)


def _part(subject: Subject, chain: Chain, place: int, i: int, j: int) -> Operand:
    e, head = subject.experiment, subject.head
    bias: Bias = e.scoring.biases[place]
    if isinstance(bias, ALiBi):
        slope = Operand(-float(slopes(e.heads)[head]), f"−m, minus the slope of head {head + 1}")
        apart = Difference(Operand(float(i + e.offset), "place of the query"), Operand(float(j), "place of the key"))
        return chain.between("ALiBi", LINEAR, Product((slope, Function("abs", apart))), "ALiBi bias")
    value = float(
        np.asarray(bias.values(np.array([[i]]), np.array([[j]]), replace(e.columns(), heads=head), e.heads)).ravel()[0]
    )
    if isinstance(bias, RelativeBuckets):
        bucket = int(bias.buckets(np.array([j - i - e.offset]))[0])
        return Operand(value, f"T5 bias of bucket {bucket + 1}", Parameter(f"bias {place + 1} table", bucket, head))
    if isinstance(bias, Additive):
        row = head * e.n_q + i if bias.cells.ndim == 3 else i
        return Operand(value, "additive bias", Parameter(f"bias {place + 1} cells", row, j))
    return Operand(value, f"{bias.title} bias")
