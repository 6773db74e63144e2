"""What a view asks of a trace, and what it is told, about tables of one's own."""

from __future__ import annotations

from dataclasses import dataclass

from attn_gui.model.check.checked import Checked
from attn_gui.model.check.table import GivenTable


@dataclass(frozen=True)
class CheckAsk:
    """Verdicts on ``tables``."""

    tables: tuple[GivenTable, ...]


@dataclass(frozen=True, eq=False)
class CheckAnswer:
    """What is to be said of each of the tables that were asked about, in the same order."""

    ask: CheckAsk
    results: tuple[Checked, ...]
