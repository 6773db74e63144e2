"""How many there are of something, in words."""

from __future__ import annotations


def counted(count: int, one: str, more: str = "") -> str:
    """``1 head``, ``12 heads``; more: the word for several, ``one`` with an s if empty."""
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"
