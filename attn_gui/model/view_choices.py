"""View choices of a session. They may come from a file, so that each may be anything JSON can say."""

from __future__ import annotations

import math
from collections.abc import Container

from attn_gui.model.session import Session


def word(session: Session, name: str, possible: Container[str], default: str) -> str:
    """The choice ``name`` if it is one of ``possible``, ``default`` otherwise."""
    value = session.view.get(name)
    return value if isinstance(value, str) and value in possible else default


def whole(session: Session, name: str, least: int, most: int, default: int) -> int:
    """The choice ``name`` if it is a whole number from ``least`` to ``most``, ``default`` otherwise."""
    value = session.view.get(name)
    return value if type(value) is int and least <= value <= most else default


def flag(session: Session, name: str) -> bool:
    """Whether the choice ``name`` is true, and not merely something."""
    return session.view.get(name) is True


def number(session: Session, name: str, default: float) -> float:
    """The choice ``name`` if it is a finite number, ``default`` otherwise."""
    value = session.view.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    return default
