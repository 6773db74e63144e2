"""Waiting for the worker, long enough for torch to be imported on a busy machine."""

from __future__ import annotations

from collections.abc import Callable

from pytestqt.qtbot import QtBot


def until(qtbot: QtBot, condition: Callable[[], bool]) -> None:
    """Let Qt run until ``condition`` holds."""
    qtbot.waitUntil(condition, timeout=60_000)
