"""Check my work: tables of one's own, and the verdicts on them."""

from attn_gui.model.check.ask import CheckAnswer, CheckAsk
from attn_gui.model.check.checked import Carried, Cause, Checked
from attn_gui.model.check.limit import too_large
from attn_gui.model.check.printed import NotANumber, PrintedNumber, read_cell
from attn_gui.model.check.table import GivenTable, Printed
from attn_gui.model.check.text import Unfitting, cells_in
from attn_gui.model.check.verdict import Verdict

__all__ = [
    "Carried",
    "Cause",
    "CheckAnswer",
    "CheckAsk",
    "Checked",
    "GivenTable",
    "NotANumber",
    "Printed",
    "PrintedNumber",
    "Unfitting",
    "Verdict",
    "cells_in",
    "read_cell",
    "too_large",
]
