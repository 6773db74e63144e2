"""What a view says in place of numbers while there are none."""

from __future__ import annotations

from attn_gui.control.feed import Feed

STARTING = "starting torch"
FAILED = "nothing computed yet"


def nothing_yet(feed: Feed) -> str:
    """For a ``feed`` without a trace: torch is being started, or what was tried first failed."""
    return FAILED if feed.failing else STARTING
