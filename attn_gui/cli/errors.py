"""Failure and Misuse: what ends a command with a message."""

from __future__ import annotations


class Failure(Exception):
    """A command that cannot be carried out; the message is for the person."""


class Misuse(Failure):
    """Arguments that do not go together, or not with what they are said of."""
