"""Paths as a person types them."""

from __future__ import annotations

from pathlib import Path


def typed_path(text: str) -> Path:
    """``text`` as a path, ~ being the home of whoever it names; as it stands where nobody is called so."""
    try:
        return Path(text).expanduser()
    except (RuntimeError, ValueError):  # the second where it cannot be anybody's name
        return Path(text)
