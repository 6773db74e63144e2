"""Cells of the mean over the heads."""

from __future__ import annotations

import numpy as np

from attn_gui.compute.deriving.chain import Chain
from attn_gui.compute.deriving.scoring import mask_step
from attn_gui.compute.deriving.subject import Subject
from attn_gui.compute.deriving.terms import sum_of
from attn_gui.model.derivation import Cell, Formula, Operand, Quotient

MEAN = Formula("mean over heads", r"\frac{1}{h} \sum_h x_h")


def derive_mean(subject: Subject, chain: Chain, cell: Cell) -> None:
    """The numbers of every head, and their mean."""
    i, j = cell.row, cell.column
    if cell.stage == "A_masked" and not subject.allowed(i, "mean")[j]:
        mask_step(subject, chain, cell)
        return
    stage = "A" if cell.stage == "A_masked" else cell.stage
    heads = [Cell(stage, head, i, j) for head in range(subject.experiment.heads)]
    values = np.array([subject.value(each) for each in heads])

    def operand(head: int) -> Operand:
        return Operand(float(values[head]), f"head {head + 1}", heads[head])

    count = Operand(float(len(heads)), "number of heads")
    chain.stage("Mean over heads", MEAN, Quotient(sum_of(values, operand), count), cell, subject.value(cell))
